package signin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// forgetEvery is how often what is over is deleted.
const forgetEvery = time.Hour

// forgetting is the job that deletes what is over. It may run twice.
type forgetting struct{}

// Kind implements river.JobArgs.
func (forgetting) Kind() string { return "forget-sign-ins" }

// Forget has tries to sign in, sessions and invitations that are over deleted, every hour.
func Forget(q *queue.Queue, db *postgres.Pool) error {
	err := queue.Register(q, river.WorkFunc(func(ctx context.Context, _ *river.Job[forgetting]) error {
		rows := store.New(db.Unscoped())
		return errors.Join(rows.ForgetSignIns(ctx), rows.ForgetUserSessions(ctx), rows.ForgetInvitations(ctx), rows.ForgetOpenIDRequests(ctx))
	}))
	if err != nil {
		return err
	}
	q.AddPeriodic("forget-sign-ins", river.PeriodicInterval(forgetEvery), forgetting{})
	return nil
}

// Forms are the forms that were sent after their session had ended, and wait until their senders have signed in again.
type Forms struct {
	Postgres *postgres.Pool
	Tokens   *token.Ring
}

// Forget removes those forms of an account that mention one of the addresses, given by their keys. Those whose token key is missing can be read by
// no one, and stay.
func (f Forms) Forget(ctx context.Context, account uuid.UUID, keys []string) error {
	q := store.New(f.Postgres.Unscoped())
	rows, err := q.KeptFormsOfAccount(ctx, account)
	if err != nil {
		return fmt.Errorf("read kept forms: %w", err)
	}
	for _, row := range rows {
		text, err := f.Tokens.Open(sealing, row.KeptForm, row.ID[:])
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return fmt.Errorf("open kept form: %w", err)
		}
		if !slices.ContainsFunc(keys, func(key string) bool { return email.MentionsJSON(text, key) }) {
			continue
		}
		if err := q.ForgetKeptForm(ctx, store.ForgetKeptFormParams{ID: row.ID, Was: row.KeptForm}); err != nil {
			return fmt.Errorf("remove kept form: %w", err)
		}
	}
	return nil
}
