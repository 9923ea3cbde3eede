// Package erasure takes people who were erased out of what is stored of events. An erasure is a row
// in Postgres, with the access links that it removed (crud/person). Consumers blank the events of
// these links as they store them (Set), and this package's service blanks those that are stored
// already: it changes rows in place, while consumers go on, so that a row keeps its place in the
// log and everything that is counted. It also removes the copies that SQL users see.
//
// The service guarantees it. It looks again every interval, since a consumer may have stored an
// event before it knew of the erasure, and spools, dead letters and repairs bring back old events.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Config is the setting of the service.
type Config struct {
	Interval time.Duration `name:"erasure-interval" default:"1h" help:"Minimum interval between erasure runs in ClickHouse, each of which rewrites parts of a table. The first erasure after a pause is done at once."`

	// SpoolMaxAge is how long collectors' spools keep records (--spool-max-age); 0: forever.
	SpoolMaxAge time.Duration `kong:"-"`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Interval < time.Second || c.Interval > 24*time.Hour {
		return config.Invalid("--erasure-interval", "is out of range", "give a time from 1s to 24h")
	}
	return nil
}

const (
	refreshEvery    = 5 * time.Second // the set of links
	erasuresAtOnce  = 1000
	erasedLinksPage = 10_000

	// lookBack is the time that the first look of a process goes back, and lookOverlap that of
	// later ones: rows have the time at which their insert began. The processes that store events
	// run this service, so older rows were blank or have been found.
	lookBack    = 7 * 24 * time.Hour
	lookOverlap = time.Hour

	// lookPages bounds a step of a look. The next one follows after refreshEvery, perhaps in another
	// process.
	lookPages = 10
	// lookLock, with the number of the copy, is the key of the advisory lock under which one process
	// blanks, or looks. A change rewrites whole parts of a table, for hours where it is large, so two
	// processes are not to ask for the same.
	lookLock = 0x6c6f6465_6c6f0000 // "lodelo"

	kafkaTimeout = 10 * time.Second
)

// Job is a service.Service. Any number may run: one of them works at a time.
type Job struct {
	*service.Loop
	cfg  Config
	deps Deps

	errors  prometheus.Counter
	blanked prometheus.Counter
	pending prometheus.Gauge
}

// Deps are the dependencies of the service; all are required.
type Deps struct {
	Set        *Set
	Kafka      kafka.Config
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns the service.
func New(c Config, d Deps) *Job {
	j := &Job{
		cfg: c, deps: d,
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_erasure_errors_total",
			Help: "Failed attempts to blank the events of erased people; they are retried."}),
		blanked: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_erasures_total",
			Help: "Erasures whose stored events are all blanked."}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_erasure_lag_seconds",
			Help: "Age of the oldest erasure whose events are not all blanked; at most a week is promised."}),
	}
	d.Registerer.MustRegister(j.errors, j.blanked, j.pending)
	j.Loop = service.NewLoop("erasures", j.run)
	return j
}

func (j *Job) run(ctx context.Context, ready func()) error {
	// A round takes hours if it changes a large table, and consumers are to know of new erasures
	// meanwhile.
	rounds := make(chan struct{}, 1)
	var ended sync.WaitGroup
	ended.Go(func() {
		report := j.reporter(ctx)
		for range rounds {
			report(j.round(ctx))
		}
	})
	defer ended.Wait()
	defer close(rounds)

	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	report := j.reporter(ctx)
	for first := true; ; first = false {
		err := j.deps.Set.Load(ctx, j.deps.Postgres) // before consumers begin
		if first {
			ready() // also after an error: events are stored, and blanked later
		}
		report(err)
		if err == nil {
			select {
			case rounds <- struct{}{}:
			default: // one waits already
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// copy returns the number of the copy of the events that the service blanks.
func (j *Job) copy() int32 { return j.deps.ClickHouse.Number() }

// reporter returns a function that counts errors of attempts that follow each other, and logs the
// first of an outage.
func (j *Job) reporter(ctx context.Context) func(error) {
	failing := false
	return func(err error) {
		if err != nil && ctx.Err() == nil {
			j.errors.Inc()
			if !failing {
				j.deps.Log.Warn("cannot blank events of erased people, will try again", "error", err)
			}
		}
		failing = err != nil
	}
}

// round blanks what new erasures are about, and looks for events of earlier ones, if it is time.
func (j *Job) round(ctx context.Context) error {
	q := store.New(j.deps.Postgres.Unscoped())
	if err := q.CompleteErasures(ctx); err != nil { // those of a process that ended before it did so
		return fmt.Errorf("record that events are blank in every copy: %w", err)
	}
	recent, err := q.LastBlanked(ctx, store.LastBlankedParams{Seconds: j.cfg.Interval.Seconds(), Copy: j.copy()})
	if err != nil {
		return fmt.Errorf("look for erasures: %w", err)
	}
	var pending error // does not keep from looking: a change of rows may fail for long
	for more := !recent; more && pending == nil; {
		var n int
		n, pending = j.Blank(ctx)
		more = n == erasuresAtOnce // as after ClickHouse was restored
	}
	ended, err := j.scan(ctx)
	if ended {
		j.dateRecords(ctx)
	}
	return errors.Join(pending, err)
}

// Blank blanks what is stored of people whose erasure is not done, and records that it is. It
// returns how many erasures that were: none if another process does so.
func (j *Job) Blank(ctx context.Context) (n int, err error) {
	q := store.New(j.deps.Postgres.Unscoped())
	if rows, err := j.readPending(ctx, q); err != nil || len(rows) == 0 {
		return 0, err
	}
	err = j.alone(ctx, func() error {
		rows, err := j.readPending(ctx, q) // again: the process that did so before may have done these
		if err != nil || len(rows) == 0 {
			return err
		}
		n = len(rows)
		return j.blankPending(ctx, q, rows)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// alone calls fn unless another process does so.
func (j *Job) alone(ctx context.Context, fn func() error) error {
	return j.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		own := store.New(tx)
		mine, err := own.TryLock(ctx, lookLock+int64(j.copy()))
		if err != nil || !mine {
			return err
		}
		if err := own.AllowIdle(ctx); err != nil { // this transaction only holds the lock
			return err
		}
		return fn()
	})
}

// readPending returns the oldest erasures that are not done.
func (j *Job) readPending(ctx context.Context, q *store.Queries) ([]store.PendingErasuresRow, error) {
	rows, err := q.PendingErasures(ctx, store.PendingErasuresParams{Copy: j.copy(), RowLimit: erasuresAtOnce})
	if err != nil {
		return nil, fmt.Errorf("read erasures: %w", err)
	}
	j.pending.Set(0)
	if len(rows) > 0 {
		j.pending.Set(time.Since(rows[0].ErasedAt).Seconds())
	}
	return rows, nil
}

func (j *Job) blankPending(ctx context.Context, q *store.Queries, rows []store.PendingErasuresRow) error {
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	of, err := q.LinksOfErasures(ctx, ids)
	if err != nil {
		return fmt.Errorf("read links of erasures: %w", err)
	}
	links := make([]link, len(of))
	for i, l := range of {
		links[i] = link{l.ID, l.AccountID}
	}
	if err := j.blank(ctx, links, time.Unix(0, 0)); err != nil {
		return err
	}
	if err := q.EndErasures(ctx, store.EndErasuresParams{IDs: ids, Copy: j.copy()}); err != nil {
		return fmt.Errorf("record that events are blank: %w", err)
	}
	if err := q.CompleteErasures(ctx); err != nil {
		return fmt.Errorf("record that events are blank in every copy: %w", err)
	}
	j.dateRecords(ctx)
	j.blanked.Add(float64(len(ids)))
	j.pending.Set(0)
	j.deps.Log.Info("blanked events of erased people", "erasures", len(ids), "links", len(links))
	return nil
}

// blank blanks links, and looks again until there was nothing to do: a consumer may have stored an
// event meanwhile.
func (j *Job) blank(ctx context.Context, links []link, since time.Time) error {
	return j.withClickHouse(func(conn driver.Conn) error { return blankShards(ctx, conn, links, since) })
}

func blankShards(ctx context.Context, conn driver.Conn, links []link, since time.Time) error {
	return clickhouse.EachShard(conn, func(shard driver.Conn) error {
		for {
			n, err := blankAll(ctx, shard, links, since)
			if err != nil || n == 0 {
				return err
			}
		}
	})
}

// Rescan blanks what was stored since a time of all people who were ever erased, and not blank.
func (j *Job) Rescan(ctx context.Context, since time.Time) error {
	_, err := j.scanPage(ctx, uuid.Nil, since, math.MaxInt)
	return err
}

// scan continues the look for events of people who were erased before, or begins one if it is time,
// unless another process does. It reports whether a look ended. Events are brought by spools, dead
// letters, repairs, and consumers that did not know of an erasure yet.
func (j *Job) scan(ctx context.Context) (ended bool, err error) {
	q := store.New(j.deps.Postgres.Unscoped())
	if state, err := q.ErasureLook(ctx, j.copy()); err != nil || !j.due(state) {
		return false, err
	}
	err = j.alone(ctx, func() error {
		state, err := q.ErasureLook(ctx, j.copy())
		if err != nil || !j.due(state) {
			return err
		}
		ended, err = j.resumeScan(ctx, q, state)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for events of erased people: %w", err)
	}
	return ended, nil
}

func (j *Job) due(state store.ErasureLookRow) bool {
	return state.BeganAt != nil || state.LookedAt == nil || state.Now.Sub(*state.LookedAt) >= j.cfg.Interval
}

// resumeScan looks for a bounded number of links, and records how far it came.
func (j *Job) resumeScan(ctx context.Context, q *store.Queries, state store.ErasureLookRow) (ended bool, err error) {
	began, since := state.Now, state.Now.Add(-lookBack)
	if state.BeganAt != nil {
		began = *state.BeganAt
	}
	if state.LookedAt != nil {
		since = state.LookedAt.Add(-lookOverlap)
	}
	after, err := j.scanPage(ctx, state.After, since, lookPages)
	if err != nil {
		return false, err
	}
	if err := q.ContinueErasureLook(ctx, store.ContinueErasureLookParams{BeganAt: began, After: after,
		Copy: j.copy()}); err != nil || after != uuid.Nil {
		return false, err
	}
	return true, q.EndErasureLook(ctx, j.copy())
}

// scanPage looks for the links behind one, at most so many pages of them. It returns the last one,
// or uuid.Nil after all.
func (j *Job) scanPage(ctx context.Context, after uuid.UUID, since time.Time, pages int) (uuid.UUID, error) {
	q := store.New(j.deps.Postgres.Unscoped())
	for range pages {
		rows, err := q.SomeErasedLinks(ctx, store.SomeErasedLinksParams{After: after, RowLimit: erasedLinksPage})
		if err != nil {
			return after, fmt.Errorf("read links of erased people: %w", err)
		}
		if len(rows) == 0 {
			return uuid.Nil, nil
		}
		links := make([]link, len(rows))
		for i, r := range rows {
			links[i] = link{r.ID, r.AccountID}
		}
		if err := j.blank(ctx, links, since); err != nil {
			return after, err
		}
		after = rows[len(rows)-1].ID
	}
	return after, nil
}

func (j *Job) withClickHouse(fn func(conn driver.Conn) error) (err error) {
	conn, err := clickhouse.Open(j.deps.ClickHouse, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return fn(conn)
}

// dateRecords records when spools and Kafka have dropped every record from before the end of an
// erasure, where that is not known. It stays unknown where one of them keeps records forever. A
// Kafka that does not answer is asked again at the next look: the events are blank all the same.
func (j *Job) dateRecords(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, kafkaTimeout)
	defer cancel()
	if err := j.tryDateRecords(ctx); err != nil {
		j.deps.Log.Warn("cannot determine until when Kafka has records of erased people, will try again", "error", err)
	}
}

func (j *Job) tryDateRecords(ctx context.Context) error {
	q := store.New(j.deps.Postgres.Unscoped())
	if n, err := q.CountUndatedErasures(ctx); err != nil || n == 0 {
		return err
	}
	client, err := kgo.NewClient(j.deps.Kafka.Options(j.deps.Log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	// Views of landing pages belong to accounts that were deleted.
	longest, bounded, err := kafka.Retention(ctx, client, event.Topic, event.LinkViewTopic, event.DeadLetterTopic)
	if err != nil || !bounded || j.cfg.SpoolMaxAge == 0 {
		return err
	}
	// A record of before may be in a collector's spool, and come to Kafka last.
	return q.DateErasures(ctx, (longest + j.cfg.SpoolMaxAge).Seconds())
}
