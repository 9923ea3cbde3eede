package capture

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

const (
	forgetQueue   = "capture"
	forgetEvery   = time.Hour
	keepExpired   = 7 * 24 * time.Hour // a verification, so that its pages can say that it is over
	forgetTimeout = time.Minute
)

// forgetJob is the job that deletes what is of no use any more.
type forgetJob struct{}

// Kind implements river.JobArgs.
func (forgetJob) Kind() string { return "forget-visitors" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (forgetJob) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: forgetQueue, MaxAttempts: 3}
}

type forgetter struct {
	river.WorkerDefaults[forgetJob]
	db      *postgres.Pool
	limiter *ratelimit.Visitors
	now     func() time.Time
}

// Forget has old counts of visitors and old verifications deleted, every hour.
func Forget(q *queue.Queue, db *postgres.Pool, limiter *ratelimit.Visitors) error {
	if err := q.AddQueue(forgetQueue, 1); err != nil {
		return err
	}
	if err := queue.Register(q, &forgetter{db: db, limiter: limiter, now: time.Now}); err != nil {
		return err
	}
	q.AddPeriodic("forget-visitors", river.PeriodicInterval(forgetEvery), forgetJob{})
	return nil
}

// Timeout implements river.Worker.
func (*forgetter) Timeout(*river.Job[forgetJob]) time.Duration { return forgetTimeout }

// Work implements river.Worker.
func (f *forgetter) Work(ctx context.Context, _ *river.Job[forgetJob]) error {
	if err := f.limiter.Forget(ctx); err != nil {
		return err
	}
	if _, err := store.New(f.db.Unscoped()).ForgetVerifications(ctx, f.now().Add(-keepExpired)); err != nil {
		return fmt.Errorf("forget verifications: %w", err)
	}
	return nil
}
