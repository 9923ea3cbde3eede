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

// Forgetter removes what waits to be sent about an address; it is implemented by mail.Queue and chat.Channels.
type Forgetter interface {
	Forget(ctx context.Context, tx pgx.Tx, key string) (int, error)
}

// Mailbox is where mails are kept that go to no server; it is implemented by mail.Mailbox.
type Mailbox interface {
	Forget(key string) (int, error)
}

// EraserDeps is what an eraser works with. All of it but Mailbox and Log is required.
type EraserDeps struct {
	Postgres *postgres.Pool
	Mails    Forgetter
	Chats    Forgetter
	Mailbox  Mailbox // nil: mails leave the installation
	Answers  Answers
	Tokens   *token.Ring // sign receipts
	Log      Log         // nil: no one can be erased
	Logger   *slog.Logger
}

// Eraser erases people. It is safe for concurrent use.
//
// An erasure is in the log before anything is removed: if the databases are restored to a state of before, Replay erases again. In
// Postgres it is one transaction. Consumers blank the events of the access links that it removed (ingest/erasure).
type Eraser struct {
	deps       EraserDeps
	backupDays int
}

// NewEraser returns an eraser.
func NewEraser(c Config, d EraserDeps) *Eraser { return &Eraser{d, c.BackupDays} }

// Removed is how many things of each kind an erasure removed from Postgres.
type Removed struct {
	Submissions  int   `json:"submissions" doc:"Forms that were sent with the address."`
	AccessLinks  int   `json:"access_links" doc:"Personal links. Their events are blanked."`
	Sessions     int64 `json:"sessions" doc:"Openings of these links."`
	Downloads    int64 `json:"downloads" doc:"Downloads in these sessions."`
	Deliveries   int64 `json:"webhook_deliveries" doc:"Messages to webhooks whose bodies and answers were removed. What was delivered is with its receiver."`
	Mails        int   `json:"mails" doc:"Mails to the address that waited, and notices about it to the owner."`
	ChatMessages int   `json:"chat_messages" doc:"Messages to chat channels that waited."`
}

// erase erases all that is stored about an address in an account, and returns the id of the erasure, which it announces before it writes.
// The error is a problem if there is no log. After another error it may be called again; what the log has is erased at the next start at
// the latest.
func (e *Eraser) erase(ctx context.Context, account uuid.UUID, address email.Address, announce func(uuid.UUID)) (uuid.UUID, error) {
	if e.deps.Log == nil {
		return uuid.Nil, problem.New(problem.Conflict, "Erasing is not set up here: set --erasure-log to a directory or bucket outside the databases.")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("make id: %w", err)
	}
	announce(id)
	now, err := store.New(e.deps.Postgres.Unscoped()).PersonNow(ctx, store.PersonNowParams{AccountID: account, EmailKey: address.Key})
	if err != nil {
		return uuid.Nil, fmt.Errorf("read the time of Postgres: %w", err)
	}
	entry := Entry{Version: entryVersion, ID: id, AccountID: account, PersonID: now.PersonID, ErasedAt: now.Now.UTC()}
	if err := e.deps.Log.Append(ctx, entry); err != nil {
		return uuid.Nil, problem.New(problem.Unavailable, "The erasure cannot be put on record, so nothing was erased. Try again.").Because(err)
	}
	return id, e.apply(ctx, entry, []string{address.Key})
}

// apply removes from Postgres what has one of the addresses.
func (e *Eraser) apply(ctx context.Context, entry Entry, keys []string) error {
	var gone []uuid.UUID
	err := e.deps.Postgres.Account(ctx, entry.AccountID, func(tx pgx.Tx) error {
		gone = nil
		var all Removed
		for _, key := range keys {
			ids, err := e.remove(ctx, tx, key, entry.ErasedAt, &all)
			if err != nil {
				return err
			}
			gone = append(gone, ids...)
		}
		removed, err := json.Marshal(all)
		if err != nil {
			return fmt.Errorf("encode what was removed: %w", err)
		}
		q := store.New(tx)
		err = q.InsertErasure(ctx, store.InsertErasureParams{
			ID: entry.ID, AccountID: entry.AccountID, PersonID: entry.PersonID, ErasedAt: entry.ErasedAt, Removed: removed,
		})
		if err != nil {
			return fmt.Errorf("record erasure: %w", err)
		}
		if err := q.InsertErasedLinks(ctx, store.InsertErasedLinksParams{IDs: gone, AccountID: entry.AccountID, ErasureID: entry.ID}); err != nil {
			return fmt.Errorf("record erased links: %w", err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if e.deps.Mailbox != nil {
		for _, key := range keys {
			if _, err := e.deps.Mailbox.Forget(key); err != nil {
				return err //nolint:wrapcheck // it says what failed
			}
		}
	}
	// Last, so that no request whose effect was removed leaves an answer. Answers are kept for a day in any case.
	return e.deps.Answers.Forget(ctx, entry.AccountID, about(keys, gone))
}

// remove removes what has an address, in the order in which a form writes. It returns the ids of submissions and access links.
func (e *Eraser) remove(ctx context.Context, tx pgx.Tx, key string, until time.Time, all *Removed) (ids []uuid.UUID, err error) {
	q := store.New(tx)
	forms, err := q.SubmissionsToErase(ctx, store.SubmissionsToEraseParams{EmailKey: key, Until: until})
	if err != nil {
		return nil, fmt.Errorf("read submissions: %w", err)
	}
	submissions, pages := make([]uuid.UUID, len(forms)), make([]uuid.UUID, len(forms))
	for i, f := range forms {
		submissions[i], pages[i] = f.ID, f.GenericLinkID
	}
	links, err := q.LinksToErase(ctx, store.LinksToEraseParams{EmailKey: key, Until: until})
	if err != nil {
		return nil, fmt.Errorf("read access links: %w", err)
	}
	reading, err := q.CountReading(ctx, links)
	if err != nil {
		return nil, fmt.Errorf("count sessions: %w", err)
	}
	deliveries, err := q.CountDeliveries(ctx, store.CountDeliveriesParams{AccessLinkIDs: links, SubmissionIDs: submissions})
	if err != nil {
		return nil, fmt.Errorf("count messages to webhooks: %w", err)
	}
	if err := q.EraseSubmissions(ctx, submissions); err != nil {
		return nil, fmt.Errorf("erase submissions: %w", err)
	}
	if err := q.EraseAccessLinks(ctx, links); err != nil {
		return nil, fmt.Errorf("erase access links: %w", err)
	}
	if err := q.UncountSubmissions(ctx, pages); err != nil {
		return nil, fmt.Errorf("count submissions: %w", err)
	}
	mails, err := e.deps.Mails.Forget(ctx, tx, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // it says what failed
	}
	chats, err := e.deps.Chats.Forget(ctx, tx, key)
	if err != nil {
		return nil, err //nolint:wrapcheck // as above
	}
	all.Submissions += len(submissions)
	all.AccessLinks += len(links)
	all.Sessions += reading.Sessions
	all.Downloads += reading.Downloads
	all.Deliveries += deliveries
	all.Mails += mails
	all.ChatMessages += chats
	return slices.Concat(submissions, links), nil
}

// knownAtOnce is how many entries are looked up at a time.
const knownAtOnce = 1000

// Replay erases again what the log has and Postgres has not: it was restored to a state of before. It returns how many erasures it
// repeated. Call it before anything that people stored is served.
func (e *Eraser) Replay(ctx context.Context) (n int, err error) {
	if e.deps.Log == nil {
		return 0, nil
	}
	entries, err := e.deps.Log.Entries(ctx)
	if err != nil {
		return 0, err //nolint:wrapcheck // it says what failed
	}
	q := store.New(e.deps.Postgres.Unscoped())
	for some := range slices.Chunk(entries, knownAtOnce) {
		ids := make([]uuid.UUID, len(some))
		for i, entry := range some {
			ids[i] = entry.ID
		}
		known, err := q.KnownErasures(ctx, ids)
		if err != nil {
			return n, fmt.Errorf("look up erasures: %w", err)
		}
		for _, entry := range some {
			if slices.Contains(known, entry.ID) {
				continue
			}
			if err := e.repeat(ctx, entry); err != nil {
				return n, err
			}
			n++
		}
	}
	if n > 0 {
		e.deps.Logger.Warn("erased people again whom the databases still had: they were restored to a state of before", "erasures", n)
	}
	return n, nil
}

func (e *Eraser) repeat(ctx context.Context, entry Entry) error {
	if entry.PersonID == uuid.Nil {
		err := deleteAccount(ctx, e.deps.Postgres, entry)
		if postgres.IsUniqueViolation(err, "erasures_pkey") {
			return nil // as below
		}
		return err
	}
	keys, err := store.New(e.deps.Postgres.Unscoped()).AddressesOfPerson(ctx, store.AddressesOfPersonParams{AccountID: entry.AccountID, PersonID: entry.PersonID})
	if err != nil {
		return fmt.Errorf("repeat erasure %s: %w", entry.ID, err)
	}
	err = e.apply(ctx, entry, keys)
	if postgres.IsUniqueViolation(err, "erasures_pkey") {
		return nil // another process repeated it
	}
	if err != nil {
		return fmt.Errorf("repeat erasure %s: %w", entry.ID, err)
	}
	return nil
}

// find returns an erasure of an account, with its receipt. The error is a problem if there is none.
func (e *Eraser) find(ctx context.Context, account, id uuid.UUID) (PersonErasure, error) {
	var row store.GetErasureRow
	err := e.deps.Postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) (err error) { // which the audit log does not record
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
