package counter

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
)

// activity is the reading in a session.
type activity struct {
	session, link uuid.UUID
	last          time.Time
	pages         []uint32
	duration      int64
	downloads     int32
}

func (a *activity) join(b activity) {
	if b.last.After(a.last) {
		a.last = b.last
	}
	a.pages = append(a.pages, b.pages...)
	a.duration += b.duration
	a.downloads += b.downloads
}

// addActivity adds to the activity of sessions that are open. Sessions that are over keep what was
// reported.
func addActivity(ctx context.Context, q *store.Queries, read []activity) error {
	var p store.AddSessionActivityParams
	for _, a := range read {
		p.IDs, p.Links, p.Last = append(p.IDs, a.session), append(p.Links, a.link), append(p.Last, a.last)
		p.Pages, p.Durations = append(p.Pages, integers(a.pages)), append(p.Durations, a.duration)
		p.Downloads = append(p.Downloads, a.downloads)
	}
	if err := q.AddSessionActivity(ctx, p); err != nil {
		return fmt.Errorf("add activity of sessions: %w", err)
	}
	return nil
}
