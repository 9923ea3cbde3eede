// Package queue does background work that a transaction asked for: the job is a row of Postgres
// that is inserted in that transaction, so the job exists if and only if the transaction commits.
// Jobs are tried again until they succeed or their attempts are used up, by any of the processes
// that share the database.
//
// A job runs at least once: a process that is killed after the work and before the job is marked as
// completed leaves it to be rescued and run again.
package queue

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"lodestone/pkg/logline"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	// defaultPoll is rare enough that an idle installation does next to nothing. pooledPoll is how
	// often queues look for jobs where a pooler stands before Postgres, which cannot notify of them.
	defaultPoll = 5 * time.Second
	pooledPoll  = time.Second

	// jobTimeout bounds a job whose worker names no other bound.
	jobTimeout = time.Minute

	// rescueAfter is when a job that a killed process left running is run by another. It is longer
	// than any job may take.
	rescueAfter = 2 * time.Minute

	// The arguments of jobs hold addresses and links that open documents, so completed ones go soon.
	// What failed for good stays long enough to be looked at.
	completedRetention = time.Minute
	failedRetention    = Keep
)

const (
	// Keep is the longest time for which a queue holds anything about a person, whatever becomes of
	// it: a mail, a message to a webhook, a download to be reported.
	Keep = 7 * 24 * time.Hour
	// PruneAt is the age at which it is removed: what looks for it every hour may be late.
	PruneAt = Keep - 3*time.Hour
)

// Config is the configuration of a process.
type Config struct {
	// Grace is the time that jobs in flight get to end when the queue is stopped; after it their
	// contexts are cancelled, and they are run again by whoever works next, without losing an attempt.
	Grace time.Duration
	// Poll is how often each queue looks for jobs. Postgres notifies of new ones at once; looking
	// finds those whose notification was missed, because a connection was down. Zero: 5 s, or 1 s
	// behind a pooler, which passes on no notifications; at least 100 ms.
	Poll time.Duration
}

// Deps are the dependencies of a queue. All are required.
type Deps struct {
	Postgres   *postgres.Pool
	Log        *slog.Logger // takes warnings and errors, and at the level DEBUG what River does routinely
	Registerer prometheus.Registerer
}

// Queue is the one queue of a process, a service.Service. Queues and workers are added before it is
// started; Insert is safe for concurrent use, started or not.
type Queue struct {
	*service.Loop
	cfg      Config
	pool     *postgres.Pool
	inserter *river.Client[pgx.Tx] // only inserts, so that it needs no connection of its own
	workers  *river.Workers
	queues   map[string]river.QueueConfig
	periodic []*river.PeriodicJob
	log      *slog.Logger
	metrics  *metrics
}

// New returns a queue without workers.
func New(c Config, d Deps) (*Queue, error) {
	q := &Queue{cfg: c, pool: d.Postgres, workers: river.NewWorkers(), log: d.Log,
		metrics: newMetrics(d.Postgres, d.Registerer)}
	// A client has to have one queue to count as one that works; periodic jobs go here as well.
	q.queues = map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 2}}
	if err := river.AddWorkerSafely(q.workers,
		river.WorkFunc(func(context.Context, *river.Job[idle]) error { return nil })); err != nil {
		return nil, fmt.Errorf("make queue: %w", err)
	}
	var err error
	q.inserter, err = river.NewClient(riverpgxv5.New(d.Postgres.Unscoped()),
		&river.Config{Logger: slog.New(logline.Foreign(d.Log.Handler())), Workers: q.workers})
	if err != nil {
		return nil, fmt.Errorf("make queue: %w", err)
	}
	q.Loop = service.NewLoop("queue", q.run)
	return q, nil
}

// client returns what does the jobs.
func (q *Queue) client() (*river.Client[pgx.Tx], error) {
	pooled := q.pool.IsPooled()
	poll := defaultPoll
	if pooled {
		poll = pooledPoll
	}
	client, err := river.NewClient(riverpgxv5.New(q.pool.Unscoped()), &river.Config{
		CancelledJobRetentionPeriod: failedRetention,
		CompletedJobRetentionPeriod: completedRetention,
		DiscardedJobRetentionPeriod: failedRetention,
		FetchPollInterval:           cmp.Or(q.cfg.Poll, poll),
		JobTimeout:                  jobTimeout,
		Logger:                      slog.New(logline.Foreign(q.log.Handler())),
		Middleware:                  []rivertype.Middleware{river.WorkerMiddlewareFunc(q.metrics.work)},
		PeriodicJobs:                q.periodic,
		PollOnly:                    pooled,
		Queues:                      q.queues,
		RescueStuckJobsAfter:        rescueAfter,
		SoftStopTimeout:             max(q.cfg.Grace, time.Millisecond),
		Workers:                     q.workers,
	})
	if err != nil {
		return nil, fmt.Errorf("make queue: %w", err)
	}
	return client, nil
}

// idle is a kind of job that no one inserts: a queue without any worker would not start.
type idle struct{}

// Kind implements river.JobArgs.
func (idle) Kind() string { return "idle" }

// AddQueue adds a named queue, in which this process runs so many jobs at once. Jobs of one queue
// do not wait for those of another.
func (q *Queue) AddQueue(name string, workers int) error {
	if _, twice := q.queues[name]; twice {
		return fmt.Errorf("add queue %s: there is one of that name", name)
	}
	q.queues[name] = river.QueueConfig{MaxWorkers: workers}
	q.metrics.names = append(q.metrics.names, name)
	return nil
}

// Register says who does the jobs of a kind. A worker's error is logged and stored with the job, so
// it must hold no secret. A kind can be inserted only where it is registered.
func Register[T river.JobArgs](q *Queue, w river.Worker[T]) error {
	if err := river.AddWorkerSafely(q.workers, w); err != nil {
		return fmt.Errorf("register worker: %w", err)
	}
	var job T
	q.metrics.begin(job.Kind())
	return nil
}

// AddPeriodic inserts a job at each time of a schedule, and soon after each start: times that
// passed while no process ran are not made up for. One process of all does it, but two may do it at
// the same time around a change, so the job has to be harmless when it runs twice. id names it in
// the log.
func (q *Queue) AddPeriodic(id string, schedule river.PeriodicSchedule, args river.JobArgs) {
	job := river.NewPeriodicJob(schedule, func() (river.JobArgs, *river.InsertOpts) { return args, nil },
		&river.PeriodicJobOpts{ID: id, RunOnStart: true})
	q.periodic = append(q.periodic, job)
}

// Insert adds a job in a transaction: it runs after the commit, or never. In a transaction of an
// account the arguments have to name that account in their JSON field account_id; row-level
// security refuses any other. Options may be nil.
func (q *Queue) Insert(ctx context.Context, tx pgx.Tx, args river.JobArgs, options *river.InsertOpts) error {
	return q.InsertAll(ctx, tx, []river.JobArgs{args}, options)
}

// InsertAll is Insert for jobs of one kind.
func (q *Queue) InsertAll(ctx context.Context, tx pgx.Tx, jobs []river.JobArgs, options *river.InsertOpts) error {
	if len(jobs) == 0 {
		return nil
	}
	params := make([]river.InsertManyParams, len(jobs))
	for i, args := range jobs {
		params[i] = river.InsertManyParams{Args: args, InsertOpts: options}
	}
	inserted, err := q.inserter.InsertManyTx(ctx, tx, params)
	if err != nil {
		return fmt.Errorf("insert job %s: %w", jobs[0].Kind(), err)
	}
	// River tells of one insert in a tenth of a second, and believes that it was heard. If the
	// transaction of that one is rolled back, or takes longer, no one hears of the others. The same
	// notice twice in one transaction is sent once.
	notice := fmt.Sprintf(`{"queue": %q}`, inserted[0].Job.Queue)
	if err := store.New(tx).WakeQueues(ctx, notice); err != nil {
		return fmt.Errorf("tell of job %s: %w", jobs[0].Kind(), err)
	}
	return nil
}

// run works until ctx ends. A process starts also while Postgres is away.
func (q *Queue) run(ctx context.Context, ready func()) error {
	ready()
	client := q.start(ctx)
	if client == nil {
		return nil
	}
	select {
	case <-ctx.Done():
	case <-client.Stopped():
		return nil // the loop reports that no one asked for it
	}
	// Bounded by the grace and by how long workers take to notice the end of their contexts; whoever
	// stops the queue bounds the wait.
	return client.Stop(context.WithoutCancel(ctx))
}

// start returns the client that works, or nil if ctx ended before.
func (q *Queue) start(ctx context.Context) *river.Client[pgx.Tx] {
	const longest = 5 * time.Second
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, longest) {
		client, err := q.tryStart(ctx)
		if err == nil {
			return client
		}
		if ctx.Err() == nil && (pause == longest || !postgres.IsUnavailable(err)) {
			q.log.Warn("the queue of mails and webhooks cannot start, will try again", "error", err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
	}
}

// tryStart returns a client that works, unless ctx ends or Postgres fails.
func (q *Queue) tryStart(ctx context.Context) (*river.Client[pgx.Tx], error) {
	if err := q.awaitResume(ctx); err != nil {
		return nil, err
	}
	client, err := q.client()
	if err != nil {
		return nil, err
	}
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return client, nil
}

// resumeEvery is the time between two looks whether a restored installation was resumed.
const resumeEvery = time.Second

// awaitResume waits while what leaves the installation is paused after a restore. A look that fails
// is an error: Postgres may answer the client that starts next, and nothing looks again after that.
func (q *Queue) awaitResume(ctx context.Context) error {
	for first := true; ; first = false {
		paused, err := store.New(q.pool.Unscoped()).DeliveriesPaused(ctx)
		if err != nil {
			return fmt.Errorf("look whether the database was restored: %w", err)
		}
		if !paused {
			return nil
		}
		if first {
			q.log.Warn("mails, messages and webhooks are held: the database was restored",
				"remedy", "lodestone restore resume")
		}
		if err := service.Sleep(ctx, resumeEvery); err != nil {
			return err
		}
	}
}
