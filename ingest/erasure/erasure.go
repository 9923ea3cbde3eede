// Package erasure takes people who were erased out of what is stored of events. An erasure is a row in Postgres, with the access links
// that it removed (crud/person). Consumers blank the events of these links as they store them (Set), and this package's service blanks
// those that are stored already: it changes rows in place, while consumers go on, so that a row keeps its place in the log and everything
// that is counted. It also removes the copies that SQL users see.
//
// The service is what guarantees it. It looks again every interval, since a consumer may have stored an event before it knew of the
// erasure, and spools, dead letters and repairs bring back what was sent long ago.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
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
	Interval time.Duration `name:"erasure-interval" default:"1h" help:"Shortest time between two times at which stored events of erased people are blanked, since each rewrites parts of a table. The first erasure after a pause is done at once."`
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

	// lookBack is what a process looks back when it begins, and lookOverlap later: rows have the time at which their insert began. Events
	// are stored by processes that have this service, so what is older was blank or has been found.
	lookBack    = 7 * 24 * time.Hour
	lookOverlap = time.Hour
)

// Job is a service.Service. Any number may run: a change that two of them ask for finds nothing to do the second time.
type Job struct {
	*service.Loop
	cfg    Config
	deps   Deps
	looked time.Time // when all links were last looked for

	errors  prometheus.Counter
	blanked prometheus.Counter
	pending prometheus.Gauge
}

// Deps is what the service works with; all of it is required.
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
		errors:  prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_erasure_errors_total", Help: "Attempts to blank events of erased people that failed and are repeated."}),
		blanked: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_erasures_total", Help: "Erasures of people of which all stored events are blank."}),
		pending: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_erasure_lag_seconds", Help: "Age of the oldest erasure of a person of which events are not blank; at most a week is promised."}),
	}
	d.Registerer.MustRegister(j.errors, j.blanked, j.pending)
	j.Loop = service.NewLoop("erasures", j.run)
	return j
}

func (j *Job) run(ctx context.Context, ready func()) error {
	ticker := time.NewTicker(refreshEvery)
	defer ticker.Stop()
	failing := false
	for first := true; ; first = false {
		err := j.deps.Set.Load(ctx, j.deps.Postgres) // before consumers begin
		if first {
			ready() // also after an error: events are stored, and blanked later
		}
		if err == nil {
			err = j.round(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			j.errors.Inc()
			if !failing { // once an outage, not at every attempt
				j.deps.Log.Warn("cannot blank events of erased people, will try again", "error", err)
			}
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// round blanks what new erasures are about, and looks for events of earlier ones, if it is time.
func (j *Job) round(ctx context.Context) error {
	recent, err := store.New(j.deps.Postgres.Unscoped()).LastBlanked(ctx, j.cfg.Interval.Seconds())
	if err != nil {
		return fmt.Errorf("look for erasures: %w", err)
	}
	if !recent {
		if _, err := j.Blank(ctx); err != nil {
			return err
		}
	}
	if time.Since(j.looked) < j.cfg.Interval {
		return nil
	}
	begin := time.Now()
	since := begin.Add(-lookBack)
	if !j.looked.IsZero() {
		since = j.looked.Add(-lookOverlap)
	}
	if err := j.LookAgain(ctx, since); err != nil {
		return err
	}
	j.looked = begin
	return nil
}

// Blank blanks what is stored of people whose erasure is not done, and records that it is. It returns how many erasures that were.
func (j *Job) Blank(ctx context.Context) (n int, err error) {
	q := store.New(j.deps.Postgres.Unscoped())
	rows, err := q.PendingErasures(ctx, erasuresAtOnce)
	if err != nil {
		return 0, fmt.Errorf("read erasures: %w", err)
	}
	j.pending.Set(0)
	if len(rows) == 0 {
		return 0, nil
	}
	j.pending.Set(time.Since(rows[0].ErasedAt).Seconds())
	ids := make([]uuid.UUID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	of, err := q.LinksOfErasures(ctx, ids)
	if err != nil {
		return 0, fmt.Errorf("read links of erasures: %w", err)
	}
	links := make([]link, len(of))
	for i, l := range of {
		links[i] = link{l.ID, l.AccountID}
	}
	if err := j.blank(ctx, links, time.Unix(0, 0)); err != nil {
		return 0, err
	}
	until, err := j.recordsUntil(ctx)
	if err != nil {
		return 0, err
	}
	if err := q.EndErasures(ctx, store.EndErasuresParams{IDs: ids, RecordsUntil: until}); err != nil {
		return 0, fmt.Errorf("record that events are blank: %w", err)
	}
	j.blanked.Add(float64(len(ids)))
	j.pending.Set(0)
	j.deps.Log.Info("blanked events of erased people", "erasures", len(ids), "links", len(links))
	return len(ids), nil
}

// blank blanks links, and looks again until there was nothing to do: a consumer may have stored an event meanwhile.
func (j *Job) blank(ctx context.Context, links []link, since time.Time) error {
	return j.withClickHouse(func(conn driver.Conn) error {
		for {
			n, err := blankAll(ctx, conn, links, since)
			if err != nil || n == 0 {
				return err
			}
		}
	})
}

// LookAgain blanks what was stored since a time of all people who were ever erased, and not blank.
func (j *Job) LookAgain(ctx context.Context, since time.Time) error {
	q := store.New(j.deps.Postgres.Unscoped())
	for after := uuid.Nil; ; {
		rows, err := q.SomeErasedLinks(ctx, store.SomeErasedLinksParams{After: after, RowLimit: erasedLinksPage})
		if err != nil {
			return fmt.Errorf("read links of erased people: %w", err)
		}
		if len(rows) == 0 {
			return nil
		}
		links := make([]link, len(rows))
		for i, r := range rows {
			links[i] = link{r.ID, r.AccountID}
		}
		if err := j.blank(ctx, links, since); err != nil {
			return err
		}
		after = rows[len(rows)-1].ID
	}
}

func (j *Job) withClickHouse(fn func(conn driver.Conn) error) (err error) {
	conn, err := clickhouse.Open(j.deps.ClickHouse, 1)
	if err != nil {
		return err //nolint:wrapcheck // it says what failed
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return fn(conn)
}

// recordsUntil returns when Kafka has dropped every record of now, nil if it keeps records forever.
func (j *Job) recordsUntil(ctx context.Context) (*time.Time, error) {
	client, err := kgo.NewClient(j.deps.Kafka.Options(j.deps.Log)...)
	if err != nil {
		return nil, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	longest, bounded, err := kafka.Retention(ctx, client, event.Topic, event.DeadLetterTopic)
	if err != nil || !bounded {
		return nil, err //nolint:wrapcheck // it says what failed
	}
	return new(time.Now().Add(longest)), nil
}
