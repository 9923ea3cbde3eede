package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Config holds the settings of the running check.
type Config struct {
	Interval time.Duration `kong:"-"`
	Offsets  int64         `kong:"-"`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.Interval = 5 * time.Minute
	c.Offsets = 500_000
	return nil
}

const (
	// "lodewa", with the number of the copy the key of the advisory lock that one round holds
	watchLock    = 0x6c6f6465_77610000
	watchSettle  = 5 * time.Second
	watchTimeout = 10 * time.Minute // of one round
	// newest offsets of a partition that are counted, and in which doubles are looked for
	watchNewest    = 1_000_000
	watchedRanges  = 100 // with differences, which are looked at again until they are gone
	watchedDiffers = 20  // differences that one round logs
)

// Watch repeatedly compares newly stored rows with the log, and earlier rows with their state when
// they were compared. It is a service.Service. Any number may run: they share their state in
// Postgres, and run one round per interval in all.
type Watch struct {
	*service.Loop
	cfg   Config
	group string
	kafka kafka.Config
	store clickhouse.Config
	pool  *postgres.Pool
	log   *slog.Logger

	state state // of the last round, of any process

	differences *prometheus.GaugeVec
	records     prometheus.Counter
	failures    prometheus.Counter
	behind      prometheus.Gauge
	success     prometheus.Gauge
}

// Deps are the dependencies of the service; all are required.
type Deps struct {
	Group      string // the consumer group whose rows it reads
	Kafka      kafka.Config
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewWatch returns the running check of the rows that the consumer group stores.
func NewWatch(c Config, d Deps) *Watch {
	w := &Watch{
		cfg: c, group: d.Group, kafka: d.Kafka, store: d.ClickHouse, pool: d.Postgres, log: d.Log,
		differences: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lodestone_verify_differences",
			Help: "Offsets and links that differ between Kafka, ClickHouse and Postgres, as of the last background check. Should be 0.",
		}, []string{"kind"}),
		records: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_verify_records_total",
			Help: "Records compared by background checks."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_verify_errors_total",
			Help: "Background checks that could not finish."}),
		success: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_verify_last_finish_timestamp_seconds",
			Help: "When any process last finished a background check. 0: not yet.",
		}),
		behind: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_verify_lag_records", Help: "Stored offsets not yet compared by a background check.",
		}),
	}
	for _, kind := range Kinds() {
		w.differences.WithLabelValues(string(kind)).Set(0)
	}
	d.Registerer.MustRegister(w.differences, w.records, w.failures, w.behind, w.success)
	w.Loop = service.NewLoop("running check", w.run)
	return w
}

func (w *Watch) run(ctx context.Context, ready func()) error {
	ready()
	ticker := time.NewTicker(w.cfg.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, watchTimeout)
		err := w.round(limited, w.cfg.Interval-w.cfg.Interval/10) // processes' clocks and rounds differ a little
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			w.failures.Inc()
			w.log.Warn("cannot compare Kafka, ClickHouse and Postgres, will try again", "retry_in", w.cfg.Interval, "error", err)
		}
	}
}

// round runs one check, unless another process is running one, or began one less than pause ago.
// Then it shows the results of that process.
func (w *Watch) round(ctx context.Context, pause time.Duration) error {
	return w.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		mine, err := q.TryLock(ctx, watchLock+int64(w.store.Number()))
		if err != nil {
			return fmt.Errorf("take the running check's lock: %w", err)
		}
		due, err := w.readState(ctx, tx, pause)
		if err != nil || !mine || !due {
			return err
		}
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("keep the running check's lock: %w", err)
		}
		report, err := w.check(ctx)
		if err != nil {
			return err
		}
		if err := w.writeState(ctx, tx); err != nil {
			return err
		}
		w.tell(report)
		return nil
	})
}

// check opens the connections of a check, and runs it.
func (w *Watch) check(ctx context.Context) (report *Report, err error) {
	options := w.kafka.Options(w.log)
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	conn, err := clickhouse.Open(w.store, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	v := &Verifier{Client: client, Options: options, Conn: conn, Pool: w.pool, Copy: w.store.Number(), Group: w.group,
		Settle: watchSettle, Log: w.log}
	return w.compare(ctx, v)
}

// compare checks rows stored since the last round, earlier differences, and whether rows went away.
func (w *Watch) compare(ctx context.Context, v *Verifier) (*Report, error) {
	report, next := &Report{}, state{Next: map[string]int64{}, Newest: map[string]tally{}}
	for _, s := range stream.All() {
		parts, err := v.partitions(ctx, s)
		if err != nil {
			return nil, err
		}
		for i := range parts {
			if err := w.comparePart(ctx, v, &parts[i], &next, report); err != nil {
				return nil, err
			}
		}
		if err := w.compareTouched(ctx, v, s, parts, report); err != nil {
			return nil, err
		}
	}
	next.keep(report)
	w.state = next
	return report, nil
}

// comparePart compares a partition: new rows, from where the last round ended, and the number of
// those before.
func (w *Watch) comparePart(ctx context.Context, v *Verifier, p *part, next *state, report *Report) error {
	key, earlier := p.key(), report.Total()
	cursor := min(max(w.state.Next[key], p.log.From), p.committed)
	p.judged = kafka.Range{From: cursor, To: min(cursor+w.cfg.Offsets, p.committed)}
	ranges := []kafka.Range{p.judged}
	for _, r := range w.state.Bad {
		if r.place() == key {
			ranges = append(ranges, kafka.Range{From: max(r.From, p.log.From), To: min(r.To, p.committed)})
		}
	}
	ranges = union(ranges)
	for _, r := range ranges {
		if err := v.compareLog(ctx, p, r, max(p.log.From, r.From-stream.RepeatWindow), report); err != nil {
			return err
		}
	}
	unique := kafka.Range{From: max(0, p.committed-watchNewest), To: p.committed}
	for _, r := range without(unique, ranges) {
		if err := v.compareUnique(ctx, p, r, report); err != nil {
			return err
		}
	}
	next.Next[key], next.Behind = p.judged.To, next.Behind+p.committed-p.judged.To
	newest := w.state.Newest[key]
	if err := v.compareNewest(ctx, p, newest, report); err != nil {
		return err
	}
	if report.Total() == earlier { // else an operator may delete rows
		newest = tally{Range: kafka.Range{From: max(p.log.From, p.judged.To-watchNewest), To: p.judged.To}}
		var err error
		if newest.Offsets, err = v.offsets(ctx, p, newest.Range); err != nil {
			return err
		}
	}
	next.Newest[key] = newest
	return nil
}

// compareTouched compares the counters of links that have new rows.
func (w *Watch) compareTouched(ctx context.Context, v *Verifier, s stream.Stream, parts []part, report *Report) error {
	for _, k := range kinds() {
		if k.table != s.Table {
			continue
		}
		ids := slices.Clone(w.state.Odd[s.Topic])
		for _, p := range parts {
			touched, err := v.column(parameters(ctx, p.topicID, p.number, p.judged),
				"SELECT DISTINCT "+k.link+" FROM lodestone."+k.table+where+fmt.Sprintf(" LIMIT %d", linkBatch))
			if err != nil {
				return err
			}
			ids = append(ids, touched...)
		}
		for batch := range slices.Chunk(ids, linkBatch) {
			report.Links += int64(len(batch))
			if err := v.compareLinks(ctx, k, batch, report); err != nil {
				return err
			}
		}
	}
	return nil
}

// tell sets the metrics and raises the alarm.
func (w *Watch) tell(report *Report) {
	w.show(time.Now())
	records := int64(0)
	for _, p := range report.Partitions {
		records += p.Records
	}
	w.records.Add(float64(records))
	for i, d := range report.Differences {
		if i == watchedDiffers {
			break
		}
		w.log.Error("Kafka, ClickHouse and Postgres differ: run `lodestone verify`", "kind", d.Kind, "difference", d.String())
	}
}
