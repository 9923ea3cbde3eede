package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// Counts are the views of a link or a submission, as package ingest/counter counts them.
type Counts struct {
	Views       int64
	First, Last *time.Time // nil: never
}

// Viewed reports whether there is a view.
func (c Counts) Viewed() bool { return c.Views > 0 }

// AccessLinkCounts returns the counts of links by their ids.
func (q *Queries) AccessLinkCounts(ctx context.Context, ids ...uuid.UUID) (map[uuid.UUID]Counts, error) {
	rows, err := q.CountsOfAccessLinks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read counters of access links: %w", err)
	}
	counts := make(map[uuid.UUID]Counts, len(rows))
	for _, r := range rows {
		counts[r.ID] = Counts{r.ViewCount, r.FirstViewedAt, r.LastViewedAt}
	}
	return counts, nil
}

// SubmissionCounts returns the counts of submissions by their ids.
func (q *Queries) SubmissionCounts(ctx context.Context, submissions []Submission) (map[uuid.UUID]Counts, error) {
	ids := make([]uuid.UUID, len(submissions))
	for i := range submissions {
		ids[i] = submissions[i].ID
	}
	rows, err := q.CountsOfSubmissions(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read counters of submissions: %w", err)
	}
	counts := make(map[uuid.UUID]Counts, len(rows))
	for _, r := range rows {
		counts[r.ID] = Counts{r.ViewCount, r.FirstViewedAt, r.LastViewedAt}
	}
	return counts, nil
}

// GenericLinkCounts returns the views of links by their ids.
func (q *Queries) GenericLinkCounts(ctx context.Context, links ...GenericLink) (map[uuid.UUID]int64, error) {
	ids := make([]uuid.UUID, len(links))
	for i := range links {
		ids[i] = links[i].ID
	}
	rows, err := q.CountsOfGenericLinks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read counters of generic links: %w", err)
	}
	views := make(map[uuid.UUID]int64, len(rows))
	for _, r := range rows {
		views[r.ID] = r.ViewCount
	}
	return views, nil
}
