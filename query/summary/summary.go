// Package summary tells what one person, known by an email address, did with an account's lead
// magnets: the access links are Postgres's, the views ClickHouse's, joined by access link.
package summary

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/query/memory"
	"lodestone/query/scope"
)

// Summary is what is known of one email address. Times are nil where nothing happened.
type Summary struct {
	TotalLinks        int64
	TotalViews        int64 // sessions that saw at least one page, without those of bots
	UniqueLeadMagnets int64 // lead magnets with such a view
	FirstLinkCreated  *time.Time
	LastLinkCreated   *time.Time
	FirstAccess       *time.Time // first page of these views
	LastAccess        *time.Time // last page of these views
}

// Reader makes summaries. It is safe for concurrent use.
type Reader struct {
	postgres *postgres.Pool
	door     *scope.ClickHouse
	memory   *memory.Memory[*past]
	quiet    time.Duration // see quiet

	learning   sync.Mutex     // of one account at a time
	background sync.WaitGroup // what goes on when an answer is given
}

// New returns a Reader. Close it after the door.
func New(p *postgres.Pool, door *scope.ClickHouse) *Reader {
	return &Reader{postgres: p, door: door, memory: memory.New[*past](mostBytes), quiet: quiet}
}

// Close waits for what goes on after answers, which a closed door ends. No call of Read may run.
func (r *Reader) Close() { r.background.Wait() }

// Read returns the summary of an address, without regard to its case, over all the account's lead
// magnets or, if leadMagnet is not nil, over that one. An address that is unknown has an empty
// summary.
func (r *Reader) Read(ctx context.Context, account uuid.UUID, address email.Address, leadMagnet *uuid.UUID) (Summary, error) {
	open := scope.Opening(time.Now())
	known, tried := r.memory.Get(account, open)
	useful := tried && !known.unfit
	parts := make(chan string, 1)
	if useful { // takes as long as Postgres does
		r.background.Go(func() { parts <- r.partsBefore(context.WithoutCancel(ctx), open) })
	}
	s, links, err := r.links(ctx, account, address, leadMagnet)
	if err != nil || len(links) == 0 {
		return s, err
	}
	if useful {
		t := known.tally(links)
		if err := r.door.Query(ctx, account, viewsSince(open, links), t.add); err != nil {
			return Summary{}, err
		}
		if <-parts == known.parts {
			t.into(&s)
			return s, nil
		}
		r.memory.Drop(account, known) // so that the next one does not read twice
	}
	err = r.door.Query(ctx, account, Views(links), func(row scope.Row) error {
		var views, unique uint64
		var first, last time.Time
		if err := row.Scan(&views, &unique, &first, &last); err != nil {
			return fmt.Errorf("read views: %w", err)
		}
		s.views(int64(views), int64(unique), first, last)
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	if !tried || useful {
		r.learn(context.WithoutCancel(ctx), account, open)
	}
	return s, nil
}

// links returns the access links of an address, and a summary of all but their views.
func (r *Reader) links(ctx context.Context, account uuid.UUID, address email.Address, leadMagnet *uuid.UUID) (s Summary, links []uuid.UUID, err error) {
	var bytes []byte
	err = r.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, linksSQL, account, address.Key, leadMagnet).
			Scan(&s.TotalLinks, &s.FirstLinkCreated, &s.LastLinkCreated, &bytes)
	})
	if err != nil {
		return Summary{}, nil, fmt.Errorf("read access links of an address: %w", err)
	}
	s.FirstLinkCreated, s.LastLinkCreated = inUTC(s.FirstLinkCreated), inUTC(s.LastLinkCreated)
	return s, ids(bytes), nil
}

func (s *Summary) views(views, unique int64, first, last time.Time) {
	s.TotalViews, s.UniqueLeadMagnets = views, unique
	if views > 0 {
		s.FirstAccess, s.LastAccess = inUTC(&first), inUTC(&last)
	}
}

// partsBefore returns what the months before one consist of now, or "" if that cannot be told.
func (r *Reader) partsBefore(ctx context.Context, open time.Time) string {
	parts, err := r.door.Parts(ctx)
	if err != nil { // then what is remembered is not used, and the statement that is tells of what is wrong
		return ""
	}
	names, _ := partsBefore(open, parts)
	return names
}

// learn reads what was viewed of an account in months that are over, for the questions after this one. Where that fails it
// is not tried again for a while: questions are answered without.
func (r *Reader) learn(ctx context.Context, account uuid.UUID, open time.Time) {
	if !r.learning.TryLock() {
		return
	}
	r.background.Go(func() {
		defer r.learning.Unlock()
		p, err := readPast(ctx, r.door, account, open, r.quiet)
		if err != nil {
			p = &past{open: open, unfit: true}
		}
		if p != nil {
			r.memory.Set(account, p.bounded())
		}
	})
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// ids returns UUIDs that lie one after another.
func ids(bytes []byte) []uuid.UUID {
	all := make([]uuid.UUID, 0, len(bytes)/len(uuid.UUID{}))
	for id := range slices.Chunk(bytes, len(uuid.UUID{})) {
		all = append(all, uuid.UUID(id))
	}
	return all
}
