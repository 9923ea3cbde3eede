package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// FillAccessLinkCounts fills in the counters of links that were read from their table: those of package ingest/counter have
// tables of their own.
func (q *Queries) FillAccessLinkCounts(ctx context.Context, links ...*AccessLink) error {
	ids := make([]uuid.UUID, len(links))
	place := make(map[uuid.UUID]*AccessLink, len(links))
	for i, l := range links {
		ids[i], place[l.ID] = l.ID, l
	}
	rows, err := q.CountsOfAccessLinks(ctx, ids)
	if err != nil {
		return fmt.Errorf("read counters of access links: %w", err)
	}
	for _, r := range rows {
		l := place[r.ID]
		l.ViewCount, l.Viewed, l.FirstViewedAt, l.LastViewedAt = counted(r.ViewCount, r.FirstViewedAt, r.LastViewedAt)
	}
	return nil
}

// FillSubmissionCounts fills in the counters of submissions that were read from their table.
func (q *Queries) FillSubmissionCounts(ctx context.Context, submissions []Submission) error {
	ids := make([]uuid.UUID, len(submissions))
	place := make(map[uuid.UUID]*Submission, len(submissions))
	for i := range submissions {
		s := &submissions[i]
		ids[i], place[s.ID] = s.ID, s
	}
	rows, err := q.CountsOfSubmissions(ctx, ids)
	if err != nil {
		return fmt.Errorf("read counters of submissions: %w", err)
	}
	for _, r := range rows {
		s := place[r.ID]
		s.ViewCount, s.Viewed, s.FirstViewedAt, s.LastViewedAt = counted(r.ViewCount, r.FirstViewedAt, r.LastViewedAt)
	}
	return nil
}

// FillGenericLinkCounts fills in the counters of links that were read from their table.
func (q *Queries) FillGenericLinkCounts(ctx context.Context, links []GenericLink) error {
	ids := make([]uuid.UUID, len(links))
	for i, l := range links {
		ids[i] = l.ID
	}
	rows, err := q.CountsOfGenericLinks(ctx, ids)
	if err != nil {
		return fmt.Errorf("read counters of generic links: %w", err)
	}
	views := make(map[uuid.UUID]int64, len(rows))
	for _, r := range rows {
		views[r.ID] = r.ViewCount
	}
	for i := range links {
		if n, ok := views[links[i].ID]; ok {
			links[i].ViewCount = n
		}
	}
	return nil
}

func counted(views int64, first, last *time.Time) (int64, bool, *time.Time, *time.Time) {
	return views, views > 0, first, last
}
