package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

const (
	closeEvery = 5 * time.Second
	closeBatch = 500
)

// closerLock is the key of the advisory lock under which sessions end, one process at a time: what
// is new about a session depends on those of its link that ended before.
const closerLock = 0x6c6f6465_656e6473 // "lodeends"

// Notifier notices what readers did in sessions that are over. It is implemented by notice.Notices.
type Notifier interface {
	// SessionsEnded is called once for each session, in the transaction that ends it, which has no
	// scope.
	SessionsEnded(ctx context.Context, tx pgx.Tx, ids []uuid.UUID) error
}

// CloserDeps are the dependencies of a Closer. Notifier and Now may be nil; all others are
// required.
type CloserDeps struct {
	Postgres   *postgres.Pool
	Tokens     *token.Ring // seals the messages to webhooks
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Notifier   Notifier         // nil: owners are not notified
	Now        func() time.Time // the clock; nil: time.Now
}

// Closer is the service that ends sessions without activity, and emits session.ended to webhooks,
// once for each session whatever number of processes run it.
//
// What happens in a session is known from its events, some time after it happened: while Kafka or
// ClickHouse are away, long after. So a session is idle only as of the time that the counters have
// caught up with.
type Closer struct {
	*service.Loop
	idle   time.Duration
	deps   CloserDeps
	errors prometheus.Counter
}

// NewCloser returns a Closer that ends sessions without activity for so long.
func NewCloser(idle time.Duration, d CloserDeps) *Closer {
	if d.Now == nil {
		d.Now = time.Now
	}
	c := &Closer{idle: idle, deps: d, errors: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "lodestone_session_end_errors_total", Help: "Failed searches for ended sessions.",
	})}
	d.Registerer.MustRegister(c.errors)
	c.Loop = service.Every("ends of sessions", closeEvery, closeEvery, d.Log, func(ctx context.Context) error {
		err := c.Close(ctx)
		if err != nil && ctx.Err() == nil {
			c.errors.Inc()
		}
		return err
	})
	return c
}

// Close ends every session that is over. After a restore, none is before it is resumed.
func (c *Closer) Close(ctx context.Context) error {
	if paused, err := store.New(c.deps.Postgres.Unscoped()).DeliveriesPaused(ctx); err != nil || paused {
		return err
	}
	known, err := store.New(c.deps.Postgres.Unscoped()).CountersCaughtUp(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read how far the counters are: %w", err)
	}
	if now := c.deps.Now(); now.Before(known) {
		known = now
	}
	for n := closeBatch; n == closeBatch; {
		if n, err = c.closeSome(ctx, known.Add(-c.idle)); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
	}
	return nil
}

func (c *Closer) closeSome(ctx context.Context, before time.Time) (n int, err error) {
	err = c.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		n = 0
		mine, err := store.New(tx).TryLock(ctx, closerLock)
		if err != nil || !mine {
			return err
		}
		rows, err := store.New(tx).EndSessions(ctx, store.EndSessionsParams{Before: before, RowLimit: closeBatch})
		if err != nil {
			return err
		}
		n = len(rows)
		ids := make([]uuid.UUID, n)
		for i := range rows {
			ids[i] = rows[i].Session.ID
		}
		suspects, err := judgeEnded(ctx, store.New(tx), rows, ids)
		if err != nil {
			return err
		}
		ended := map[uuid.UUID][]webhook.SessionEnded{}
		for _, r := range rows {
			j := suspects[r.Session.ID]
			visitor := webhook.VisitorOf(r.Session.Bot, suspect.Rule(j.Rule), j.LeftOut)
			ended[r.Session.AccountID] = append(ended[r.Session.AccountID], webhook.SessionEnded{
				Link: webhook.Link{
					AccessLinkID: r.Session.AccessLinkID, LeadMagnetID: r.LeadMagnetID, GenericLinkID: r.GenericLinkID,
					SubmissionID: r.SubmissionID, Email: r.Email, Source: r.Source,
				},
				SessionID: r.Session.ID, Visitor: visitor,
				StartedAt: api.TimeOf(r.Session.StartedAt),
				EndedAt:   api.TimeOf(r.Session.LastActiveAt),
				Pages:     r.Session.Pages, DurationMS: r.Session.DurationMs,
			})
		}
		for account, events := range ended {
			if err := webhook.Emit(ctx, tx, c.deps.Tokens, account, events...); err != nil {
				return err
			}
		}
		if c.deps.Notifier == nil || n == 0 {
			return nil
		}
		return c.deps.Notifier.SessionsEnded(ctx, tx, ids)
	})
	return n, err
}
