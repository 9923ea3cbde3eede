package session

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// judge notes the rule that suspects a session at its beginning, if one does: that of the request,
// or that it came with the mail. A program that says that it is one needs no suspicion.
func judge(ctx context.Context, q *store.Queries, s *Session, of suspect.Rule) error {
	if s.Bot {
		return nil
	}
	if of == "" {
		mailed, err := q.JustMailed(ctx,
			store.JustMailedParams{AccessLinkID: s.Link.ID, Seconds: suspect.DeliverySeconds})
		if err != nil {
			return fmt.Errorf("look when the link was mailed: %w", err)
		}
		if !mailed {
			return nil
		}
		of = suspect.Delivery
	}
	s.Suspect = of
	if err := q.AddSuspect(ctx, store.AddSuspectParams{ID: s.ID, AccountID: s.Link.AccountID,
		AccessLinkID: s.Link.ID, Rule: string(of), StartedAt: s.StartedAt}); err != nil {
		return fmt.Errorf("note suspected session: %w", err)
	}
	var err error
	if s.LeftOut, err = q.LeavesOut(ctx, string(of)); err != nil {
		return fmt.Errorf("read what the account leaves out: %w", err)
	}
	return nil
}

// judgeEnded notes which of the sessions, which have ended, are suspected by what was seen in them,
// and returns all of them that are suspected.
func judgeEnded(ctx context.Context, q *store.Queries, rows []store.EndSessionsRow,
	ids []uuid.UUID) (map[uuid.UUID]store.SuspectsAmongRow, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	err := q.JudgeInput(ctx, store.JudgeInputParams{Rule: string(suspect.NoInput), IDs: ids,
		Pages: suspect.NoInputPages, PageMs: suspect.NoInputMS})
	if err != nil {
		return nil, fmt.Errorf("judge sessions by their input: %w", err)
	}
	var since time.Time
	for i := range rows {
		if at := rows[i].Session.StartedAt; since.IsZero() || at.Before(since) {
			since = at
		}
	}
	if err := judgePaths(ctx, q, ids, since); err != nil {
		return nil, err
	}
	found, err := q.SuspectsAmong(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read suspected sessions: %w", err)
	}
	suspects := make(map[uuid.UUID]store.SuspectsAmongRow, len(found))
	for _, f := range found {
		suspects[f.ID] = f
	}
	return suspects, nil
}
