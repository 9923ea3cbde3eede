package counter

import (
	"context"
	"fmt"
	"strconv"
	"strings"
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
	touched       bool  // a page view does not say that nothing was touched before it
	client        int64 // which address and browser it was, as a hash; 0: not known
}

func (a *activity) join(b activity) {
	if b.last.After(a.last) {
		a.last = b.last
	}
	a.pages = append(a.pages, b.pages...)
	a.duration += b.duration
	a.downloads += b.downloads
	a.touched = a.touched || b.touched
	if a.client == 0 {
		a.client = b.client
	}
}

// addActivity adds to the activity of sessions that are open. Sessions that are over keep what was
// reported.
func addActivity(ctx context.Context, q *store.Queries, read []activity) error {
	var p store.AddSessionActivityParams
	for _, a := range read {
		p.IDs, p.Links, p.Last = append(p.IDs, a.session), append(p.Links, a.link), append(p.Last, a.last)
		p.Pages, p.Durations = append(p.Pages, integers(a.pages)), append(p.Durations, a.duration)
		p.Downloads = append(p.Downloads, a.downloads)
		p.Touched, p.Clients = append(p.Touched, a.touched), append(p.Clients, a.client)
	}
	if err := q.AddSessionActivity(ctx, p); err != nil {
		return fmt.Errorf("add activity of sessions: %w", err)
	}
	return nil
}

// monthOf returns the month of a time as 202611.
func monthOf(t time.Time) int32 {
	t = t.UTC()
	return int32(t.Year()*100 + int(t.Month()))
}

// integers formats numbers as a Postgres array of integers, without those that are too large for
// one.
func integers(numbers []uint32) string {
	texts := make([]string, 0, len(numbers))
	for _, n := range numbers {
		if n <= 1<<31-1 {
			texts = append(texts, strconv.FormatUint(uint64(n), 10))
		}
	}
	return "{" + strings.Join(texts, ",") + "}"
}
