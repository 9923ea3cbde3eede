package erasure

import (
	"context"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Set holds the access links of people who were erased, the ids of their submissions, and accounts
// that were deleted. It implements stream.Erased, and is safe for concurrent use: one goroutine
// adds.
type Set struct {
	links atomic.Pointer[map[uuid.UUID]struct{}]
	since time.Time // by the clock of Postgres: what was noted before it is in the set
}

// Has reports whether a link or an account is in the set.
func (s *Set) Has(id uuid.UUID) bool {
	links := s.links.Load()
	if links == nil {
		return false
	}
	_, has := (*links)[id]
	return has
}

// overlap is longer than a transaction that erases someone takes: its links have the times at which
// it wrote them, not that of its end.
const overlap = 10 * time.Minute

// Load adds what was noted in Postgres since it was called before.
func (s *Set) Load(ctx context.Context, pool *postgres.Pool) error {
	rows, err := store.New(pool.Unscoped()).ErasedLinksSince(ctx, s.since)
	if err != nil {
		return fmt.Errorf("read links of erased people: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	s.since = rows[0].Now.Add(-overlap)
	var links map[uuid.UUID]struct{}
	if old := s.links.Load(); old != nil {
		links = *old
	}
	changed := false
	for _, r := range rows {
		if _, has := links[r.ID]; has {
			continue
		}
		if !changed { // readers have the old one
			links, changed = maps.Clone(links), true
			if links == nil {
				links = map[uuid.UUID]struct{}{}
			}
		}
		links[r.ID] = struct{}{}
	}
	if changed {
		s.links.Store(&links)
	}
	return nil
}
