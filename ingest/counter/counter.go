// Package counter keeps the counters of links in Postgres in step with the stored events: how
// often an access link's document was viewed, first and last, the same of its submission, and how
// often a generic link's landing page was viewed. So whoever reads links needs no ClickHouse.
//
// Counters are set, never added to: each is computed anew from ClickHouse for the links that had
// events since the last time. Setting one twice changes nothing, and whatever was missed while
// Postgres or ClickHouse was away is made up for at the next look.
package counter

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// Config is the setting of the counters.
type Config struct {
	Interval time.Duration `name:"counter-interval" default:"500ms" help:"Interval at which events that are missing in the links' counters are looked for."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Interval < 10*time.Millisecond || c.Interval > time.Hour {
		return config.Invalid("--counter-interval", "is out of range", "give a time from 10ms to 1h")
	}
	return nil
}

// Counter is a service.Service. Any number may run: a lock in Postgres lets one work at a time.
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
	old     map[string]oldTopics // by topic: the last look at those that had its name before

	links  prometheus.Counter
	errors prometheus.Counter
	behind prometheus.Gauge
}

// New returns the counters' service for what the consumer group has stored.
func New(c Config, group string, k kafka.Config, s clickhouse.Config, pool *postgres.Pool, log *slog.Logger, r prometheus.Registerer) *Counter {
	counter := &Counter{
		cfg: c, group: group, kafka: k, store: s, pool: pool, log: log, old: map[string]oldTopics{},
		links:  prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_counter_links_total", Help: "Counters of links set."}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{Name: "lodestone_counter_errors_total", Help: "Looks for missing counts that failed and were tried again."}),
		behind: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lodestone_counter_lag_records", Help: "Stored records that the counters do not reflect yet."}),
	}
	r.MustRegister(counter.links, counter.errors, counter.behind)
	counter.Loop = service.NewLoop("counters", counter.run)
	return counter
}

const (
	busyPause = 4               // times as long as a look takes is the pause after it, at least
	mostPause = 5 * time.Second // but no longer than this, or the interval

	// While more records than farBehind wait in Kafka, the counters are set each farPause only.
	farBehind = 100_000
	farPause  = 10 * time.Second

	// While nothing is committed there is nothing to count, and only Kafka is asked. So that progress which was lost, with a
	// backup of Postgres, does not go unnoticed, it is read now and then all the same.
	lookAgain = 5 * time.Second
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
		// When there is much to catch up with, longer strides cost ClickHouse less, and leave it to the inserts:
		// a link that many of the events are of is counted once for all of them.
		ticker.Reset(max(c.cfg.Interval, min(busyPause*time.Since(begin), mostPause)))
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			c.errors.Inc()
			if !failing { // once an outage, not at every look
				c.log.Warn("counters of links fall behind, will try again", "error", err)
			}
		case failing:
			c.log.Info("counters of links catch up again")
		}
		failing = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// catchUp sets the counters of every link that had events since the last time. While the consumer is far behind it does so
// now and then only: a link with many of the events is counted once for all of them.
func (c *Counter) catchUp(ctx context.Context, client *kgo.Client, conn driver.Conn) error {
	committed, err := c.stored(ctx, client)
	if err != nil {
		return err
	}
	since := time.Since(c.set)
	if since < lookAgain && sameOffsets(committed, c.counted) {
		return c.markProgress(ctx, client)
	}
	all := kinds()
	if since < farPause {
		waiting, err := c.waiting(ctx, client, all, committed)
		if err != nil {
			return err
		}
		if waiting > farBehind {
			return nil
		}
	}
	behind := int64(0)
	busy := false
	for _, k := range all {
		topicID, _, err := kafka.Topic(ctx, client, k.topic)
		if err != nil {
			return err
		}
		n, err := c.catchUpKind(ctx, conn, k, func() ([]span, int64, error) {
			return c.missing(ctx, topicID, committed[k.topic])
		})
		if err == nil {
			err = c.catchUpOld(ctx, conn, k, topicID)
		}
		if err != nil && !errors.Is(err, errBusy) {
			return err
		}
		busy = busy || err != nil
		behind += n
	}
	c.behind.Set(float64(behind))
	if !busy { // else the next look sees how far the other process is, or takes over
		c.set, c.counted = time.Now(), committed
	}
	return c.markProgress(ctx, client)
}

// stored returns what is committed. It is stored to the last row, which cannot be said of the highest stored offset: a
// block that spans two parts of the table may be half there.
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

// waiting returns how many records stand in the log behind what is committed.
func (c *Counter) waiting(ctx context.Context, client *kgo.Client, all []kind, committed kadm.OffsetResponses) (records int64, err error) {
	topics := make([]string, len(all))
	for i, k := range all {
		topics[i] = k.topic
	}
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx, topics...)
	if err != nil {
		return 0, fmt.Errorf("read the ends of the log: %w", err)
	}
	ends.Each(func(end kadm.ListedOffset) {
		if end.Err == nil {
			o, _ := committed.Lookup(end.Topic, end.Partition)
			records += max(0, end.Offset-max(0, o.At))
		}
	})
	return records, nil
}

// sameOffsets reports whether nothing was committed between the two answers, nor for another topic of a name.
func sameOffsets(a, b kadm.OffsetResponses) bool {
	return maps.EqualFunc(a, b, func(a, b map[int32]kadm.OffsetResponse) bool {
		return maps.EqualFunc(a, b, func(a, b kadm.OffsetResponse) bool {
			return a.Err == nil && b.Err == nil && a.At == b.At && a.Metadata == b.Metadata
		})
	})
}

// catchUpKind counts what is missing until nothing is, and returns how many records were behind at the start.
func (c *Counter) catchUpKind(ctx context.Context, conn driver.Conn, k kind, missing func() ([]span, int64, error)) (behind int64, err error) {
	for first := true; ; first = false {
		todo, n, err := missing()
		if err != nil {
			return behind, err
		}
		if first {
			behind = n
		}
		if len(todo) == 0 {
			return behind, nil
		}
		for _, r := range todo {
			if err := c.count(ctx, conn, k, r); err != nil {
				return behind, err
			}
		}
	}
}
