package person

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/store"
)

const (
	knownAtOnce = 1000 // ids of entries that are looked up at a time
	readAtOnce  = 16   // entries
)

// Replay erases again what the log has and Postgres has not: it was restored to a state of before.
// It returns how many erasures it repeated. Call it before anything that people stored is served.
// If entries cannot be read, it repeats the others first.
func (e *Eraser) Replay(ctx context.Context) (n int, err error) {
	if e.deps.Log == nil {
		return 0, nil
	}
	ids, err := e.unknown(ctx)
	if err != nil {
		return 0, err
	}
	entries, unread := e.read(ctx, ids)
	slices.SortFunc(entries, func(a, b Entry) int { return a.ErasedAt.Compare(b.ErasedAt) })
	for _, entry := range entries {
		if err := e.repeat(ctx, entry); err != nil {
			return n, errors.Join(err, unread)
		}
		n++
	}
	if slices.ContainsFunc(entries, Entry.ofAccount) {
		if err := vacuumAll(ctx, e.deps.Postgres); err != nil { // no reason to serve nothing
			e.deps.Logger.Warn("erased data stays in the files of Postgres until autovacuum removes it", "error", err)
		}
	}
	if n > 0 {
		e.deps.Logger.Warn("erased people again: the databases were restored to a state that still had them",
			"erasures", n)
	}
	return n, unread
}

// unknown returns the ids of the log's entries without an erasure in Postgres.
func (e *Eraser) unknown(ctx context.Context) (ids []uuid.UUID, err error) {
	all, err := e.deps.Log.IDs(ctx)
	if err != nil {
		return nil, err
	}
	q := store.New(e.deps.Postgres.Unscoped())
	for some := range slices.Chunk(all, knownAtOnce) {
		known, err := q.KnownErasures(ctx, some)
		if err != nil {
			return nil, fmt.Errorf("look up erasures: %w", err)
		}
		for _, id := range some {
			if !slices.Contains(known, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// read returns the entries with the ids, and the errors of those that cannot be read.
func (e *Eraser) read(ctx context.Context, ids []uuid.UUID) (entries []Entry, err error) {
	read, errs := make([]Entry, len(ids)), make([]error, len(ids))
	var group errgroup.Group
	group.SetLimit(readAtOnce)
	for i, id := range ids {
		group.Go(func() error {
			read[i], errs[i] = e.deps.Log.Entry(ctx, id)
			return nil
		})
	}
	_ = group.Wait() // errs has what failed
	for i := range ids {
		if errs[i] == nil {
			entries = append(entries, read[i])
		}
	}
	return entries, errors.Join(errs...)
}

func (e *Eraser) repeat(ctx context.Context, entry Entry) error {
	if entry.ofAccount() {
		return deleteAccount(ctx, e.deps.Postgres, entry)
	}
	keys, err := store.New(e.deps.Postgres.Unscoped()).AddressesOfPerson(ctx,
		store.AddressesOfPersonParams{AccountID: entry.AccountID, PersonID: entry.PersonID})
	if err != nil {
		return fmt.Errorf("repeat erasure %s: %w", entry.ID, err)
	}
	err = e.apply(ctx, entry, keys, entry.ErasedAt) // who came back since is another matter
	if err != nil {
		return fmt.Errorf("repeat erasure %s: %w", entry.ID, err)
	}
	return nil
}
