// Package accesslink is the access links of an account: one recipient's personal links to its lead
// magnets.
package accesslink

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// AccessLink is an access link as the API shows it.
type AccessLink struct {
	ID            uuid.UUID  `json:"id" format:"uuid" doc:"Unique identifier."`
	LeadMagnetID  uuid.UUID  `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet that the link opens."`
	GenericLinkID *uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Generic link through which it was created."`
	SubmissionID  *uuid.UUID `json:"submission_id" format:"uuid" doc:"Submission that it was created for."`
	Email         *string    `json:"email" doc:"Email address of the recipient; null for a key without the scope leads."`
	Source        Source     `json:"source" enum:"api,mail,form" doc:"How the URL was delivered: by the API (api), only in a mail to the address (mail), or in the browser that submitted a form without verification (form)."`
	URL           *string    `json:"url" doc:"Full URL. Anyone with it can open the document. Null for a key without the scope leads, or if its encryption key is lost."`
	TrackingToken *string    `json:"tracking_token" doc:"Token with which events of this link are sent to the collector; null for a key without the scope write."`
	MaxViews      *int32     `json:"max_views" doc:"How many times it can be opened; null for no limit."`
	ViewCount     int64      `json:"view_count" doc:"Views so far."`
	ExpiresAt     *api.Time  `json:"expires_at" doc:"When it expires; null for never."`
	IsActive      bool       `json:"is_active" doc:"Whether it can be opened."`
	FirstViewedAt *api.Time  `json:"first_viewed_at" doc:"When it was first viewed."`
	LastViewedAt  *api.Time  `json:"last_viewed_at" doc:"When it was last viewed."`
	CreatedAt     api.Time   `json:"created_at" doc:"When it was created."`
	UpdatedAt     api.Time   `json:"updated_at" doc:"When it was last changed."`
}

// Source is how the URL of an access link was handed out.
type Source string

// Deps are the dependencies of access links. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Site     string      // public URL of the viewer, without a slash at the end
	Tokens   *token.Ring // signs tracking tokens and seals those of URLs
	Log      *slog.Logger
}

// Links serves the access links.
type Links struct {
	plans plan.Plans
	deps  Deps
}

// New returns the access links of a database.
func New(plans plan.Plans, d Deps) *Links { return &Links{plans, d} }

const (
	path = "/api/v1/access-links"
	tag  = "Access links"
)

// Register adds the operations on access links.
func (l *Links) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-access-link", Method: "POST", Path: path, Scope: auth.Write, Tag: tag, Status: 201, Tagged: true,
		Summary:     "Create an access link",
		Description: "The link is active immediately. The lead magnet must be active.",
		Errors:      []problem.Code{problem.InvalidLeadMagnet, problem.Conflict, problem.LimitReached},
		NotHere:     map[string]string{"is_active": "cannot be set here: a new link is active, and PATCH changes that"},
	}, l.create)
	api.Register(a, api.Operation{
		ID: "list-access-links", Method: "GET", Path: path, Scope: auth.Leads, Tag: tag,
		Summary: "List access links, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, l.list)
	api.Register(a, api.Operation{
		ID: "get-access-link", Method: "GET", Path: path + "/{id}", Scope: auth.Leads, Tag: tag, Tagged: true,
		Summary: "Get an access link",
	}, l.get)
	api.Register(a, api.Operation{
		ID: "update-access-link", Method: "PATCH", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Tagged: true,
		Summary:     "Change an access link",
		Description: "Omitted fields keep their values; null clears max_views and expires_at.",
		NotHere: map[string]string{
			"lead_magnet_id": "cannot be changed: it is set when the link is created",
			"email":          "cannot be changed: it is set when the link is created",
		},
	}, l.update)
	api.Register(a, api.Operation{
		ID: "delete-access-link", Method: "DELETE", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Summary:     "Delete an access link",
		Description: "The link no longer counts in the summary of its address. Recorded events stay.",
	}, l.delete)
	api.Register(a, api.Operation{
		ID: "create-access-links", Method: "POST", Path: bulkPath, Scope: auth.Write, Tag: tag, Status: 201,
		Summary:     "Create access links for many addresses",
		Description: "Creates one link for each address, in the same order. If one link cannot be created, none is.",
		Errors:      []problem.Code{problem.Conflict, problem.LimitReached},
	}, l.createMany)
	l.registerCode(a)
}

type idInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the access link."`
}

func (l *Links) get(ctx context.Context, in *idInput) (*api.Answer[AccessLink], error) {
	var row store.GetAccessLinkRow
	var counts store.Counts
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, counts, err = read(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get access link: %w", err)
	}
	return api.OK(l.fromRow(row, counts).visibleTo(auth.From(ctx))).At(row.AccessLink.Revision), nil
}

type listInput struct {
	api.Paging
	LeadMagnetID *uuid.UUID `query:"lead_magnet_id" doc:"Only links to this lead magnet."`
	Email        *string    `query:"email" format:"email" maxLength:"254" doc:"Only links of this email address, case-insensitive."`
	SubmissionID *uuid.UUID `query:"submission_id" doc:"Only links created for this submission."`
	IsActive     *bool      `query:"is_active" doc:"true: only active links; false: only inactive links."`
}

func (l *Links) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[AccessLink]], error) {
	count := store.CountListedAccessLinksParams{LeadMagnetID: in.LeadMagnetID,
		SubmissionID: in.SubmissionID, IsActive: in.IsActive}
	if in.Email != nil {
		address, err := email.Parse(*in.Email)
		if err != nil {
			return nil, problem.Parameter(problem.Field{Field: "email", Message: err.Error()})
		}
		count.EmailKey = &address.Key
	}
	var total int64
	var links []AccessLink
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountListedAccessLinks(ctx, count); err != nil {
			return err
		}
		rows, err := q.ListAccessLinks(ctx, store.ListAccessLinksParams{
			LeadMagnetID: count.LeadMagnetID, SubmissionID: count.SubmissionID,
			EmailKey: count.EmailKey, IsActive: count.IsActive,
			RowOffset: in.Offset(), RowLimit: in.Limit(),
		})
		if err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(rows))
		for i := range rows {
			ids[i] = rows[i].AccessLink.ID
		}
		counts, err := q.AccessLinkCounts(ctx, ids...)
		if err != nil {
			return err
		}
		for _, row := range rows {
			links = append(links, l.fromRow(store.GetAccessLinkRow(row), counts[row.AccessLink.ID]).visibleTo(auth.From(ctx)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list access links: %w", err)
	}
	return api.List(ctx, in.Paging, links, total), nil
}

// fromRow shows a link with a tracking token for the present version of the file: page numbers
// mean pages of that.
func (l *Links) fromRow(row store.GetAccessLinkRow, counts store.Counts) AccessLink {
	a := row.AccessLink
	claims := token.Claims{
		AccountID: a.AccountID, LeadMagnetID: a.LeadMagnetID, AccessLinkID: a.ID,
		MagnetVersion: uint32(row.FileVersion),
	}
	if a.GenericLinkID != nil {
		claims.GenericLinkID = *a.GenericLinkID
	}
	var url *string
	if t, err := OpenToken(l.deps.Tokens, a); err == nil {
		text := l.deps.Site + web.ReadingPath(t)
		url = &text
	} else {
		l.deps.Log.Error("cannot show the URL of an access link: add the token key that sealed it", "error", err)
	}
	tracking := l.deps.Tokens.Sign(claims)
	return AccessLink{
		ID: a.ID, LeadMagnetID: a.LeadMagnetID, GenericLinkID: a.GenericLinkID, SubmissionID: a.SubmissionID,
		Email: &a.Email, Source: Source(a.Source), URL: url, TrackingToken: &tracking,
		MaxViews: a.MaxViews, ViewCount: counts.Views, ExpiresAt: api.OptionalTime(a.ExpiresAt), IsActive: a.IsActive,
		FirstViewedAt: api.OptionalTime(counts.First), LastViewedAt: api.OptionalTime(counts.Last),
		CreatedAt: api.TimeOf(a.CreatedAt), UpdatedAt: api.TimeOf(a.UpdatedAt),
	}
}

// visibleTo returns the link as a key may see it: the recipient's address, and the URL that the
// recipient has, are personal data; with the tracking token events are written. Who creates a link
// sees all of it.
func (a AccessLink) visibleTo(caller auth.Identity) AccessLink {
	if !caller.Has(auth.Leads) {
		a.Email, a.URL = nil, nil
	}
	if !caller.Has(auth.Write) {
		a.TrackingToken = nil
	}
	return a
}
