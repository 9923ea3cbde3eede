package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Backlog counts the restored mails, messages and webhooks that were not yet sent at the backup.
type Backlog struct {
	Restored store.Restored
	Jobs     int64 // mails and messages
	Webhooks int64 // deliveries
}

// Paused reports whether mails, messages and webhooks wait for Resume, and what waits.
func Paused(ctx context.Context, pool *postgres.Pool) (w Backlog, paused bool, err error) {
	q := store.New(pool.Unscoped())
	w.Restored, err = q.RestoredFrom(ctx)
	if errors.Is(err, pgx.ErrNoRows) {
		return w, false, nil
	}
	if err == nil {
		w.Jobs, err = q.WaitingJobs(ctx, w.Restored.RestoredAt)
	}
	if err == nil {
		w.Webhooks, err = q.WaitingDeliveries(ctx, w.Restored.RestoredAt)
	}
	if err != nil {
		return w, false, fmt.Errorf("look for a restore: %w", err)
	}
	return w, w.Restored.ResumedAt == nil, nil
}

// dropReason is shown in the log of webhooks.
const dropReason = "It waited when the installation was backed up, and may have been delivered since. It was not sent after the restore."

// Resume lets mails, messages and webhooks leave the installation again. What waited in the backup
// may have left before the restore, so it is dropped, unless it is to be sent.
func Resume(ctx context.Context, pool *postgres.Pool, send bool) error {
	err := pool.RetryTransaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		r, err := q.RestoredFrom(ctx)
		if err != nil {
			return err
		}
		if r.ResumedAt != nil {
			return nil
		}
		if !send {
			if err := drop(ctx, q, r); err != nil {
				return err
			}
		}
		return q.ResumeDeliveries(ctx)
	})
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	return nil
}

func drop(ctx context.Context, q *store.Queries, r store.Restored) error {
	for _, step := range []func() error{
		func() error { _, err := q.DropWaitingJobs(ctx, r.RestoredAt); return err },
		func() error {
			_, err := q.FailWaitingDeliveries(ctx, store.FailWaitingDeliveriesParams{Reason: dropReason, Before: r.RestoredAt})
			return err
		},
		func() error { _, err := q.EndRestoredSessions(ctx, r.RestoredAt); return err },
		func() error { _, err := q.SettleRestoredReadings(ctx, r.RestoredAt); return err },
		func() error { return q.SkipRestoredDigests(ctx, r.RestoredAt) },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
