package picture

import (
	"context"
	"fmt"
	"image"
	"log/slog"
	"time"

	"lodestone/crud/file"
	"lodestone/crud/sandbox"
)

// Thumbnailer reads uploaded pictures (PNG, JPEG, WebP, and the first image of a GIF), and makes
// those that are served. It is safe for concurrent use: one picture is read at a time, and one is
// made; the others wait, so that memory is bounded.
type Thumbnailer struct {
	turns   *sandbox.Turns
	timeout time.Duration // of reading one picture
	intake  *file.Intake
	slots   chan struct{}
	log     *slog.Logger
	decode  func(ctx context.Context, content []byte, box Box) (picture *image.NRGBA, invalid string)
}

// NewThumbnailer returns a thumbnailer that receives pictures within an intake.
func NewThumbnailer(intake *file.Intake, log *slog.Logger) *Thumbnailer {
	return &Thumbnailer{turns: sandbox.NewTurns(maxReaders), timeout: readTimeout, intake: intake,
		slots: make(chan struct{}, maxReaders), log: log, decode: decode}
}

// Thumbnails returns the thumbnails of a page or an uploaded picture, and the preview with it. What
// is transparent becomes white.
func (t *Thumbnailer) Thumbnails(ctx context.Context, original image.Image) (Set, error) {
	return t.make(ctx, original, makeThumbnails)
}

// Document returns the pictures of a document: Thumbnails of its first page, and those of inside
// pages, which are given so small that no text can be read.
func (t *Thumbnailer) Document(ctx context.Context, first image.Image, inside []*image.RGBA) (Set, error) {
	return t.make(ctx, first, func(first image.Image) (Set, error) {
		set, err := makeThumbnails(first)
		if err != nil {
			return nil, err
		}
		pages, err := makeInside(inside)
		return append(set, pages...), err
	})
}

// Page returns the encoded picture of a page, as it is.
func (t *Thumbnailer) Page(ctx context.Context, original *image.RGBA) (contentType string, content []byte, err error) {
	set, err := t.make(ctx, original, func(image.Image) (Set, error) {
		one, err := encode(page, original)
		return Set{one}, err
	})
	if err != nil {
		return "", nil, err
	}
	return set[0].contentType, set[0].bytes, nil
}

// Logo returns the logo of an uploaded picture. Transparent pixels stay transparent.
func (t *Thumbnailer) Logo(ctx context.Context, original image.Image) (Set, error) {
	return t.make(ctx, original, makeLogo)
}

func (t *Thumbnailer) make(ctx context.Context, original image.Image, fn func(image.Image) (Set, error)) (Set, error) {
	select {
	case t.slots <- struct{}{}:
		defer func() { <-t.slots }()
	case <-ctx.Done():
		return nil, fmt.Errorf("wait to make pictures: %w", ctx.Err())
	}
	return fn(original)
}
