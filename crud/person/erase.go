package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// EraserDeps are the dependencies of an eraser. All but Log are required.
type EraserDeps struct {
	Postgres *postgres.Pool
	Tokens   *token.Ring // sign receipts
	Log      *Log        // nil: no one can be erased
	Logger   *slog.Logger
}

// Eraser erases people. It is safe for concurrent use.
//
// An erasure is in the log before anything is removed: if the databases are restored to a state of
// before, Replay erases again. In Postgres it is one transaction. Consumers blank the events of the
// access links that it removed (ingest/erasure). Queues lose what they have of the person as all
// else that they hold: with its age (queue.Keep).
type Eraser struct {
	deps       EraserDeps
	backupDays int
}

// NewEraser returns an eraser.
func NewEraser(c Config, d EraserDeps) *Eraser { return &Eraser{d, c.BackupDays} }

// Removed is how many things of each kind an erasure removed from Postgres.
type Removed struct {
	Submissions int   `json:"submissions" doc:"Forms sent with the address."`
	AccessLinks int   `json:"access_links" doc:"Personal links. Their events are blanked."`
	Sessions    int64 `json:"sessions" doc:"Openings of these links."`
	Downloads   int64 `json:"downloads" doc:"Downloads in these sessions."`
	Profiles    int64 `json:"profiles" doc:"1 if the account had written down a name, status or note."`
}

// erase erases all that is stored about an address in an account, and returns the id of the
// erasure, which it announces before it writes. The error is a problem if there is no log. After
// another error it may be called again; what the log has is erased at the next start at the latest.
func (e *Eraser) erase(ctx context.Context, account uuid.UUID, address email.Address,
	announce func(uuid.UUID)) (uuid.UUID, error) {
	if e.deps.Log == nil {
		return uuid.Nil, problem.New(problem.Conflict,
			"Erasing is not set up here: set --erasure-log to a directory or bucket outside the databases.")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("make id: %w", err)
	}
	announce(id)
	now, err := store.New(e.deps.Postgres.Unscoped()).PersonNow(ctx,
		store.PersonNowParams{AccountID: account, EmailKey: address.Key})
	if err != nil {
		return uuid.Nil, fmt.Errorf("read the time of Postgres: %w", err)
	}
	entry := Entry{Version: entryVersion, ID: id, AccountID: account, PersonID: now.PersonID, ErasedAt: now.Now.UTC()}
	if err := e.record(ctx, entry); err != nil {
		return uuid.Nil, err
	}
	// Forms and requests that are being written down, which the erasure would not see.
	if err := store.New(e.deps.Postgres.Unscoped()).AwaitWriters(ctx, account); err != nil {
		return uuid.Nil, fmt.Errorf("await writers: %w", err)
	}
	return id, e.apply(ctx, entry, []string{address.Key}, forever)
}

// record puts an erasure into the log. The error is a problem.
func (e *Eraser) record(ctx context.Context, entry Entry) error {
	if err := e.deps.Log.Append(ctx, entry); err != nil {
		return problem.New(problem.Unavailable,
			"The erasure cannot be recorded, so nothing was erased. Try again.").Because(err)
	}
	return nil
}

// forever is later than any row: no clock decides what an erasure that someone asked for removes.
var forever = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// apply removes from Postgres what has one of the addresses, and was stored until a time or is in
// the entry. Before that commits, the log has the ids of what is removed.
func (e *Eraser) apply(ctx context.Context, entry Entry, keys []string, until time.Time) error {
	return e.deps.Postgres.Account(ctx, entry.AccountID, func(tx pgx.Tx) error {
		var all Removed
		for _, key := range keys {
			if err := e.remove(ctx, tx, key, erasureScope{until, entry.Links}, &all); err != nil {
				return err
			}
		}
		q := store.New(tx)
		gone, err := q.TakeDeletedLinks(ctx, entry.PersonID) // those of now, and those that the owner deleted before
		if err != nil {
			return fmt.Errorf("look for deleted links: %w", err)
		}
		removed, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("encode what was removed: %w", err)
		}
		full, err := note(ctx, q, entry, removed, gone)
		if err != nil {
			return err
		}
		if len(full.Links) == len(entry.Links) {
			return nil
		}
		return e.record(ctx, full)
	})
}

// note notes an erasure and the links that it removed, and returns its entry with all of its links.
// Another process that starts may have found the entry in the log and repeated it already, before
// the end of what was being written: both are one erasure then, with the counts of the first.
func note(ctx context.Context, q *store.Queries, entry Entry, removed []byte, gone []uuid.UUID) (Entry, error) {
	fresh, err := q.InsertErasure(ctx, store.InsertErasureParams{
		ID: entry.ID, AccountID: entry.AccountID, PersonID: entry.PersonID, ErasedAt: entry.ErasedAt, Removed: removed,
	})
	if err != nil {
		return entry, fmt.Errorf("record erasure: %w", err)
	}
	if fresh == 0 {
		known, err := q.LinksOfErasures(ctx, []uuid.UUID{entry.ID})
		if err != nil {
			return entry, fmt.Errorf("read links of erasure: %w", err)
		}
		for _, l := range known {
			gone = append(gone, l.ID)
		}
	}
	entry.Links = slices.Clone(entry.Links)
	for _, id := range gone {
		if !slices.Contains(entry.Links, id) {
			entry.Links = append(entry.Links, id)
		}
	}
	if err := q.InsertErasedLinks(ctx, store.InsertErasedLinksParams{IDs: entry.Links, AccountID: entry.AccountID,
		ErasureID: entry.ID}); err != nil {
		return entry, fmt.Errorf("record erased links: %w", err)
	}
	return entry, nil
}

// erasureScope is which rows of an address an erasure removes.
type erasureScope struct {
	until time.Time   // those that were stored until then
	ids   []uuid.UUID // and these
}

// remove removes what has an address, in the order in which a form writes. A trigger notes the ids
// of submissions and access links.
func (e *Eraser) remove(ctx context.Context, tx pgx.Tx, key string, what erasureScope, all *Removed) error {
	q := store.New(tx)
	forms, err := q.SubmissionsToErase(ctx, store.SubmissionsToEraseParams{EmailKey: key,
		Until: what.until, IDs: what.ids})
	if err != nil {
		return fmt.Errorf("read submissions: %w", err)
	}
	submissions, pages := make([]uuid.UUID, len(forms)), make([]uuid.UUID, len(forms))
	for i, f := range forms {
		submissions[i], pages[i] = f.ID, f.GenericLinkID
	}
	links, err := q.LinksToErase(ctx, store.LinksToEraseParams{EmailKey: key, Until: what.until, IDs: what.ids})
	if err != nil {
		return fmt.Errorf("read access links: %w", err)
	}
	reading, err := q.CountReading(ctx, links)
	if err != nil {
		return fmt.Errorf("count sessions: %w", err)
	}
	if err := q.EraseSubmissions(ctx, submissions); err != nil {
		return fmt.Errorf("erase submissions: %w", err)
	}
	if err := q.EraseAccessLinks(ctx, links); err != nil {
		return fmt.Errorf("erase access links: %w", err)
	}
	if err := q.UncountSubmissions(ctx, pages); err != nil {
		return fmt.Errorf("count submissions: %w", err)
	}
	profiles, err := q.EraseProfile(ctx, store.EraseProfileParams{EmailKey: key, Until: what.until})
	if err != nil {
		return fmt.Errorf("erase profile: %w", err)
	}
	if err := q.EraseViews(ctx, store.EraseViewsParams{EmailKey: key, Until: what.until}); err != nil {
		return fmt.Errorf("erase views: %w", err)
	}
	if err := q.EraseFromGates(ctx, key); err != nil {
		return fmt.Errorf("erase from the lists of links: %w", err)
	}
	all.Profiles += profiles
	all.Submissions += len(submissions)
	all.AccessLinks += len(links)
	all.Sessions += reading.Sessions
	all.Downloads += reading.Downloads
	return nil
}

// find returns an erasure of an account, with its receipt. The error is a problem if there is none.
func (e *Eraser) find(ctx context.Context, account, id uuid.UUID) (PersonErasure, error) {
	var row store.GetErasureRow
	err := e.deps.Postgres.AccountSnapshot(ctx, account,
		func(tx pgx.Tx) (err error) { // which the audit log does not record
			row, err = store.New(tx).GetErasure(ctx, id)
			return err
		})
	if errors.Is(err, pgx.ErrNoRows) {
		return PersonErasure{}, problem.Missing("erasure")
	}
	if err != nil {
		return PersonErasure{}, fmt.Errorf("read erasure: %w", err)
	}
	return e.receipt(row)
}
