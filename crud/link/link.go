// Package link is the generic links of an account: the public landing pages of its lead magnets,
// the campaign parameters that their addresses carry, and the templates of those that an account
// saves.
package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/magnet"
	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/password"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// GenericLink is a generic link as the API shows it.
type GenericLink struct {
	ID                  uuid.UUID          `json:"id" format:"uuid" doc:"Unique identifier."`
	LeadMagnetID        uuid.UUID          `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet that the page offers."`
	Slug                string             `json:"slug" doc:"Last part of the URL."`
	URL                 string             `json:"url" doc:"Full public URL."`
	Name                *string            `json:"name" doc:"What you call the link. Its page does not show it."`
	Title               *string            `json:"title" doc:"Headline of the page."`
	HeadlineB           *string            `json:"headline_b" doc:"A second headline, which half of the visitors see."`
	Description         *string            `json:"description" doc:"Description on the page."`
	ThumbnailURL        *string            `json:"thumbnail_url" doc:"URL of the picture that the page shows: the one that was set, otherwise the document's first page; null if there is neither."`
	CollectName         bool               `json:"collect_name" doc:"Whether the form asks for a name."`
	RequireVerification bool               `json:"require_verification" doc:"Whether the email address must be verified."`
	ButtonText          *string            `json:"button_text" doc:"Label of the form's button; null for the default, which describes the action."`
	ConsentText         *string            `json:"consent_text" doc:"Text that a visitor must agree to."`
	PrivacyURL          *string            `json:"privacy_url" doc:"URL of the privacy notice."`
	RedirectURL         *string            `json:"redirect_url" doc:"URL that the form leads to; null: to the document."`
	Language            *locale.Language   `json:"language" doc:"Language of the page and of its mails; null for the account's language, or the visitor's if the account has none."`
	ShowContents        bool               `json:"show_contents" doc:"Whether the page shows the document's table of contents."`
	ShowPages           bool               `json:"show_pages" doc:"Whether the page shows blurred pictures of inside pages."`
	ShowReaders         bool               `json:"show_readers" doc:"Whether the page shows how many people have read the document, once there are ten."`
	Fields              field.List         `json:"fields" nullable:"false" doc:"Fields of the form beside the address and the name, in their order."`
	AllowedOrigins      []string           `json:"allowed_origins" nullable:"false" doc:"Origins of your own pages that may show the form."`
	Gate                gate.LinkGate      `json:"gate" doc:"Who may read through the page."`
	ReadingNotices      *notices           `json:"reading_notices" doc:"When the owner gets mails about readers who came through the page: for each visit that matters, once a day, or never; null for the account's setting."`
	ExpiresAt           *api.Time          `json:"expires_at" doc:"When the page closes; null for never."`
	AccessDays          *int32             `json:"access_expires_after_days" doc:"Days for which personal links created by the form work; null for no end."`
	SubmissionCount     int64              `json:"submission_count" doc:"Submissions so far."`
	ViewCount           int64              `json:"view_count" doc:"Views of the page by people so far. Each visitor counts at most once a minute."`
	Active              bool               `json:"active" doc:"Whether the page is open."`
	Archived            bool               `json:"archived" doc:"Whether lists leave the link out. An archived link is not active."`
	LeadMagnet          *magnet.LeadMagnet `json:"lead_magnet,omitzero" doc:"The lead magnet; only in the answer for a single link."`
	CreatedAt           api.Time           `json:"created_at" doc:"When it was created."`
	UpdatedAt           api.Time           `json:"updated_at" doc:"When it was last changed."`
}

// notices is when the owner is notified of readers.
type notices string

// EnumValues implements jsonschema.Enum.
func (notices) EnumValues() []string { return []string{"each", "daily", "none"} }

// Deps are the dependencies of generic links. Collector may be empty; all others are required.
type Deps struct {
	Postgres    *postgres.Pool
	Site        string      // public URL of the landing pages, without a slash at the end
	Collector   string      // public URL of the collector, without a slash at the end; "": not known
	Tokens      *token.Ring // signs tracking tokens
	Thumbnailer *picture.Thumbnailer
}

// Links serves the generic links.
type Links struct {
	plans     plan.Plans
	deps      Deps
	passwords *password.Hasher
}

// New returns the generic links of a database.
func New(plans plan.Plans, d Deps) *Links { return &Links{plans, d, password.New()} }

const (
	path = "/api/v1/generic-links"
	tag  = "Generic links"
)

// Register adds the operations on generic links.
func (l *Links) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-generic-link", Method: "POST", Path: path, Scope: auth.Write, Tag: tag, Status: 201, Tagged: true,
		Summary:     "Create a generic link",
		Description: "The link is active immediately. The lead magnet must be active.",
		Errors:      []problem.Code{problem.InvalidLeadMagnet, problem.SlugTaken, problem.LimitReached, problem.Conflict},
		NotHere:     map[string]string{"active": "cannot be set here: a new link is active, and PATCH changes that"},
	}, l.create)
	api.Register(a, api.Operation{
		ID: "list-generic-links", Method: "GET", Path: path, Scope: auth.Read, Tag: tag,
		Summary: "List generic links", Description: "Archived links are left out, unless status asks for them.",
		PerPage: api.PageSize{Default: 20, Max: 100},
	}, l.list)
	api.Register(a, api.Operation{
		ID: "get-generic-link", Method: "GET", Path: path + "/{id}", Scope: auth.Read, Tag: tag, Tagged: true,
		Summary: "Get a generic link with its lead magnet",
	}, l.get)
	api.Register(a, api.Operation{
		ID: "update-generic-link", Method: "PATCH", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Tagged: true,
		Summary:     "Change a generic link",
		Description: "Omitted fields keep their values; null clears texts and URLs.",
		Errors:      []problem.Code{problem.SlugTaken},
		NotHere:     map[string]string{"lead_magnet_id": "cannot be changed: it is set when the link is created"},
	}, l.update)
	api.Register(a, api.Operation{
		ID: "delete-generic-link", Method: "DELETE", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Timeout: deleteTimeout,
		Summary: "Delete a generic link and its submissions", Description: "Access links created through it stay.",
	}, l.delete)
	l.registerDuplicate(a)
	l.registerHeadlines(a)
	l.registerThumbnail(a)
	l.registerTracking(a)
	l.registerCode(a)
}

type idInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
}

// Get reads a generic link in a transaction of its account. One that is not there is the error
// NotFound of package problem.
func Get(ctx context.Context, tx pgx.Tx, id uuid.UUID) (store.GenericLink, error) {
	row, err := store.New(tx).GetLink(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("generic link")
	}
	if err != nil {
		return row, fmt.Errorf("read generic link: %w", err)
	}
	return row, nil
}

func (l *Links) get(ctx context.Context, in *idInput) (*api.Answer[GenericLink], error) {
	var found GenericLink
	var revision int64
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := Get(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		if found, err = l.show(ctx, tx, row); err != nil {
			return err
		}
		revision = row.Revision
		found, err = found.whole(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get generic link: %w", err)
	}
	return api.OK(found).At(revision), nil
}

// whole returns the link as it is read by its id: with its lead magnet.
func (g GenericLink) whole(ctx context.Context, tx pgx.Tx) (GenericLink, error) {
	offered, err := magnet.Get(ctx, tx, g.LeadMagnetID)
	if err != nil {
		return g, err
	}
	g.LeadMagnet = &offered
	return g, nil
}

// show returns a link as the API shows it.
func (l *Links) show(ctx context.Context, tx pgx.Tx, row store.GenericLink) (GenericLink, error) {
	shown, err := l.showAll(ctx, tx, []store.GenericLink{row})
	if err != nil {
		return GenericLink{}, err
	}
	return shown[0], nil
}

// showAll returns links as the API shows them. A link without a thumbnail of its own shows the
// first page of its document, as its page does.
func (l *Links) showAll(ctx context.Context, tx pgx.Tx, rows []store.GenericLink) ([]GenericLink, error) {
	var magnets []uuid.UUID
	for _, row := range rows {
		if l.thumbnailURL(row) == nil {
			magnets = append(magnets, row.LeadMagnetID)
		}
	}
	covers, err := picture.Covers(ctx, tx, l.deps.Site, magnets)
	if err != nil {
		return nil, err
	}
	views, err := store.New(tx).GenericLinkCounts(ctx, rows...)
	if err != nil {
		return nil, err
	}
	shown := make([]GenericLink, len(rows))
	for i, row := range rows {
		if shown[i], err = l.fromRow(row, views[row.ID], auth.From(ctx)); err != nil {
			return nil, err
		}
		if cover, ok := covers[row.LeadMagnetID]; ok && shown[i].ThumbnailURL == nil {
			shown[i].ThumbnailURL = &cover
		}
	}
	return shown, nil
}

func (l *Links) fromRow(row store.GenericLink, views int64, caller auth.Identity) (GenericLink, error) {
	fields, err := field.Decode(row.Fields)
	return GenericLink{
		ID: row.ID, LeadMagnetID: row.LeadMagnetID, Slug: row.Slug, URL: l.deps.Site + web.LandingPath(row.Slug),
		Name: row.Name, Title: row.Title, HeadlineB: row.HeadlineB, Description: row.Description,
		ThumbnailURL: l.thumbnailURL(row),
		CollectName:  row.CollectName, RequireVerification: row.RequireVerification,
		ButtonText: row.ButtonText, ConsentText: row.ConsentText, PrivacyURL: row.PrivacyURL, RedirectURL: row.RedirectURL,
		Language: (*locale.Language)(row.Language), ShowContents: row.ShowContents, ShowPages: row.ShowPages,
		ShowReaders:     row.ShowReaders,
		Fields:          fields,
		AllowedOrigins:  row.AllowedOrigins,
		Gate:            gate.Of(row, caller),
		ReadingNotices:  (*notices)(row.ReadingNotices),
		ExpiresAt:       api.OptionalTime(row.ExpiresAt),
		AccessDays:      row.AccessDays,
		SubmissionCount: row.SubmissionCount, ViewCount: views, Active: row.Active, Archived: row.Archived,
		CreatedAt: api.TimeOf(row.CreatedAt), UpdatedAt: api.TimeOf(row.UpdatedAt),
	}, err
}

// Ended reports whether the page of a link has closed at a time, since the link has expired.
func Ended(row store.GenericLink, now time.Time) bool {
	return row.ExpiresAt != nil && !now.Before(*row.ExpiresAt)
}
