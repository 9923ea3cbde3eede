package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/session"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	// againAfter is longer than a request or a job may take that read of the person before the erasure, and writes afterwards.
	againAfter = 2 * time.Minute
	// againMargin is how long after an erasure such a writer may begin, by clocks that differ a little.
	againMargin = 10 * time.Second
	// maxAgain bounds the tries, which take a week.
	maxAgain      = 1000
	longestPause  = 10 * time.Minute
	againTimeout  = 30 * time.Minute // large tables take long to vacuum
	sealingErased = "addresses of erased people"
)

// again is a job: what is outside the transaction of an erasure is removed once more, and what others wrote who had read of the person
// before. It is inserted by that transaction, so that a crash leaves nothing behind.
type again struct {
	AccountID uuid.UUID `json:"account_id"`
	ErasureID uuid.UUID `json:"erasure_id"`
	Until     time.Time `json:"until"`       // what is newer stays: the person came back
	Keys      []byte    `json:"keys_sealed"` // []string; the job is removed a minute after it is done
}

// Kind implements river.JobArgs.
func (again) Kind() string { return "erase_again" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (again) InsertOpts() river.InsertOpts {
	return river.InsertOpts{MaxAttempts: maxAgain, ScheduledAt: time.Now().Add(againAfter)}
}

// insertAgain adds the job of an erasure, last in its transaction.
func (e *Eraser) insertAgain(ctx context.Context, tx pgx.Tx, entry Entry, keys []string) error {
	now, err := store.New(tx).ClockTime(ctx)
	if err != nil {
		return fmt.Errorf("read the time of Postgres: %w", err)
	}
	text, err := json.Marshal(keys)
	if err != nil {
		return fmt.Errorf("encode addresses: %w", err)
	}
	sealed, err := e.deps.Tokens.Seal(sealingErased, text, entry.ID[:])
	if err != nil {
		return fmt.Errorf("seal addresses: %w", err)
	}
	return e.deps.Queue.Insert(ctx, tx, again{entry.AccountID, entry.ID, now.Add(againMargin).UTC(), sealed}, nil)
}

// worker does the jobs.
type worker struct {
	river.WorkerDefaults[again]
	eraser *Eraser
}

// Timeout implements river.Worker.
func (*worker) Timeout(*river.Job[again]) time.Duration { return againTimeout }

// NextRetry implements river.Worker.
func (w *worker) NextRetry(job *river.Job[again]) time.Time {
	return time.Now().Add(min(time.Second<<min(job.Attempt, 12), longestPause))
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, job *river.Job[again]) error {
	e, a := w.eraser, job.Args
	text, err := e.deps.Tokens.Open(sealingErased, a.Keys, a.ErasureID[:])
	if errors.Is(err, token.ErrSealed) {
		return river.JobCancel(err)
	}
	var keys []string
	if err == nil {
		err = json.Unmarshal(text, &keys)
	}
	if err != nil {
		return fmt.Errorf("read addresses: %w", err)
	}
	links, err := store.New(e.deps.Postgres.Unscoped()).LinksOfErasures(ctx, []uuid.UUID{a.ErasureID})
	if err != nil {
		return fmt.Errorf("read links of erasure: %w", err)
	}
	ids := make([]uuid.UUID, len(links))
	for i, l := range links {
		ids[i] = l.ID
	}
	err = e.deps.Postgres.Account(ctx, a.AccountID, func(tx pgx.Tx) error {
		if err := session.BlankReports(ctx, tx, ids); err != nil {
			return err
		}
		for _, key := range keys {
			if _, _, err := e.forgetWaiting(ctx, tx, key, a.Until); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.forgetOutside(ctx, a.AccountID, keys, ids, a.Until); err != nil {
		return err
	}
	return e.vacuum(ctx, a.Until)
}

// vacuum removes what was deleted until a time from the files of Postgres' tables with data about people, and renews the statistics
// of them, which hold values of rows. Postgres does so by itself only after a part of a table has changed. One that began later than
// that time is not repeated.
func (e *Eraser) vacuum(ctx context.Context, since time.Time) error {
	e.vacuuming.Lock()
	defer e.vacuuming.Unlock()
	if e.vacuumed.After(since) {
		return nil
	}
	q := store.New(e.deps.Postgres.Unscoped())
	began, err := q.ClockTime(ctx)
	if err != nil {
		return fmt.Errorf("read the time of Postgres: %w", err)
	}
	read, err := q.IsReadSince(ctx, since)
	switch {
	case err != nil:
		return fmt.Errorf("look for open transactions: %w", err)
	case read:
		return errStillRead
	}
	if err := q.VacuumPeople(ctx); err != nil {
		return fmt.Errorf("vacuum tables with data about people: %w", err)
	}
	e.vacuumed = began
	return nil
}

// errStillRead has the job tried again: Postgres keeps deleted rows that an open transaction may read.
var errStillRead = errors.New("a transaction of Postgres is open since before the erasure, so that deleted rows stay")

// forgetWaiting removes what waits to be sent about an address, and was asked for until a time.
func (e *Eraser) forgetWaiting(ctx context.Context, tx pgx.Tx, key string, until time.Time) (mails, chats int, err error) {
	if mails, err = e.deps.Mails.Forget(ctx, tx, key, until); err != nil {
		return 0, 0, err
	}
	chats, err = e.deps.Chats.Forget(ctx, tx, key, until)
	return mails, chats, err
}

// forgetOutside removes what no transaction of the account reaches.
func (e *Eraser) forgetOutside(ctx context.Context, account uuid.UUID, keys []string, ids []uuid.UUID, until time.Time) error {
	if e.deps.Mailbox != nil {
		for _, key := range keys {
			if _, err := e.deps.Mailbox.Forget(key, until); err != nil {
				return err
			}
		}
	}
	// Last, so that no request whose effect was removed leaves an answer. Answers are kept for a day in any case.
	return e.deps.Answers.Forget(ctx, account, until, idempotency.Meant{Body: about(keys, ids), Key: named(keys)})
}
