package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/consumer"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// Config is the setting of the running check.
type Config struct {
	Interval time.Duration `name:"verify-interval" default:"5m" help:"Time between two running checks that compare what was stored lately with Kafka and the counters. 0 switches them off."`
	Offsets  int64         `name:"verify-offsets" default:"50000" help:"Offsets of each partition that one running check compares with the log at the most: the newest, from where the last check ended."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Interval != 0 && (c.Interval < time.Second || c.Interval > 24*time.Hour) {
		errs = append(errs, config.Invalid("--verify-interval", "is out of range", "give a time from 1s to 24h, or 0"))
	}
	if c.Offsets < 100 || c.Offsets > 10_000_000 {
		errs = append(errs, config.Invalid("--verify-offsets", "is out of range", "give a number from 100 to 10000000"))
	}
	return errors.Join(errs...)
}

const (
	watchLock      = 0x6c6f6465_77617463 // "lodewatc", the key of the advisory lock that one round holds
	watchSettle    = 5 * time.Second
	watchTimeout   = 10 * time.Minute // of one round
	watchDoubles   = 1_000_000        // newest offsets of a partition in which doubles are looked for
	watchedRanges  = 100              // with differences, which are looked at again until they are gone
	watchedDiffers = 20               // differences that one round logs
)

// Watch compares, again and again, what was stored lately. It is a service.Service; any number may
// run, of which one at a time works.
type Watch struct {
	*service.Loop
	cfg   Config
	group string
	kafka kafka.Config
	store clickhouse.Config
	pool  *postgres.Pool
	log   *slog.Logger

	next map[place]int64         // where the next round goes on
	bad  map[place][]kafka.Range // with differences, to be looked at again
	odd  map[string][]uuid.UUID  // links whose counters differ, by topic

	differences *prometheus.GaugeVec
	records     prometheus.Counter
	failures    prometheus.Counter
	success     prometheus.Gauge
}

type place struct {
	topicID   uuid.UUID
	partition int32
}

// NewWatch returns the running check of what the consumer group stores.
func NewWatch(c Config, group string, k kafka.Config, s clickhouse.Config, pool *postgres.Pool, log *slog.Logger, r prometheus.Registerer) *Watch {
	w := &Watch{
		cfg: c, group: group, kafka: k, store: s, pool: pool, log: log,
		next: map[place]int64{}, bad: map[place][]kafka.Range{}, odd: map[string][]uuid.UUID{},
		differences: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "lodestone_verify_differences", Help: "Offsets and links that differ between Kafka, ClickHouse and Postgres, as of the last running check. Anything but 0 is an alarm.",
		}, []string{"kind"}),
		records:  prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_verify_records_total", Help: "Records compared by running checks."}),
		failures: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_verify_errors_total", Help: "Running checks that could not be finished."}),
		success: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_verify_last_finish_timestamp_seconds", Help: "When this process last finished a running check. 0: not yet.",
		}),
	}
	for _, kind := range Kinds() {
		w.differences.WithLabelValues(string(kind)).Set(0)
	}
	r.MustRegister(w.differences, w.records, w.failures, w.success)
	w.Loop = service.NewLoop("running check", w.run)
	return w
}

func (w *Watch) run(ctx context.Context, ready func()) error {
	ready()
	if w.cfg.Interval == 0 {
		<-ctx.Done()
		return nil
	}
	ticker := time.NewTicker(w.cfg.Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
		limited, cancel := context.WithTimeout(ctx, watchTimeout)
		err := w.round(limited)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			w.failures.Inc()
			w.log.Warn("cannot compare Kafka, ClickHouse and Postgres, will try again", "in", w.cfg.Interval, "error", err)
		}
	}
}

// round makes one check, unless another process is at it.
func (w *Watch) round(ctx context.Context) (err error) {
	options := w.kafka.Options(w.log)
	client, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	conn, err := clickhouse.Open(w.store, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	v := &Verifier{Client: client, Options: options, Conn: conn, Pool: w.pool, Group: w.group, Settle: watchSettle, Log: w.log}
	return w.pool.Transaction(ctx, func(tx pgx.Tx) error {
		var mine bool
		if err := tx.QueryRow(ctx, "SELECT pg_try_advisory_xact_lock($1)", int64(watchLock)).Scan(&mine); err != nil {
			return fmt.Errorf("take the running check's lock: %w", err)
		}
		if !mine {
			return nil
		}
		report, err := w.compare(ctx, v)
		if err != nil {
			return err
		}
		w.tell(report)
		return nil
	})
}

// compare looks at what was stored since the last round, and again at what differed then.
func (w *Watch) compare(ctx context.Context, v *Verifier) (*Report, error) {
	report := &Report{}
	next := map[place]int64{}
	for _, stream := range consumer.Streams() {
		parts, err := v.partitions(ctx, stream)
		if err != nil {
			return nil, err
		}
		for i := range parts {
			p := &parts[i]
			at := place{p.topicID, p.number}
			p.judged = kafka.Range{From: min(max(w.next[at], p.committed-w.cfg.Offsets, p.log.From), p.committed), To: p.committed}
			next[at] = p.committed
			for _, r := range w.again(at, p) {
				if err := v.compareLog(ctx, p, r, max(p.log.From, r.From-consumer.RepeatWindow), report); err != nil {
					return nil, err
				}
			}
			if err := v.compareUnique(ctx, p, kafka.Range{From: max(0, p.committed-watchDoubles), To: p.judged.From}, report); err != nil {
				return nil, err
			}
		}
		if err := w.compareTouched(ctx, v, stream, parts, report); err != nil {
			return nil, err
		}
	}
	w.next = next
	clear(w.bad)
	clear(w.odd)
	for _, d := range report.Differences {
		at := place{d.TopicID, d.Partition}
		switch {
		case d.Kind == Counter && len(w.odd[d.Topic]) < watchedRanges:
			w.odd[d.Topic] = append(w.odd[d.Topic], d.Link)
		case d.Kind == Doubled: // compareUnique finds them again
		case d.Kind != Counter && len(w.bad[at]) < watchedRanges:
			w.bad[at] = append(w.bad[at], d.Offsets)
		}
	}
	return report, nil
}

// again returns the ranges of a partition to compare: what is new, and what differed. Those that are
// close to each other become one, since each is read with the window before it.
func (w *Watch) again(at place, p *part) []kafka.Range {
	ranges := []kafka.Range{}
	bad := slices.Clone(w.bad[at])
	slices.SortFunc(bad, func(a, b kafka.Range) int { return cmp.Compare(a.From, b.From) })
	for _, r := range bad {
		r.From = max(r.From, p.log.From)
		if r.To = min(r.To, p.judged.From); r.Empty() {
			continue
		}
		if n := len(ranges); n > 0 && r.From-ranges[n-1].To < consumer.RepeatWindow/2 {
			ranges[n-1].To = max(ranges[n-1].To, r.To)
			continue
		}
		ranges = append(ranges, r)
	}
	return append(ranges, p.judged)
}

// compareTouched compares the counters of links that have new rows.
func (w *Watch) compareTouched(ctx context.Context, v *Verifier, stream consumer.Stream, parts []part, report *Report) error {
	for _, k := range kinds() {
		if k.table != stream.Table {
			continue
		}
		ids := w.odd[stream.Topic]
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
	for _, kind := range Kinds() {
		w.differences.WithLabelValues(string(kind)).Set(float64(report.Counts[kind]))
	}
	records := int64(0)
	for _, p := range report.Partitions {
		records += p.Records
	}
	w.records.Add(float64(records))
	w.success.SetToCurrentTime()
	for i, d := range report.Differences {
		if i == watchedDiffers {
			break
		}
		w.log.Error("Kafka, ClickHouse and Postgres differ: run `lodestone verify`", "kind", d.Kind, "difference", d.String())
	}
}
