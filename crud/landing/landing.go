// Package landing is the public pages of generic links: the offer with its form, and the pages on
// which an address is verified. They work without scripts, set no cookies, and load nothing from
// elsewhere but a thumbnail that the owner keeps elsewhere.
package landing

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/capture"
	"lodestone/crud/link"
	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

//go:embed web
var webFiles embed.FS

// Deps is what the pages work with. Now may be nil, and Collector empty: then views are not
// counted. All else is required.
type Deps struct {
	Postgres  *postgres.Pool
	Pages     *web.Site
	Capture   *capture.Capture
	Tokens    *token.Ring
	Addresses *clientaddr.Finder
	Bots      *bot.Rules
	Site      string           // public URL without a slash at the end
	Collector string           // URL of the collector as browsers reach it, without a slash at the end
	Now       func() time.Time // the clock; nil: time.Now
}

// Landing serves the pages. It is safe for concurrent use.
type Landing struct {
	deps                 Deps
	offer, sent, confirm *web.Template
	reaches              reaches
}

// New returns the landing pages of an installation.
func New(d Deps) (*Landing, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read landing pages: %w", err)
	}
	l := &Landing{deps: d}
	for name, t := range map[string]**web.Template{"offer": &l.offer, "sent": &l.sent, "confirm": &l.confirm} {
		css := name + ".css"
		if name != "offer" {
			css = "sent.css"
		}
		if *t, err = d.Pages.Parse(files, name+".html", css); err != nil {
			return nil, fmt.Errorf("parse landing pages: %w", err)
		}
	}
	return l, nil
}

// redirectTrailingSlash redirects from an address with a slash at its end to the page.
func (l *Landing) redirectTrailingSlash(w http.ResponseWriter, r *http.Request) error {
	slug := r.PathValue("slug")
	if !link.SlugForm.MatchString(slug) {
		return web.Error(web.NotFound, web.Brand{})
	}
	http.Redirect(w, r, l.deps.Pages.Path(web.LandingPath(slug))+query(r), http.StatusMovedPermanently) //nolint:gosec // to a path of ours: the slug has been checked
	return nil
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

var secretForm = regexp.MustCompile(`^[a-z2-7]{26,32}$`)

// offered is a link with all that its page shows.
type offered struct {
	store.LandingPageRow
	path     string // of the page
	pictures picture.Page
	reach    reach // zero unless the page shows it
	preview  bool  // the owner looks at it: nothing counts
}

func (o offered) link() store.GenericLink { return o.GenericLink }

// Title returns the headline of the page.
func (o offered) Title() string {
	if o.GenericLink.Title != nil {
		return *o.GenericLink.Title
	}
	return o.MagnetTitle
}

// Description returns the text of the page.
func (o offered) Description() string {
	if o.GenericLink.Description != nil {
		return *o.GenericLink.Description
	}
	if o.MagnetDescription != nil {
		return *o.MagnetDescription
	}
	return ""
}

func (o offered) brand() web.Brand {
	b := web.Brand{Name: o.AccountName, Font: o.BrandFont == "inter", Language: o.PageLanguage}
	if o.BrandColor != nil {
		b.Accent = *o.BrandColor
	}
	if p := o.pictures.Logo; p != nil && p.Height > 0 {
		b.Logo, b.LogoWidth = p.Path, p.Width*web.LogoHeight/p.Height
	}
	return b
}

// find returns the link at a slug. A slug without one is a status page: an unknown one, or one that
// was there once.
func (l *Landing) find(ctx context.Context, slug string) (o offered, err error) {
	if len(slug) > link.MaxSlug || !link.SlugForm.MatchString(slug) {
		return o, web.Error(web.NotFound, web.Brand{})
	}
	err = l.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		o = offered{}
		if o.LandingPageRow, err = q.LandingPage(ctx, slug); errors.Is(err, pgx.ErrNoRows) {
			retired, err := q.IsRetiredSlug(ctx, slug)
			if err != nil {
				return fmt.Errorf("look for retired slug: %w", err)
			}
			if retired {
				return web.Error(web.Gone, web.Brand{})
			}
			return web.Error(web.NotFound, web.Brand{})
		}
		if err != nil {
			return err
		}
		o.path = l.deps.Pages.Path(web.LandingPath(slug))
		if o.pictures, err = picture.ForLink(ctx, tx, l.deps.Site, o.GenericLink.ID, o.GenericLink.ThumbnailURL); err != nil || !o.GenericLink.ShowReaders {
			return err
		}
		o.reach, err = l.reaches.of(ctx, q, o.GenericLink, l.deps.Now())
		return err
	})
	if err != nil {
		return o, fmt.Errorf("find landing page: %w", err)
	}
	return o, nil
}

// open returns the link of a request if its page is open, or the owner looks at it.
func (l *Landing) open(r *http.Request) (offered, error) {
	o, err := l.find(r.Context(), r.PathValue("slug"))
	if err != nil {
		return o, err
	}
	o.preview = l.isPreview(r.URL.Query().Get("preview"), o.GenericLink.ID)
	switch {
	case o.preview:
	case !o.GenericLink.Active || !o.MagnetActive:
		return o, web.Error(web.Inactive, o.brand())
	case link.Ended(o.GenericLink, l.deps.Now()):
		return o, web.Error(web.OfferOver, o.brand())
	case o.FileVersion == 0:
		return o, web.Error(web.NotReady, o.brand())
	}
	return o, nil
}

// redirectLowercase redirects from a slug with capitals, with which phones begin words, to the
// page.
func (l *Landing) redirectLowercase(w http.ResponseWriter, r *http.Request) bool {
	slug := r.PathValue("slug")
	small := strings.ToLower(slug)
	if small == slug || !link.SlugForm.MatchString(small) {
		return false
	}
	http.Redirect(w, r, l.deps.Pages.Path(web.LandingPath(small))+query(r), http.StatusMovedPermanently) //nolint:gosec // to a path of ours: the slug has been checked
	return true
}

// isPreview reports whether a parameter is a grant to preview a link.
func (l *Landing) isPreview(given string, link uuid.UUID) bool {
	_, err := l.deps.Tokens.OpenGrant(previewPurpose, link[:], given, l.deps.Now())
	return err == nil
}

// isProgram reports whether a request is that of a program that says so. Programs that look at
// mails press buttons as well, and cannot confirm an address for a person.
func (l *Landing) isProgram(r *http.Request) bool {
	return l.deps.Bots.Classify(bot.RequestOf(r)) != ""
}
