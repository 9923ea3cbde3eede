// Package picture makes, keeps and serves the pictures that visitors see: the first page of a
// document, what an owner uploads in its place, a preview of it for where a link is shared, and the
// account's logo.
//
// No uploaded file is ever served: what is stored is encoded again from the pixels of the picture.
// Each picture has a random name and never changes.
package picture

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// Widths of a thumbnail in pixels, as far as its original has them, and the size of a preview.
const (
	SmallWidth    = 480
	LargeWidth    = 960
	PreviewWidth  = 1200
	PreviewHeight = 630
)

// Kinds of pictures, as they are stored.
const (
	small   = "small"
	large   = "large"
	preview = "preview"
	logo    = "logo"
	page    = "page" // kept elsewhere, for owners
)

// insides are the kinds of pictures of inside pages, in their order.
var insides = []string{"inside1", "inside2", "inside3"}

// Content types of what is stored.
const (
	typeJPEG = "image/jpeg"
	typePNG  = "image/png"
)

// Picture is one that a page can show.
type Picture struct {
	// URL is the whole address. Path is the same on the site itself, and empty for a picture that
	// the owner keeps elsewhere.
	URL, Path string
	// Width and Height are in pixels, and 0 for a picture that is kept elsewhere.
	Width, Height int
	// ContentType is empty for a picture that is kept elsewhere.
	ContentType string
}

// Thumbnail is a picture in two sizes.
type Thumbnail struct {
	Picture         // the larger one, at most LargeWidth wide
	Small   Picture // at most SmallWidth wide; the same as the larger one if there is only one
	// Uploaded says that the owner chose it: it need not show the first page.
	Uploaded bool
}

// SrcSet returns both sizes for the attribute srcset of an image, or "" if there is only one.
func (t Thumbnail) SrcSet() string {
	if t.Path == "" || t.Small.Width == t.Width {
		return ""
	}
	return fmt.Sprintf("%s %dw, %s %dw", t.Small.Path, t.Small.Width, t.Path, t.Width)
}

// Alt returns what the thumbnail of a document with this title shows, in words.
func (t Thumbnail) Alt(title string) string {
	if t.Uploaded {
		return "Cover of " + title
	}
	return "First page of " + title
}

// Page is the pictures of one page. Each is nil if there is none.
type Page struct {
	Thumbnail *Thumbnail
	Preview   *Picture  // PreviewWidth by PreviewHeight, unless it is kept elsewhere
	Inside    []Picture // other pages, blurred
	Logo      *Picture  // as high as wide at most; with a clear background if it was uploaded so
}

// ForLink returns the pictures of the landing page of a link. site is the public URL without a
// slash at the end. external is the link's own thumbnail_url, if it has one: it stands for the
// thumbnail and the preview. The transaction may be scoped to the link's account or not. A link
// that is not there has no pictures.
func ForLink(ctx context.Context, db store.DBTX, site string, link uuid.UUID, external *string) (Page, error) {
	rows, err := store.New(db).PicturesOfLink(ctx, link)
	if err != nil {
		return Page{}, fmt.Errorf("read pictures of link: %w", err)
	}
	found := make(map[string]Picture, len(rows))
	uploaded := false
	for _, row := range rows {
		uploaded = uploaded || row.GenericLinkID != nil
	}
	for _, row := range rows {
		if !uploaded || row.GenericLinkID != nil || row.Kind == logo || slices.Contains(insides, row.Kind) {
			found[row.Kind] = of(site, row.ID, row.ContentType, row.Width, row.Height)
		}
	}
	page := arrange(found, uploaded)
	if external != nil {
		elsewhere := Picture{URL: *external}
		page.Thumbnail = &Thumbnail{Picture: elsewhere, Small: elsewhere, Uploaded: true}
		page.Preview = &elsewhere
	}
	return page, nil
}

// ForMagnet returns the pictures of a document, and the logo of its account, as ForLink does.
func ForMagnet(ctx context.Context, tx pgx.Tx, site string, magnet uuid.UUID) (Page, error) {
	rows, err := store.New(tx).PicturesOfMagnet(ctx, magnet)
	if err != nil {
		return Page{}, fmt.Errorf("read pictures of lead magnet: %w", err)
	}
	found := make(map[string]Picture, len(rows))
	for _, row := range rows {
		found[row.Kind] = of(site, row.ID, row.ContentType, row.Width, row.Height)
	}
	return arrange(found, false), nil
}

func arrange(found map[string]Picture, uploaded bool) Page {
	var page Page
	if p, ok := found[large]; ok {
		page.Thumbnail = &Thumbnail{Picture: p, Small: p, Uploaded: uploaded}
		if s, ok := found[small]; ok {
			page.Thumbnail.Small = s
		}
	}
	if p, ok := found[preview]; ok {
		page.Preview = &p
	}
	for _, kind := range insides {
		if p, ok := found[kind]; ok {
			page.Inside = append(page.Inside, p)
		}
	}
	if p, ok := found[logo]; ok {
		page.Logo = &p
	}
	return page
}

func of(site, id, contentType string, width, height int32) Picture {
	path := pathOf(id, contentType)
	return Picture{URL: site + path, Path: path, Width: int(width), Height: int(height), ContentType: contentType}
}

const pathPrefix = "/p/"

func pathOf(id, contentType string) string {
	if contentType == typePNG {
		return pathPrefix + id + ".png"
	}
	return pathPrefix + id + ".jpg"
}

// newID returns the name of a picture: 128 random bits in hexadecimal.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // documented never to fail
	return hex.EncodeToString(id[:])
}
