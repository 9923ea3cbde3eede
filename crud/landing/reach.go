package landing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/web"
	"lodestone/pkg/store"
)

const (
	// minReaders is how many people must have read a document before its page says how many: fewer
	// recommend nothing.
	minReaders = 10
	// minFinished is how many people must have come to the last page before the page says how long
	// that takes.
	minFinished = 5
	// reachLasts is for how long a page shows the same numbers: each count looks at every reader of
	// the document.
	reachLasts = time.Minute
	// maxReaches bounds the documents whose numbers are kept.
	maxReaches = 10_000
)

// reach is how far the readers of a document came.
type reach struct {
	store.CountReadersRow
	until time.Time
}

// reaches are those of documents. They are safe for concurrent use.
type reaches struct {
	mu   sync.Mutex
	kept map[uuid.UUID]reach
}

// of returns how far the readers of a link's document came.
func (all *reaches) of(ctx context.Context, q *store.Queries, g store.GenericLink, now time.Time) (reach, error) {
	all.mu.Lock()
	found, ok := all.kept[g.LeadMagnetID]
	all.mu.Unlock()
	if ok && now.Before(found.until) {
		return found, nil
	}
	row, err := q.CountReaders(ctx, store.CountReadersParams{AccountID: g.AccountID, LeadMagnetID: g.LeadMagnetID})
	if err != nil {
		return found, fmt.Errorf("count readers: %w", err)
	}
	found = reach{row, now.Add(reachLasts)}
	all.mu.Lock()
	defer all.mu.Unlock()
	if all.kept == nil || len(all.kept) >= maxReaches {
		all.kept = map[uuid.UUID]reach{}
	}
	all.kept[g.LeadMagnetID] = found
	return found, nil
}

// facts says how many people read the document, how many to its end, and how long that took them.
func (r reach) facts(t *web.Texts) (list []string) {
	if r.Readers < minReaders {
		return nil
	}
	list = append(list, t.Say("facts.readers", "n", r.Readers))
	if r.Finished > 0 {
		list = append(list, t.Say("facts.finished", "n", r.Finished))
	}
	if r.Finished >= minFinished {
		minutes := (time.Duration(r.ReadingMs)*time.Millisecond + time.Minute/2) / time.Minute
		list = append(list, t.Say("facts.minutes", "n", max(1, int64(minutes))))
	}
	return list
}
