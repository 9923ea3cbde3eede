package webhook

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	endEvery = 5 * time.Second
	endBatch = 500
)

// Ender is the service that ends sessions which had no activity for a while, and tells webhooks, once
// for each session whatever number of processes run it.
//
// What happens in a session is known from its events, some time after it happened: while Kafka or
// ClickHouse are away, long after. So a session is idle only as of the moment that the counters have
// caught up with.
type Ender struct {
	*service.Loop
	w *Webhooks
}

// Ender returns the service. It is made once.
func (w *Webhooks) Ender() *Ender {
	e := &Ender{w: w}
	e.Loop = service.NewLoop("ends of sessions", e.run)
	return e
}

func (e *Ender) run(ctx context.Context, ready func()) error {
	ready()
	ticker := time.NewTicker(endEvery)
	defer ticker.Stop()
	for failing := false; ; {
		err := e.w.endSessions(ctx)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			e.w.metrics.errors.Inc()
			if !failing { // once an outage, not at every look
				e.w.log.Warn("cannot end sessions, will try again", "error", err)
			}
		}
		failing = err != nil
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// endSessions ends every session that is over.
func (w *Webhooks) endSessions(ctx context.Context) error {
	known, err := store.New(w.db.Unscoped()).CountersCaughtUp(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read how far the counters are: %w", err)
	}
	if now := w.now(); now.Before(known) {
		known = now
	}
	for n := endBatch; n == endBatch; {
		if n, err = w.endSome(ctx, known.Add(-w.config.SessionIdle)); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
	}
	return nil
}

func (w *Webhooks) endSome(ctx context.Context, before time.Time) (n int, err error) {
	err = w.db.Transaction(ctx, func(tx pgx.Tx) error {
		rows, err := store.New(tx).EndSessions(ctx, store.EndSessionsParams{Before: before, RowLimit: endBatch})
		if err != nil {
			return err
		}
		n = len(rows)
		ended := map[uuid.UUID][]SessionEnded{}
		for _, r := range rows {
			ended[r.Session.AccountID] = append(ended[r.Session.AccountID], SessionEnded{
				Link: Link{
					AccessLinkID: r.Session.AccessLinkID, LeadMagnetID: r.LeadMagnetID, GenericLinkID: r.GenericLinkID,
					SubmissionID: r.SubmissionID, Email: r.Email, Source: r.Source,
				},
				SessionID: r.Session.ID, StartedAt: api.TimeOf(r.Session.StartedAt), EndedAt: api.TimeOf(r.Session.LastActiveAt),
				Pages: r.Session.Pages, DurationMS: r.Session.DurationMs,
			})
		}
		for account, events := range ended {
			if err := Emit(ctx, tx, w.tokens, account, events...); err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}
