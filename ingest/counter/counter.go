// Package counter keeps the counters of links in Postgres in step with the stored events: how often
// an access link's document was viewed, first and last, the same of its submission, and how often a
// generic link's landing page was viewed. Readers of links therefore need no ClickHouse.
//
// Partitions are counted in spans of offsets, some of them together: their rows are read once, and
// a session, or the visitors of a minute, add to their link what is not there yet. What was counted
// is in Postgres, beside the counters and in the same transaction as the progress, so that a span
// that is counted again changes nothing, and the history in ClickHouse is not read. The next pass
// catches up with everything that was missed while Postgres or ClickHouse was down.
//
// It also counts the events of accounts, whose plans limit them by the calendar month of UTC: a
// QuotaMeter, in the consumer's process, counts stored events and writes the counts to Postgres;
// ExceededQuotas, in the collector's, knows which accounts are beyond their plan. Counting comes
// after storing, so an account may exceed its limit by the events that it sends between two counts.
package counter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/retention"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// Config is how counters work. It is no setting, and tests have another.
type Config struct {
	Interval time.Duration `kong:"-"` // at which events that are missing in the links' counters are looked for
}

// BeforeApply implements the hook of kong, before it validates.
func (c *Config) BeforeApply() error {
	c.Interval = 500 * time.Millisecond
	return nil
}

// Counter is a service.Service. Any number may run: a lock in Postgres gives each partition to one
// at a time, of those of one copy of the events.
type Counter struct {
	*service.Loop
	cfg   Config
	group string
	kafka kafka.Config
	store clickhouse.Config
	pool  *postgres.Pool
	log   *slog.Logger

	mark    *mark                // to be reached; nil: none
	marked  time.Time            // of the one before
	set     time.Time            // when the counters were set last
	counted kadm.OffsetResponses // what was committed then
	seen    kadm.OffsetResponses // what was committed at the last look
	begun   time.Time            // when the last pass began

	forgot     time.Time // when minutes were forgotten last
	finished   time.Time // when the retention was last seen to have nothing to finish
	reconciled time.Time // when rows that no commit announces were counted last

	topics map[string]uuid.UUID // at the last look, by name

	links  prometheus.Counter
	errors prometheus.Counter
	behind prometheus.Gauge
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

// New returns the counters' service for what the consumer group has stored.
func New(c Config, d Deps) *Counter {
	counter := &Counter{
		cfg: c, group: d.Group, kafka: d.Kafka, store: d.ClickHouse, pool: d.Postgres, log: d.Log,
		topics: map[string]uuid.UUID{},
		links: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_counter_links_total",
			Help: "Counters of links set."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_counter_errors_total",
			Help: "Counting passes that failed and were retried."}),
		behind: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_counter_lag_records",
			Help: "Stored records that the counters do not reflect yet."}),
	}
	d.Registerer.MustRegister(counter.links, counter.errors, counter.behind)
	counter.Loop = service.NewLoop("counters", counter.run)
	return counter
}

const (
	// The pause after a pass is as long as the pass, within this bound: the fewer and the larger the
	// spans, the less an event costs ClickHouse.
	maxPause = 10 * time.Second

	// While more records than farBehind wait in Kafka, the processors are left to the inserts: a pass
	// begins only each farPause, and counts at most one span of a partition.
	farBehind = 100_000
	farPause  = 10 * time.Second

	// While no commit is new there is nothing to count, and only Kafka is queried. The progress in
	// Postgres is still read at intervals, so that progress that was lost, with a backup of Postgres,
	// is noticed.
	lookAgain = 5 * time.Second

	forgetEvery = time.Hour
)

// run looks for missing counts until ctx ends.
func (c *Counter) run(ctx context.Context, ready func()) (err error) {
	client, err := kgo.NewClient(c.kafka.Options(c.log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	conn, err := clickhouse.Open(c.store, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	ready()
	ticker := time.NewTicker(c.cfg.Interval)
	defer ticker.Stop()
	failing := false
	c.set = time.Now()
	for {
		begin := time.Now()
		err := c.catchUp(ctx, client, conn)
		if errors.Is(err, ErrTurn) { // meanwhile
			err = nil
		}
		ticker.Reset(max(c.cfg.Interval, min(time.Since(begin), maxPause)))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.errors.Inc()
			if !failing { // once an outage, not at every attempt
				c.log.Warn("link counters fall behind, will try again", "error", err)
			}
		case failing:
			c.log.Info("link counters catch up again")
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp counts everything that is stored and not counted.
func (c *Counter) catchUp(ctx context.Context, client *kgo.Client, conn driver.Conn) error {
	if err := errors.Join(c.finishRetention(ctx, conn), c.forgetMinutes(ctx)); err != nil {
		return err
	}
	committed, err := c.stored(ctx, client)
	if err != nil {
		return err
	}
	if time.Since(c.set) < lookAgain && sameOffsets(committed, c.counted) {
		return c.markProgress(ctx, client)
	}
	waiting, mine, err := c.begin(ctx, client, committed)
	if err != nil || !mine {
		return err
	}
	isFar := waiting > farBehind
	if isFar && time.Since(c.begun) < farPause {
		return nil
	}
	c.begun = time.Now()
	behind := int64(0)
	busy := false
	reconcile := !isFar && time.Since(c.reconciled) >= reconcileEvery
	for _, k := range kinds() {
		topicID, _, err := kafka.Topic(ctx, client, k.topic)
		if err != nil {
			return err
		}
		if c.topics[k.topic] != topicID { // the next pass counts what is left of the topic before it
			c.topics[k.topic], c.reconciled = topicID, time.Time{}
		}
		n, err := c.catchUpKind(ctx, conn, k, isFar, topicID, committed[k.topic])
		if err == nil && reconcile {
			err = c.reconcile(ctx, conn, k, topicID)
		}
		if err != nil && !errors.Is(err, errBusy) {
			return err
		}
		busy = busy || err != nil
		behind += n
	}
	c.behind.Set(float64(behind))
	if reconcile && !busy {
		c.reconciled = time.Now()
	}
	if !busy && !isFar { // else the next pass sees the other process's progress, takes over, or goes on
		c.set, c.counted = time.Now(), committed
	}
	return c.markProgress(ctx, client)
}

// begin returns how many records wait in Kafka, if it is the turn of the service's copy.
func (c *Counter) begin(ctx context.Context, client *kgo.Client,
	committed kadm.OffsetResponses) (waiting int64, mine bool, err error) {
	if mine, err = c.takeTurn(ctx, client, committed); err != nil || !mine {
		return 0, false, err
	}
	waiting, err = c.waiting(ctx, client, committed)
	return waiting, true, err
}

// stored returns the committed offsets. All rows below them are stored; this does not hold for the
// highest stored offset: a block that spans two parts of the table may be half stored.
func (c *Counter) stored(ctx context.Context, client *kgo.Client) (kadm.OffsetResponses, error) {
	committed, err := kadm.NewClient(client).FetchOffsets(ctx, c.group)
	if isNoGroup(err) {
		return nil, nil // nothing has been stored yet
	}
	if err != nil {
		return nil, fmt.Errorf("read committed offsets: %w", err)
	}
	return committed, nil
}

// waiting returns how many records wait in Kafka, in partitions that stored some since the last
// look. Others have no inserts that a pass could slow down: a partition that waits for an operator
// may have any number.
func (c *Counter) waiting(ctx context.Context, client *kgo.Client,
	committed kadm.OffsetResponses) (records int64, err error) {
	var topics []string
	for _, k := range kinds() {
		topics = append(topics, k.topic)
	}
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topics...)
	if err != nil {
		return 0, fmt.Errorf("read the ends of the log: %w", err)
	}
	committed.Each(func(now kadm.OffsetResponse) {
		before, known := c.seen.Lookup(now.Topic, now.Partition)
		end, exists := ends.Lookup(now.Topic, now.Partition)
		if known && exists && before.At != now.At && end.Err == nil {
			records += max(0, end.Offset-now.At)
		}
	})
	c.seen = committed
	return records, nil
}

// sameOffsets reports whether nothing was committed between the two answers, and no topic was
// replaced by another of its name.
func sameOffsets(a, b kadm.OffsetResponses) bool {
	return maps.EqualFunc(a, b, func(a, b map[int32]kadm.OffsetResponse) bool {
		return maps.EqualFunc(a, b, func(a, b kadm.OffsetResponse) bool {
			return a.Err == nil && b.Err == nil && a.At == b.At && a.Metadata == b.Metadata
		})
	})
}

// catchUpKind counts until nothing is missing, and returns how many records were behind at the
// start. The error is errBusy if what is still missing is of partitions that other processes count.
// With once, it counts one span of each partition.
func (c *Counter) catchUpKind(
	ctx context.Context, conn driver.Conn, k kind, once bool, topicID uuid.UUID, committed map[int32]kadm.OffsetResponse,
) (behind int64, err error) {
	for first := true; ; first = false {
		todo, n, err := c.missing(ctx, topicID, committed)
		if err != nil {
			return behind, err
		}
		if first {
			behind = n
		}
		groups, busy := together(todo), 0
		for _, g := range groups {
			switch err := c.count(ctx, conn, k, g); {
			case errors.Is(err, errBusy):
				busy++
			case err != nil:
				return behind, err
			}
		}
		if busy == len(groups) {
			if busy > 0 {
				return behind, errBusy
			}
			return behind, nil
		}
		if once {
			return behind, nil
		}
	}
}

// finishRetention deletes the rest of a month whose deletion was interrupted.
func (c *Counter) finishRetention(ctx context.Context, conn driver.Conn) error {
	if time.Since(c.finished) < lookAgain {
		return nil
	}
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if shared, err := retention.TryShare(ctx, tx); err != nil || !shared {
			return err // a process is at it
		}
		return retention.Finish(ctx, conn)
	})
	if err == nil {
		c.finished = time.Now()
	}
	return err
}
