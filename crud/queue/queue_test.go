package queue_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"lodestone/crud/queue"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// testTimeout bounds a wait for what must happen; it is no measure of speed.
const testTimeout = enginetest.Timeout

// greeting is a job of an account.
type greeting struct {
	AccountID uuid.UUID `json:"account_id"`
	Text      string    `json:"text"`
}

func (greeting) Kind() string { return "greeting" }

// worker passes on what it is given, and ends as the test says.
type worker struct {
	river.WorkerDefaults[greeting]
	got chan greeting
	do  func(ctx context.Context, job *river.Job[greeting]) error
}

func (w *worker) NextRetry(*river.Job[greeting]) time.Time { return time.Now() }

func (w *worker) Work(ctx context.Context, job *river.Job[greeting]) error {
	if w.do != nil {
		if err := w.do(ctx, job); err != nil {
			return err
		}
	}
	w.got <- job.Args
	return nil
}

type fixture struct {
	*queue.Queue
	*worker
	metrics *prometheus.Registry
}

// makeQueue returns a queue that is not started.
func makeQueue(t *testing.T, pool *postgres.Pool, do func(context.Context, *river.Job[greeting]) error) *fixture {
	t.Helper()
	return makeLoggingQueue(t, pool, slog.DiscardHandler, do)
}

func makeLoggingQueue(t *testing.T, pool *postgres.Pool, log slog.Handler,
	do func(context.Context, *river.Job[greeting]) error) *fixture {
	t.Helper()
	poll := time.Hour // who waits for a job waits for the notice of it
	if do != nil {
		poll = 100 * time.Millisecond // jobs that are tried again at once give none
	}
	f := &fixture{worker: &worker{got: make(chan greeting, 100), do: do}, metrics: prometheus.NewRegistry()}
	var err error
	f.Queue, err = queue.New(queue.Config{Poll: poll},
		queue.Deps{Postgres: pool, Log: slog.New(log), Registerer: f.metrics})
	require.NoError(t, err)
	require.NoError(t, f.AddQueue("greetings", 4))
	require.NoError(t, queue.Register(f.Queue, f.worker))
	return f
}

func (f *fixture) begin(t *testing.T) {
	t.Helper()
	enginetest.Run(t, f)
}

func (f *fixture) insert(ctx context.Context, tx pgx.Tx, g greeting) error {
	return f.Insert(ctx, tx, g, &river.InsertOpts{Queue: "greetings", MaxAttempts: 3})
}

// listening waits until the queue hears of new jobs.
func (f *fixture) listening(t *testing.T, pool *postgres.Pool) {
	t.Helper()
	require.Eventually(t, func() bool {
		// Until then a job may have been missed; then a second one brings both.
		require.NoError(t, pool.Transaction(t.Context(),
			func(tx pgx.Tx) error { return f.insert(t.Context(), tx, greeting{Text: "ready?"}) }))
		return len(f.got) > 0
	}, testTimeout, 50*time.Millisecond)
	require.Eventually(t, func() bool {
		for len(f.got) > 0 {
			<-f.got
		}
		var left int
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
			"SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&left))
		return left == 0 && len(f.got) == 0
	}, testTimeout, 10*time.Millisecond)
}

func state(t *testing.T, pool *postgres.Pool) (state string, attempt int) {
	t.Helper()
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
		"SELECT state, attempt FROM river_job WHERE kind = 'greeting' ORDER BY id DESC LIMIT 1").Scan(&state, &attempt))
	return state, attempt
}

func TestAJobRunsWhenItsTransactionCommits(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	f := makeQueue(t, pool, nil)
	f.begin(t)
	f.listening(t, pool)
	account := uuid.New()
	undone := errors.New("undone")
	require.ErrorIs(t, pool.Account(t.Context(), account, func(tx pgx.Tx) error {
		require.NoError(t, f.insert(t.Context(), tx, greeting{account, "never"}))
		return undone
	}), undone)
	require.NoError(t, pool.Account(t.Context(), account, func(tx pgx.Tx) error {
		return f.insert(t.Context(), tx, greeting{account, "hello"})
	}))
	require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
		return f.insert(t.Context(), tx, greeting{Text: "of the installation"})
	}))
	require.ElementsMatch(t, []greeting{{account, "hello"}, {uuid.Nil, "of the installation"}},
		[]greeting{<-f.got, <-f.got})
	require.Empty(t, f.got)
}

// An account inserts and sees its own jobs only, also those that a unique key names, and changes
// none.
func TestAnAccountHasItsOwnJobsOnly(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	f := makeQueue(t, pool, nil)
	mine, other := uuid.New(), uuid.New()
	unique := &river.InsertOpts{Queue: "greetings", UniqueOpts: river.UniqueOpts{ByArgs: true}}
	for range 2 { // the second one is the same job
		for _, account := range []uuid.UUID{mine, other} {
			require.NoError(t, pool.Account(t.Context(), account, func(tx pgx.Tx) error {
				return f.Insert(t.Context(), tx, greeting{account, "hello"}, unique)
			}))
		}
	}
	require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		return f.insert(t.Context(), tx, greeting{other, "planted"})
	}))
	require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		return f.insert(t.Context(), tx, greeting{Text: "of no one"})
	}))
	require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		return f.Insert(t.Context(), tx, unknown{}, nil)
	}))
	require.NoError(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		rows, err := tx.Query(t.Context(), "SELECT args ->> 'account_id' FROM river_job")
		require.NoError(t, err)
		seen, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.Equal(t, []string{mine.String()}, seen)
		return nil
	}))
	for _, sql := range []string{"UPDATE river_job SET args = '{}'", "UPDATE river_job SET state = 'available'",
		"SELECT * FROM river_queue", "SELECT * FROM river_leader"} {
		require.Error(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), sql)
			return err
		}), sql)
	}
	var jobs int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM river_job").Scan(&jobs))
	require.Equal(t, 2, jobs)

	// An erasure removes jobs of its account.
	require.NoError(t, pool.Account(t.Context(), mine, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "DELETE FROM river_job")
		return err
	}))
	var left uuid.UUID
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT args ->> 'account_id' FROM river_job").Scan(&left))
	require.Equal(t, other, left)
}

type unknown struct{}

func (unknown) Kind() string { return "unknown" }

func TestOutcomesAreCountedAndFailuresKept(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	failing := errors.New("no luck")
	f := makeQueue(t, pool, func(_ context.Context, job *river.Job[greeting]) error {
		switch {
		case job.Args.Text == "hopeless":
			return river.JobCancel(failing)
		case job.Args.Text == "unlucky", job.Attempt == 1:
			return failing
		default:
			return nil
		}
	})
	for _, text := range []string{"hopeless", "unlucky", "second time lucky"} {
		require.NoError(t, pool.Transaction(t.Context(),
			func(tx pgx.Tx) error { return f.insert(t.Context(), tx, greeting{Text: text}) }))
	}
	f.begin(t)
	require.Equal(t, "second time lucky", (<-f.got).Text)
	count := func(sql string) (n int) {
		require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE "+sql).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool {
		return count("state = 'discarded' AND args ->> 'text' = 'unlucky' AND cardinality(errors) = 3") == 1 &&
			count("state = 'cancelled' AND args ->> 'text' = 'hopeless'") == 1 && count("state = 'completed'") == 1
	}, testTimeout, 10*time.Millisecond)
	for series, want := range map[string]int{"completed": 1, "cancelled": 1, "discarded": 1, "retried": 3} {
		require.Equal(t, want, int(value(t, f.metrics, "lodestone_queue_attempts_total", "outcome", series)), series)
	}
	awaitValue(t, f.metrics, "lodestone_queue_jobs", "state", "discarded", 1)
}

// awaitValue waits until a series has a value: a look at the queue that takes longer than a scrape
// may has none.
func awaitValue(t *testing.T, r prometheus.Gatherer, name, label, is string, want float64) {
	t.Helper()
	require.Eventually(t, func() bool { return value(t, r, name, label, is) == want }, testTimeout, 10*time.Millisecond)
}

// value returns one series of a metric.
func value(t *testing.T, r prometheus.Gatherer, name, label, is string) float64 {
	t.Helper()
	families, err := r.Gather()
	require.NoError(t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == name && l.GetName() == label && l.GetValue() == is {
					return m.GetCounter().GetValue() + m.GetGauge().GetValue()
				}
			}
		}
	}
	return 0
}

func TestDepthAndAge(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	f := makeQueue(t, pool, nil) // no one works
	for range 3 {
		require.NoError(t, pool.Transaction(t.Context(), func(tx pgx.Tx) error {
			return f.Insert(t.Context(), tx, greeting{}, &river.InsertOpts{Queue: "greetings",
				ScheduledAt: time.Now().Add(-time.Hour)})
		}))
	}
	_, err := pool.Unscoped().Exec(t.Context(), "UPDATE river_job SET state = 'available'")
	require.NoError(t, err)
	awaitValue(t, f.metrics, "lodestone_queue_jobs", "state", "available", 3)
	var age float64
	require.Eventually(t, func() bool {
		age = value(t, f.metrics, "lodestone_queue_oldest_seconds", "queue", "greetings")
		return age > 0
	}, testTimeout, 10*time.Millisecond)
	require.InDelta(t, 3600, age, 60)
}

// A job in flight is cancelled when its grace is over, and is there for the next process at once,
// without having lost an attempt.
func TestStoppedInTheMiddleOfAJob(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	running := make(chan struct{})
	first := makeQueue(t, pool, func(ctx context.Context, _ *river.Job[greeting]) error {
		close(running)
		<-ctx.Done()
		return ctx.Err()
	})
	first.begin(t)
	require.NoError(t, pool.Transaction(t.Context(),
		func(tx pgx.Tx) error { return first.insert(t.Context(), tx, greeting{Text: "hello"}) }))
	<-running
	require.NoError(t, first.Stop(t.Context()))
	require.Equal(t, 1, int(value(t, first.metrics, "lodestone_queue_attempts_total", "outcome", "interrupted")))
	got, attempt := state(t, pool)
	require.Equal(t, "available", got)
	require.Equal(t, 0, attempt)

	second := makeQueue(t, pool, func(context.Context, *river.Job[greeting]) error { return nil })
	second.begin(t)
	require.Equal(t, "hello", (<-second.got).Text)
}

// Several processes share the work: each job runs once.
func TestReplicas(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	done := func(context.Context, *river.Job[greeting]) error { return nil }
	a, b := makeQueue(t, pool, done), makeQueue(t, pool, done)
	a.begin(t)
	b.begin(t)
	const jobs = 60
	for range jobs {
		require.NoError(t, pool.Transaction(t.Context(),
			func(tx pgx.Tx) error { return a.insert(t.Context(), tx, greeting{Text: uuid.NewString()}) }))
	}
	seen := map[string]bool{}
	for range jobs {
		select {
		case g := <-a.got:
			seen[g.Text] = true
		case g := <-b.got:
			seen[g.Text] = true
		}
	}
	require.Len(t, seen, jobs)
	require.Empty(t, a.got)
	require.Empty(t, b.got)
}

func TestPeriodicJobRunsSoonAfterTheStart(t *testing.T) {
	t.Parallel()
	f := makeQueue(t, enginetest.MigratedPostgres(t), nil)
	f.AddPeriodic("greet", river.PeriodicInterval(time.Hour), greeting{Text: "hourly"})
	f.begin(t)
	require.Equal(t, "hourly", (<-f.got).Text)
}

// A process starts while Postgres is away, and works when it is there.
func TestStartWithoutPostgres(t *testing.T) {
	t.Parallel()
	server, database, stop := enginetest.RunPostgres(t)
	pool := enginetest.PostgresPool(t, database)
	stop()
	f := makeQueue(t, pool, func(context.Context, *river.Job[greeting]) error { return nil })
	f.begin(t)
	require.Zero(t, value(t, f.metrics, "lodestone_queue_jobs", "state", "available"))
	enginetest.Run(t, server)
	require.NoError(t, pool.Transaction(t.Context(),
		func(tx pgx.Tx) error { return f.insert(t.Context(), tx, greeting{Text: "hello"}) }))
	require.Equal(t, "hello", (<-f.got).Text)
	require.NoError(t, f.Stop(t.Context()))
}

// When Postgres was away while jobs were waited for, the next ones run all the same.
func TestPostgresRestarts(t *testing.T) {
	t.Parallel()
	server, database, _ := enginetest.RunPostgres(t)
	pool := enginetest.PostgresPool(t, database)
	f := makeQueue(t, pool, func(context.Context, *river.Job[greeting]) error { return nil })
	f.begin(t)
	insert := func(text string) error {
		return pool.Transaction(t.Context(), func(tx pgx.Tx) error { return f.insert(t.Context(), tx, greeting{Text: text}) })
	}
	require.NoError(t, insert("before"))
	require.Equal(t, "before", (<-f.got).Text)
	require.NoError(t, server.Stop(t.Context()))
	require.Error(t, insert("never"))
	require.NoError(t, server.Start(t.Context()))
	require.NoError(t, insert("after"))
	require.Equal(t, "after", (<-f.got).Text)
	require.NoError(t, f.Stop(t.Context()))
}

func TestStopWithoutPostgres(t *testing.T) {
	t.Parallel()
	pool := enginetest.PostgresPool(t, "postgres://u:p@127.0.0.1:1/d")
	f := makeQueue(t, pool, nil)
	require.NoError(t, f.Start(t.Context()))
	require.NoError(t, f.Stop(t.Context()))
}

// warnings passes on the messages of warnings.
type warnings chan string

func (w warnings) Enabled(_ context.Context, l slog.Level) bool { return l == slog.LevelWarn }
func (w warnings) WithAttrs([]slog.Attr) slog.Handler           { return w }
func (w warnings) WithGroup(string) slog.Handler                { return w }

func (w warnings) Handle(_ context.Context, r slog.Record) error {
	w <- r.Message
	return nil
}

// Jobs of a restored database wait also when the look whether it was resumed fails, although
// Postgres answers what comes next.
func TestARestoredDatabaseStaysPausedWhenTheLookFails(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	exec := func(sql string) {
		_, err := pool.Unscoped().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec("INSERT INTO restored (backup, taken_at) VALUES ('b', now())")
	exec("ALTER TABLE restored RENAME TO away")
	warned := make(warnings, 100)
	f := makeLoggingQueue(t, pool, warned, func(context.Context, *river.Job[greeting]) error { return nil })
	await := func(message string) {
		for {
			select {
			case got := <-warned:
				if got == message {
					return
				}
			case <-f.got:
				require.Fail(t, "a job ran while the database was paused")
			case <-time.After(testTimeout):
				require.Fail(t, "no such warning", message)
			}
		}
	}
	require.NoError(t, pool.Transaction(t.Context(),
		func(tx pgx.Tx) error { return f.insert(t.Context(), tx, greeting{Text: "hello"}) }))
	f.begin(t)
	await("the queue of mails and webhooks cannot start, will try again")
	exec("ALTER TABLE away RENAME TO restored")
	await("mails, messages and webhooks are held: the database was restored")
	got, _ := state(t, pool)
	require.Equal(t, "available", got)
	exec("UPDATE restored SET resumed_at = now()")
	require.Equal(t, "hello", (<-f.got).Text)
	require.NoError(t, f.Stop(t.Context()))
}

// The migration makes what River's own migrations make, in the version that is linked.
func TestSchemaIsRivers(t *testing.T) {
	t.Parallel()
	ours, theirs := enginetest.MigratedPostgres(t), enginetest.PostgresPool(t, enginetest.Postgres(t))
	migrator := func(p *postgres.Pool) *rivermigrate.Migrator[pgx.Tx] {
		m, err := rivermigrate.New(riverpgxv5.New(p.Unscoped()), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		return m
	}
	_, err := migrator(theirs).Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	valid, err := migrator(ours).Validate(t.Context(), nil)
	require.NoError(t, err)
	require.True(t, valid.OK, "River has migrations that ours lack: %v", valid.Messages)
	require.Equal(t, describe(t, theirs), describe(t, ours))
}

// describe lists River's columns, constraints, indexes and functions.
func describe(t *testing.T, pool *postgres.Pool) []string {
	t.Helper()
	rows, err := pool.Unscoped().Query(t.Context(), `
		SELECT format('%s.%s %s null=%s default=%s', table_name, column_name, udt_name, is_nullable, column_default)
		FROM information_schema.columns WHERE table_schema = 'public' AND table_name LIKE 'river%'
		UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint WHERE conrelid::regclass::text LIKE 'river%'
		UNION ALL SELECT replace(indexdef, '_pkey1', '_pkey') FROM pg_indexes WHERE tablename LIKE 'river%'
		UNION ALL SELECT format('%s %s', relname, relpersistence) FROM pg_class WHERE relname LIKE 'river%' AND relkind = 'r'
		UNION ALL SELECT format('%s %s', proname, pg_get_function_identity_arguments(oid)) FROM pg_proc WHERE proname LIKE 'river%'
		UNION ALL SELECT format('%s %s', enumtypid::regtype, string_agg(enumlabel, ',' ORDER BY enumlabel)) FROM pg_enum GROUP BY enumtypid
		ORDER BY 1`)
	require.NoError(t, err)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return lines
}
