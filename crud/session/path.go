package session

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// judgePaths notes which of the sessions, which have ended, and of those that began soon after, are
// suspected because one browser did the same in many links. Sessions end in the order of their last
// activity, so the first of a row finds the others.
func judgePaths(ctx context.Context, q *store.Queries, ids []uuid.UUID, since time.Time) error {
	rows, err := q.Paths(ctx, store.PathsParams{IDs: ids, Since: since, Links: suspect.SamePathLinks,
		Seconds: suspect.SamePathSeconds})
	if err != nil {
		return fmt.Errorf("read the paths of sessions: %w", err)
	}
	p := store.AddSuspectsParams{Rule: string(suspect.SamePath)}
	for i, is := range alike(rows) {
		if is {
			p.IDs, p.Accounts = append(p.IDs, rows[i].ID), append(p.Accounts, rows[i].AccountID)
			p.Links, p.Started = append(p.Links, rows[i].AccessLinkID), append(p.Started, rows[i].StartedAt)
		}
	}
	if len(p.IDs) > 0 {
		if err := q.AddSuspects(ctx, p); err != nil {
			return fmt.Errorf("note suspected sessions: %w", err)
		}
	}
	if err := q.ForgetClients(ctx, ids); err != nil {
		return fmt.Errorf("forget who sessions were of: %w", err)
	}
	return nil
}

// path is what sessions that are alike have in common.
type path struct {
	account uuid.UUID
	client  int64
	pages   string
	span    int // of their time
}

// spanOf returns the span of a reading time. A span ends 5 % and 250 ms above its beginning.
func spanOf(durationMS int64) int {
	return int(math.Log1p(float64(durationMS)/5000) / math.Log(1.05))
}

// alike tells of each session whether it is in a row of sessions with one path, of many links and
// begun within minutes, of which the first is over. The sessions are in the order of their
// beginning. Times are alike if they are in one span or two adjacent ones: each pair of spans is
// gone through once, so the work grows with the number of sessions only.
func alike(sessions []store.PathsRow) []bool {
	found := make([]bool, len(sessions))
	of := map[path][]int{}
	for i, s := range sessions {
		p := path{s.AccountID, s.Client, fmt.Sprint(s.Pages), spanOf(s.DurationMs)}
		of[p] = append(of[p], i)
		p.span--
		of[p] = append(of[p], i)
	}
	for _, row := range of {
		links := map[uuid.UUID]int{} // of those from the first to next
		next, marked := 0, 0
		for at, first := range row {
			end := sessions[first].StartedAt.Add(suspect.SamePathSeconds * time.Second)
			for ; next < len(row) && !sessions[row[next]].StartedAt.After(end); next++ {
				links[sessions[row[next]].AccessLinkID]++
			}
			if sessions[first].Over && len(links) >= suspect.SamePathLinks {
				for marked = max(marked, at); marked < next; marked++ {
					found[row[marked]] = true
				}
			}
			link := sessions[first].AccessLinkID
			if links[link]--; links[link] == 0 {
				delete(links, link)
			}
		}
	}
	return found
}
