package landing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/capture"
	"lodestone/crud/field"
	"lodestone/crud/link"
	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/store"
)

// offer is a link and its document, as visitors see them. withPictures and withReach add what only
// pages show.
type offer struct {
	store.LandingPageRow
	path     string // of the page
	fields   field.List
	pictures picture.Page
	reach    reach // zero unless the page shows it
	preview  bool  // the owner looks at it: nothing counts
	second   bool  // the visitor sees the second headline, if there is one
}

// Title returns the headline of the page.
func (o offer) Title() string {
	if o.second && o.GenericLink.HeadlineB != nil {
		return *o.GenericLink.HeadlineB
	}
	if o.GenericLink.Title != nil {
		return *o.GenericLink.Title
	}
	return o.MagnetTitle
}

// Description returns the text of the page.
func (o offer) Description() string {
	if o.GenericLink.Description != nil {
		return *o.GenericLink.Description
	}
	if o.MagnetDescription != nil {
		return *o.MagnetDescription
	}
	return ""
}

func (o offer) brand() web.Brand {
	b := web.Brand{Name: o.AccountName, Font: o.BrandFont == "inter", Language: o.PageLanguage}
	if o.BrandColor != nil {
		b.Accent = *o.BrandColor
	}
	if p := o.pictures.Logo; p != nil && p.Height > 0 {
		b.Logo, b.LogoWidth = p.Path, p.Width*web.LogoHeight/p.Height
	}
	return b
}

// redirectURL returns the owner's page after the form, or "".
func (o offer) redirectURL() string { return capture.Redirect(o.GenericLink) }

// link returns the link at a slug, without what only its page shows. A slug without one is a status
// page: an unknown one, or one that was there once.
func (l *Landing) link(ctx context.Context, slug string) (o offer, err error) {
	if len(slug) > link.MaxSlug || !link.SlugForm.MatchString(slug) {
		return o, web.Error(web.NotFound, web.Brand{})
	}
	q := store.New(l.deps.Postgres.Unscoped())
	o.LandingPageRow, err = q.LandingPage(ctx, slug)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		retired, err := q.IsRetiredSlug(ctx, slug)
		if err != nil {
			return o, fmt.Errorf("look for retired slug: %w", err)
		}
		if retired {
			return o, web.Error(web.Gone, web.Brand{})
		}
		return o, web.Error(web.NotFound, web.Brand{})
	case err != nil:
		return o, fmt.Errorf("find landing page: %w", err)
	}
	o.path = l.deps.Pages.Path(web.LandingPath(slug))
	o.fields, err = field.Decode(o.GenericLink.Fields)
	return o, err
}

// withPictures adds the pictures, which every page shows: a form that leads on needs none.
func (l *Landing) withPictures(ctx context.Context, o offer) (offer, error) {
	g := o.GenericLink
	var err error
	if o.pictures, err = picture.ForLink(ctx, l.deps.Postgres.Unscoped(), l.deps.Site, g.ID, g.ThumbnailURL); err != nil {
		return o, fmt.Errorf("read landing page: %w", err)
	}
	return o, nil
}

// withReach adds how far readers came, if the page of the offer shows it.
func (l *Landing) withReach(ctx context.Context, o offer) (offer, error) {
	if !o.GenericLink.ShowReaders {
		return o, nil
	}
	var err error
	o.reach, err = l.reaches.of(ctx, store.New(l.deps.Postgres.Unscoped()), o.GenericLink, l.deps.Now())
	if err != nil {
		return o, fmt.Errorf("read landing page: %w", err)
	}
	return o, nil
}

// open returns the link of a request if its page is open, or the owner looks at it.
func (l *Landing) open(r *http.Request) (offer, error) {
	o, err := l.link(r.Context(), r.PathValue("slug"))
	if err != nil {
		return o, err
	}
	o.preview = l.isPreview(r.URL.Query().Get("preview"), o.GenericLink.ID)
	switch {
	case o.preview:
		return o.tried(r.URL.Query()), nil
	case !o.GenericLink.Active || !o.MagnetActive:
		return o, web.Error(web.Inactive, web.Brand{})
	case link.Ended(o.GenericLink, l.deps.Now()):
		return o, web.Error(web.OfferOver, web.Brand{})
	case r.Method != http.MethodPost && capture.Full(o.GenericLink): // a form decides once it is sent
		return o, web.Error(web.Full, web.Brand{})
	case o.FileVersion == 0:
		return o, web.Error(web.NotReady, web.Brand{})
	}
	return o, nil
}

// isPreview reports whether a parameter is a grant to preview a link.
func (l *Landing) isPreview(given string, link uuid.UUID) bool {
	_, err := l.deps.Tokens.OpenGrant(previewPurpose, link[:], given, l.deps.Now())
	return err == nil
}

var secretForm = regexp.MustCompile(`^[a-z2-7]{26,32}$`)

func (l *Landing) byPage(r *http.Request) (capture.Verification, offer, error) {
	return l.bySecret(r.Context(), r.PathValue("page"), l.deps.Capture.ByPage)
}

func (l *Landing) byLink(r *http.Request) (capture.Verification, offer, error) {
	return l.bySecret(r.Context(), r.PathValue("link"), l.deps.Capture.ByLink)
}

// bySecret returns the verification that a look-up finds for a secret, and the offer that it is
// for.
func (l *Landing) bySecret(ctx context.Context, secret string,
	find func(context.Context, string) (capture.Verification, error)) (v capture.Verification, o offer, err error) {
	if !secretForm.MatchString(secret) {
		return v, o, web.Error(web.NotFound, web.Brand{})
	}
	v, err = find(ctx, secret)
	if errors.Is(err, capture.ErrUnknown) {
		return v, o, web.Error(web.NotFound, web.Brand{}).Because(err)
	}
	if err != nil {
		return v, o, fmt.Errorf("find verification: %w", err)
	}
	o, err = l.link(ctx, v.Slug)
	return v, o, err
}
