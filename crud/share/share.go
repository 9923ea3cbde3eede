// Package share shows the statistics of one lead magnet to whoever has a link, and lets an account
// make and revoke such links.
//
// The page is read-only and shows aggregates: the funnel, how far readers come, and readers by day.
// It breaks nothing down by source, device, country or link, and names no one. A single person
// could be known from a curve of few readers, so the page shows pages and median times of at least
// MinReaders readers only.
//
// The page asks the site's own API, with a key that only the server can derive from the token of
// the URL. So the reports of the API are the only source of its numbers, and every query is
// confined to the account where all others are.
package share

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/password"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

//go:embed web
var webFiles embed.FS

// MinReaders is how many readers a number about single pages needs to be shown.
const MinReaders = 5

// Deps are the dependencies of shares. Now may be nil; all others are required.
type Deps struct {
	Postgres  *postgres.Pool
	Tokens    *token.Ring
	Pages     *web.Site
	Limiter   *ratelimit.Visitors
	Addresses *clientaddr.Finder
	Now       func() time.Time // the clock; nil: time.Now
}

// Shares serves the links and their pages. It is safe for concurrent use once it is registered.
type Shares struct {
	deps          Deps
	shown, locked *web.Template
	passwords     *password.Hasher
	reports       *reports
	secure        bool // whether cookies are for https only
}

// keys returns what derives the keys of shares: the first one those of new ones.
func (s *Shares) keys() [][token.KeyBytes]byte { return s.deps.Tokens.DeriveEach("share key") }

// New returns the shares of an installation.
func New(d Deps) (*Shares, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the pages of shares: %w", err)
	}
	s := &Shares{
		deps: d, passwords: password.New(), reports: newReports(d.Now), secure: strings.HasPrefix(d.Pages.URL(""), "https:"),
	}
	if s.shown, err = d.Pages.Parse(files, "share.html", "share.css"); err != nil {
		return nil, err
	}
	s.locked, err = d.Pages.Parse(files, "locked.html")
	return s, err
}

// Share is a link as the API shows it.
type Share struct {
	ID           uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	LeadMagnetID uuid.UUID `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet whose statistics it shows."`
	Name         *string   `json:"name" doc:"Name of the link, which its page does not show."`
	HasPassword  bool      `json:"has_password" doc:"Whether its page asks for a password."`
	ExpiresAt    *api.Time `json:"expires_at" doc:"When it expires; null for never."`
	ViewCount    int64     `json:"view_count" doc:"How often its page was shown."`
	LastViewedAt *api.Time `json:"last_viewed_at" doc:"When its page was last shown; null for never."`
	CreatedAt    api.Time  `json:"created_at" doc:"When it was created."`
}

// NewShare is a link with the URL just created for it.
type NewShare struct {
	ID           uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	LeadMagnetID uuid.UUID `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet whose statistics it shows."`
	URL          string    `json:"url" doc:"Full URL. Anyone with it, and the password if there is one, can see the statistics. It is shown only once."`
	Name         *string   `json:"name" doc:"Name of the link, which its page does not show."`
	HasPassword  bool      `json:"has_password" doc:"Whether its page asks for a password."`
	ExpiresAt    *api.Time `json:"expires_at" doc:"When it expires; null for never."`
	ViewCount    int64     `json:"view_count" doc:"How often its page was shown."`
	LastViewedAt *api.Time `json:"last_viewed_at" doc:"When its page was last shown; null for never."`
	CreatedAt    api.Time  `json:"created_at" doc:"When it was created."`
}

const (
	path = "/api/v1/lead-magnets/{id}/shares"
	tag  = "Shares"
	// pagePath is where the pages are, below the site.
	pagePath = "/s/"
	// maxShares is how many links a lead magnet can have.
	maxShares = 100
)

// Register adds the operations, and mounts the page, which asks the API for its numbers.
func (s *Shares) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-share", Method: http.MethodPost, Path: path, Scope: auth.Write, Also: []auth.Scope{auth.Read},
		Tag: tag, Status: 201, Secret: true,
		Summary: "Create a link that shows the statistics of a lead magnet",
		Description: "Anyone with the link can see the funnel, how far readers get, and readers by day, but nothing about individual people. The " +
			"URL is shown only once, because its token is stored as a hash.",
		Errors: []problem.Code{problem.LimitReached},
	}, s.create)
	api.Register(a, api.Operation{
		ID: "list-shares", Method: http.MethodGet, Path: path, Scope: auth.Read, Tag: tag,
		Summary: "List the links that show the statistics of a lead magnet, newest first",
		PerPage: api.PageSize{Default: 20, Max: 100},
	}, s.list)
	api.Register(a, api.Operation{
		ID: "revoke-share", Method: http.MethodDelete, Path: path + "/{share_id}", Scope: auth.Write, Tag: tag, Status: 204,
		Summary: "Revoke a link that shows statistics", Description: "Its page is gone at once.",
	}, s.revoke)
	s.deps.Pages.Mount(a, "GET "+pagePath+"{token}", s.show(a))
	s.deps.Pages.Mount(a, "POST "+pagePath+"{token}", s.unlock)
	s.deps.Pages.Mount(a, "GET "+pagePath+"{rest...}", web.NothingHere)
}

type createInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	Body struct {
		Name      *string `json:"name" required:"false" minLength:"1" maxLength:"100" doc:"Name of the link, for yourself. Its page does not show it."`
		Password  *string `json:"password" required:"false" minLength:"8" maxLength:"200" doc:"Password that the page asks for. It is stored as an argon2id hash."`
		ExpiresAt *string `json:"expires_at" required:"false" format:"date-time" doc:"When the link expires; null for never."`
	}
}

func (s *Shares) create(ctx context.Context, in *createInput) (*api.Answer[NewShare], error) {
	b := in.Body
	owner := auth.From(ctx).AccountID
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create share: %w", err)
	}
	auth.RecordCreated(ctx, id)
	made := auth.ShareOf(auth.NewShareToken(), s.keys()[0])
	row := store.InsertShareParams{ID: id, AccountID: owner, LeadMagnetID: in.ID, Name: b.Name,
		TokenHash: made.TokenHash[:], KeyHash: made.KeyHash[:]}
	if row.ExpiresAt, err = s.expiry(b.ExpiresAt); err != nil {
		return nil, err
	}
	// Look first, so that no hash is computed for a lead magnet that is not there.
	if err := s.deps.Postgres.AccountSnapshot(ctx, owner,
		func(tx pgx.Tx) error { return checkMagnet(ctx, tx, in.ID) }); err != nil {
		return nil, fmt.Errorf("create share: %w", err)
	}
	if b.Password != nil {
		hash, err := s.passwords.Hash(ctx, *b.Password)
		if err != nil {
			return nil, err
		}
		row.PasswordHash = &hash
	}
	var created Share
	err = s.deps.Postgres.Account(ctx, owner, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := q.TakeMagnet(ctx, in.ID); errors.Is(err,
			pgx.ErrNoRows) { // one at a time, so that two at once cannot pass the limit
			return problem.Missing("lead magnet")
		} else if err != nil {
			return fmt.Errorf("take lead magnet: %w", err)
		}
		n, err := q.CountShares(ctx, in.ID)
		if err != nil {
			return fmt.Errorf("count shares: %w", err)
		}
		if n >= maxShares {
			return problem.New(problem.LimitReached,
				fmt.Sprintf("A lead magnet can have %d links that show its statistics: revoke some that are not used.", maxShares))
		}
		if err := q.InsertShare(ctx, row); err != nil {
			return fmt.Errorf("insert share: %w", err)
		}
		stored, err := q.GetShare(ctx, id)
		created = fromRow(store.ListSharesRow(stored))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create share: %w", err)
	}
	return api.OK(NewShare{
		ID: id, LeadMagnetID: in.ID, URL: s.deps.Pages.URL(pagePath + made.Token), Name: b.Name,
		HasPassword: created.HasPassword,
		ExpiresAt:   created.ExpiresAt, CreatedAt: created.CreatedAt,
	}), nil
}

// expiry returns the time at which a new link ends, nil for never.
func (s *Shares) expiry(text *string) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	at, err := jsonschema.ParseTime(*text)
	if err == nil && at.After(s.deps.Now()) {
		return &at, nil
	}
	return nil, problem.Invalid(problem.Field{Field: "expires_at", Message: "must be in the future"})
}

func checkMagnet(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	_, err := store.New(tx).GetMagnet(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.Missing("lead magnet")
	}
	if err != nil {
		return fmt.Errorf("read lead magnet: %w", err)
	}
	return nil
}

func fromRow(row store.ListSharesRow) Share {
	return Share{
		ID: row.ID, LeadMagnetID: row.LeadMagnetID, Name: row.Name, HasPassword: row.HasPassword,
		ExpiresAt: api.OptionalTime(row.ExpiresAt),
		ViewCount: row.ViewCount, LastViewedAt: api.OptionalTime(row.LastViewedAt), CreatedAt: api.TimeOf(row.CreatedAt),
	}
}

type listInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	api.Paging
}

func (s *Shares) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[Share]], error) {
	var total int64
	var shares []Share
	err := s.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		if err := checkMagnet(ctx, tx, in.ID); err != nil {
			return err
		}
		q := store.New(tx)
		if total, err = q.CountShares(ctx, in.ID); err != nil {
			return err
		}
		rows, err := q.ListShares(ctx, store.ListSharesParams{LeadMagnetID: in.ID,
			RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			shares = append(shares, fromRow(row))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list shares: %w", err)
	}
	return api.List(ctx, in.Paging, shares, total), nil
}

type revokeInput struct {
	ID      uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	ShareID uuid.UUID `path:"share_id" doc:"Id of the link."`
}

func (s *Shares) revoke(ctx context.Context, in *revokeInput) (*api.Answer[api.Empty], error) {
	auth.RecordCreated(ctx, in.ShareID) // and not the lead magnet, whose id is in the path as well
	err := s.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteShare(ctx, store.DeleteShareParams{ID: in.ShareID, LeadMagnetID: in.ID})
		if err == nil && n == 0 {
			err = problem.Missing("link")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("revoke share: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
