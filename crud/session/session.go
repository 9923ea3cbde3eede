// Package session is the openings of access links: whether a link may be opened, which file is read
// in a session, and whether a download went out whole.
package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/accesslink"
	"lodestone/crud/picture"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

const (
	// pause is how long after its last activity a session can be gone on with: a reload, or a phone
	// that comes back to the page, is no further view.
	pause = 30 * time.Minute
	// Longest is how long a session gives its file.
	Longest = 12 * time.Hour
)

// State is why a link cannot be opened.
type State int

// The states.
const (
	Unknown  State = iota // no link has this token
	Inactive              // it, or its lead magnet, is switched off
	Expired
	UsedUp
	NotReady // the lead magnet has no file yet
	Over     // the session is over, or is not one of this link
)

// Refusal is the error of what may not be read.
type Refusal struct{ State State }

// Error implements error.
func (r *Refusal) Error() string {
	return [...]string{"the link is unknown", "the link is inactive", "the link has expired", "the link is used up",
		"the document has no file", "the session is over"}[r.State]
}

// Link names an access link and whose it is.
type Link struct{ ID, Account uuid.UUID }

// Deps are the dependencies of sessions. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Site     string      // public URL without a slash at the end
	Tokens   *token.Ring // signs what a session hands out
	Queue    Jobs        // takes the reports of downloads
}

// Sessions opens access links. It is safe for concurrent use.
type Sessions struct{ deps Deps }

// New returns the sessions of a database.
func New(d Deps) *Sessions { return &Sessions{d} }

// Find returns the link that a token opens, or a Refusal.
func (s *Sessions) Find(ctx context.Context, secret string) (Link, error) {
	row, err := store.New(s.deps.Postgres.Unscoped()).FindAccessLink(ctx, accesslink.HashToken(secret))
	if errors.Is(err, pgx.ErrNoRows) {
		return Link{}, &Refusal{Unknown}
	}
	if err != nil {
		return Link{}, fmt.Errorf("find access link: %w", err)
	}
	return Link{row.ID, row.AccountID}, nil
}

// Document is the document behind a link, with its owner's brand.
type Document struct {
	LeadMagnetID uuid.UUID
	Title        string
	Pages        int32
	Owner        string  // name of the account
	Colour       *string // of the account
	Font         string  // of the account: system or inter
	Language     *string // of its pages; nil: the visitor's own
	End          End
	Downloadable bool
	Pictures     picture.Page
}

// End is the text and button behind the last page. Button and URL are set together.
type End struct{ Text, Button, URL string }

func endOf(row store.GetOpeningRow) (e End) {
	for to, from := range map[*string]*string{&e.Text: row.EndText, &e.Button: row.EndButton, &e.URL: row.EndURL} {
		if from != nil {
			*to = *from
		}
	}
	return e
}

// Look returns the document of a link, with a Refusal if the link can neither be opened nor gone on
// with. strict leaves out going on. It counts nothing.
func (s *Sessions) Look(ctx context.Context, link Link, strict bool) (Document, error) {
	var (
		row      store.GetOpeningRow
		pictures picture.Page
		open     bool
	)
	err := s.deps.Postgres.AccountSnapshot(ctx, link.Account, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if row, err = q.GetOpening(ctx, link.ID); err != nil {
			return err
		}
		if pictures, err = picture.ForMagnet(ctx, tx, s.deps.Site, row.AccessLink.LeadMagnetID); err != nil || strict {
			return err
		}
		open, err = q.HasOpenSession(ctx, store.HasOpenSessionParams{
			AccessLinkID: link.ID, PauseSeconds: pause.Seconds(), LongestSeconds: Longest.Seconds(),
		})
		return err
	})
	d := Document{LeadMagnetID: row.AccessLink.LeadMagnetID, Title: row.Title, Owner: row.AccountName,
		Colour: row.BrandColor, Font: row.BrandFont, Language: row.PageLanguage, End: endOf(row),
		Downloadable: row.Downloadable, Pictures: pictures}
	if row.PageCount != nil {
		d.Pages = *row.PageCount
	}
	if errors.Is(err, pgx.ErrNoRows) {
		return d, &Refusal{Unknown} // deleted since it was found
	}
	if err != nil {
		return d, fmt.Errorf("look at access link: %w", err)
	}
	refusal := refusalOf(row)
	if refusal != nil && open && (refusal.State == Expired || refusal.State == UsedUp) {
		refusal = nil
	}
	if refusal != nil {
		return d, refusal
	}
	return d, nil
}

// refusalOf returns why a link cannot be opened now, or nil.
func refusalOf(row store.GetOpeningRow) *Refusal {
	a := row.AccessLink
	switch {
	case !a.IsActive || !row.MagnetIsActive:
		return &Refusal{Inactive}
	case row.Expired:
		return &Refusal{Expired}
	case row.FileVersion == 0:
		return &Refusal{NotReady}
	case a.MaxViews != nil && a.OpenedCount >= *a.MaxViews:
		return &Refusal{UsedUp}
	}
	return nil
}

// Session is one opening, with the file that is read in it.
type Session struct {
	ID        uuid.UUID // uuid.Nil: a preview, which is counted and recorded nowhere
	Link      store.AccessLink
	Title     string // of the document
	File      store.LeadMagnetFile
	StartedAt time.Time
	Resumed   bool         // it had been started before
	Bot       bool         // it belongs to a program, which says so
	Suspect   suspect.Rule // that suspects it of being a program's; "": none does
	LeftOut   bool         // the account leaves it out of its numbers

	Downloadable bool // the document may be downloaded now
	Watermarked  bool // its pages name the reader

	tokens *token.Ring
}

// claims returns the ids that events of the session are recorded for.
func (s Session) claims() token.Claims {
	c := token.Claims{
		AccountID: s.Link.AccountID, LeadMagnetID: s.Link.LeadMagnetID, AccessLinkID: s.Link.ID,
		MagnetVersion: uint32(s.File.Version),
	}
	if s.Link.GenericLinkID != nil {
		c.GenericLinkID = *s.Link.GenericLinkID
	}
	return c
}

// TrackingToken returns the token of the session's events, or "" for a preview.
func (s Session) TrackingToken() string {
	if s.ID == uuid.Nil {
		return ""
	}
	return s.tokens.Sign(s.claims())
}

// Opener is who opens a link.
type Opener struct {
	Bot     bool         // a program that says that it is one
	Suspect suspect.Rule // that suspects the request; "": none does
}

// Start opens a link: it goes on with the session wanted if that is one of the link with activity
// in the last half hour, else it starts one, under the id wanted if no one has it. A link that
// cannot be opened is a Refusal. Whether it can, and the count of its openings, is one decision: of
// two that want the last opening, one gets it. A program that says that it is one needs an opening
// that is left, and spends none.
//
// A client that got no answer asks again for the same id, and so spends one opening.
func (s *Sessions) Start(ctx context.Context, link Link, wanted uuid.UUID, by Opener) (Session, error) {
	var out Session
	err := s.deps.Postgres.Account(ctx, link.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.ResumeSession(ctx, store.ResumeSessionParams{
			ID: wanted, AccessLinkID: link.ID, Bot: by.Bot, PauseSeconds: pause.Seconds(), LongestSeconds: Longest.Seconds(),
		})
		if errors.Is(err, pgx.ErrNoRows) {
			out, err = s.begin(ctx, tx, link, wanted, by)
		} else if err == nil {
			out = Session{ID: row.Session.ID, Link: row.AccessLink, StartedAt: row.Session.StartedAt, Resumed: true, Bot: by.Bot}
			out.File.Version = row.Session.MagnetVersion
		}
		if err != nil {
			return err
		}
		return s.complete(ctx, q, &out)
	})
	if err != nil {
		return Session{}, fmt.Errorf("start session: %w", err)
	}
	return out, nil
}

// begin counts an opening and records its session.
func (s *Sessions) begin(ctx context.Context, tx pgx.Tx, link Link, wanted uuid.UUID, by Opener) (Session, error) {
	q := store.New(tx)
	counted, err := q.CountOpening(ctx, store.CountOpeningParams{ID: link.ID, Bot: by.Bot})
	if errors.Is(err, pgx.ErrNoRows) {
		return Session{}, s.why(ctx, q, link)
	}
	if err != nil {
		return Session{}, fmt.Errorf("count opening: %w", err)
	}
	out := Session{Link: counted.AccessLink, Bot: by.Bot}
	out.File.Version = counted.FileVersion
	if out.ID, out.StartedAt, err = insert(ctx, q, counted, wanted, by.Bot); err != nil {
		return Session{}, err
	}
	if err := judge(ctx, q, &out, by.Suspect); err != nil {
		return Session{}, err
	}
	return out, webhook.Emit(ctx, tx, s.deps.Tokens, link.Account, webhook.LinkAccessed{
		Link: webhook.LinkOf(out.Link), SessionID: out.ID, Visitor: out.visitor(),
		AccessedAt: api.TimeOf(time.Now()),
	})
}

// visitor returns what webhooks say of who opened the link.
func (s Session) visitor() webhook.Visitor { return webhook.VisitorOf(s.Bot, s.Suspect, s.LeftOut) }

// insert records a session under the id wanted, or under another if that one is taken or is no UUID
// of version 7.
func insert(ctx context.Context, q *store.Queries, of store.CountOpeningRow, wanted uuid.UUID, bot bool) (id uuid.UUID,
	startedAt time.Time, err error) {
	for id = wanted; ; {
		if id.Version() == 7 {
			startedAt, err = q.InsertSession(ctx, store.InsertSessionParams{
				ID: id, AccountID: of.AccessLink.AccountID, AccessLinkID: of.AccessLink.ID, MagnetVersion: of.FileVersion, Bot: bot,
			})
			if err == nil {
				return id, startedAt, nil
			}
			if !errors.Is(err, pgx.ErrNoRows) {
				return id, startedAt, fmt.Errorf("insert session: %w", err)
			}
		}
		if id, err = uuid.NewV7(); err != nil {
			return id, startedAt, fmt.Errorf("make id: %w", err)
		}
	}
}

// why tells the reason of an opening that was not counted.
func (s *Sessions) why(ctx context.Context, q *store.Queries, link Link) error {
	row, err := q.GetOpening(ctx, link.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		return &Refusal{Unknown}
	}
	if err != nil {
		return fmt.Errorf("look at access link: %w", err)
	}
	if refusal := refusalOf(row); refusal != nil {
		return refusal
	}
	return &Refusal{UsedUp} // it changed since: whoever asks again learns more
}

// complete adds what is known by the link and the version of the file.
func (s *Sessions) complete(ctx context.Context, q *store.Queries, out *Session) (err error) {
	out.tokens = s.deps.Tokens
	out.File, err = q.GetFileVersion(ctx,
		store.GetFileVersionParams{LeadMagnetID: out.Link.LeadMagnetID, Version: out.File.Version})
	if err != nil {
		return fmt.Errorf("read file of session: %w", err)
	}
	row, err := q.GetOpening(ctx, out.Link.ID)
	if err != nil {
		return fmt.Errorf("read document of session: %w", err)
	}
	out.Title, out.Downloadable, out.Watermarked = row.Title, row.Downloadable, row.Watermarked
	return nil
}

// Unreadable records that the browser of a reader could not show a page of the session's file, or
// with 0 the document. It does so for a preview as well.
func (s *Sessions) Unreadable(ctx context.Context, in Session, number int32) error {
	err := s.deps.Postgres.Account(ctx, in.Link.AccountID, func(tx pgx.Tx) error {
		return store.New(tx).ReportUnreadable(ctx, store.ReportUnreadableParams{
			Page: number, LeadMagnetID: in.File.LeadMagnetID, Version: in.File.Version,
		})
	})
	if err != nil {
		return fmt.Errorf("record unreadable page: %w", err)
	}
	return nil
}

// Preview returns a look at the document for the owner of a link, whatever the link's state.
func (s *Sessions) Preview(ctx context.Context, link Link) (Session, error) {
	var out Session
	err := s.deps.Postgres.AccountSnapshot(ctx, link.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.GetOpening(ctx, link.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return &Refusal{Unknown}
		}
		if err != nil {
			return fmt.Errorf("look at access link: %w", err)
		}
		if row.FileVersion == 0 {
			return &Refusal{NotReady}
		}
		out = Session{Link: row.AccessLink, StartedAt: time.Now()}
		out.File.Version = row.FileVersion
		return s.complete(ctx, q, &out)
	})
	if err != nil {
		return Session{}, fmt.Errorf("preview document: %w", err)
	}
	return out, nil
}
