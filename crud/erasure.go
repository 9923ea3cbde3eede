package crud

import (
	"context"
	"fmt"
	"time"

	"lodestone/crud/person"
	"lodestone/crud/queue"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// newRevocations puts together the record of what was revoked, in the place of the log of erasures.
func newRevocations(c Config, d Deps) (*Revocations, error) {
	place, err := OpenRevocations(c.Erasure.Place(c.Files.Store), c.Files.S3)
	if err != nil {
		return nil, err
	}
	return NewRevocations(RevocationDeps{Postgres: d.Postgres, Place: place, Log: d.Log, Registerer: d.Registerer}), nil
}

// Revocations returns what puts revocations on record, for the process to start and stop.
func (s *Service) Revocations() service.Service { return s.revocations }

// newEraser puts together what erases people.
func newEraser(c Config, d Deps) (*person.Eraser, error) {
	c.Erasure.Log = c.Erasure.Place(c.Files.Store)
	log, err := person.OpenLog(c.Erasure, c.Files.S3)
	if err != nil {
		return nil, err
	}
	if log == nil {
		d.Log.Warn("--erasure-log is not set: no one can be erased")
	}
	return person.NewEraser(c.Erasure, person.EraserDeps{Postgres: d.Postgres, Tokens: d.Tokens, Log: log, Logger: d.Log}),
		nil
}

// pruneEvery is the time between two rounds of Pruning, and pruneRetry that after one that failed.
const (
	pruneEvery = time.Hour
	pruneRetry = time.Minute
)

// Pruning returns what keeps queues from holding anything for longer than queue.Keep, for the
// process to start and stop.
func (s *Service) Pruning() service.Service {
	return service.Every("pruning of queues", pruneEvery, pruneRetry, s.log, s.prune)
}

// prune removes old mails, messages and answers. Until queues have nothing of a person who was
// erased, it has Postgres vacuum the tables once a day: a table that changes little keeps deleted
// rows for long, and statistics with values of them.
func (s *Service) prune(ctx context.Context) error {
	q := store.New(s.postgres.Unscoped())
	if err := q.PruneJobs(ctx, queue.PruneAt.Seconds()); err != nil {
		return fmt.Errorf("remove old jobs: %w", err)
	}
	if err := q.RemoveExpiredIdempotencyKeys(ctx, idempotency.Keep.Seconds()); err != nil {
		return fmt.Errorf("remove old idempotency keys: %w", err)
	}
	if err := q.PruneWebhooks(ctx, queue.PruneAt.Seconds()); err != nil {
		return fmt.Errorf("remove old messages to webhooks: %w", err)
	}
	if s.mailbox != nil {
		if err := s.mailbox.Prune(time.Now().Add(-queue.PruneAt)); err != nil {
			return err
		}
	}
	const oneMore = 24 * time.Hour
	due, err := q.VacuumDue(ctx, (queue.Keep + oneMore).Seconds())
	if err == nil && due {
		err = q.VacuumPeople(ctx)
	}
	if err != nil {
		return fmt.Errorf("vacuum tables with data about people: %w", err)
	}
	return nil
}

const replayPause = 5 * time.Second // after a failure

// Erasures returns the service that repeats erasures which the log has and a restored database has
// not. The process starts it before it serves requests: it is ready when all are repeated.
func (s *Service) Erasures() service.Service {
	return service.NewLoop("erasures", func(ctx context.Context, ready func()) error {
		err := service.Retry(ctx, replayPause, replayPause, func() error { return s.replay(ctx) },
			func(err error) (time.Duration, bool) {
				s.log.Error("cannot compare the log of erasures with Postgres; nothing is served until it can",
					"retry_in", replayPause, "error", err)
				return 0, true
			})
		if err != nil {
			return err
		}
		ready()
		<-ctx.Done()
		return nil
	})
}

func (s *Service) replay(ctx context.Context) error {
	if err := s.revocations.Replay(ctx); err != nil {
		return err
	}
	_, err := s.eraser.Replay(ctx)
	return err
}
