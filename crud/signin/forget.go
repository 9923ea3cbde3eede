package signin

import (
	"context"
	"errors"
	"time"

	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// forgetEvery is how often what is over is deleted.
const forgetEvery = time.Hour

// forgetJob is the job that deletes what is over. It may run twice.
type forgetJob struct{}

// Kind implements river.JobArgs.
func (forgetJob) Kind() string { return "forget-sign-ins" }

// Forget has tries to sign in, sessions and invitations that are over deleted, every hour.
func Forget(q *queue.Queue, db *postgres.Pool) error {
	err := queue.Register(q, river.WorkFunc(func(ctx context.Context, _ *river.Job[forgetJob]) error {
		rows := store.New(db.Unscoped())
		return errors.Join(rows.ForgetSignIns(ctx), rows.ForgetUserSessions(ctx), rows.ForgetInvitations(ctx),
			rows.ForgetOpenIDRequests(ctx), rows.ForgetPasskeyChallenges(ctx))
	}))
	if err != nil {
		return err
	}
	q.AddPeriodic("forget-sign-ins", river.PeriodicInterval(forgetEvery), forgetJob{})
	return nil
}
