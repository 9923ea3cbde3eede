package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

// consumeOptions are the settings of this suite alone.
type consumeOptions struct {
	Rows       int64   `name:"consume-rows" default:"2000000" help:"Events that Kafka is filled with for each run of the consumer, and that are in the memory of its limit."`
	Partitions []int32 `name:"consume-partitions" default:"4,12" help:"Partitions of the topic, a case each."`
}

func (o consumeOptions) suite() suite {
	s := suite{name: "consume", kafka: true, run: o.measure}
	for _, p := range o.Partitions {
		s.cases = append(s.cases, consumeCase(p))
	}
	return s
}

func consumeCase(partitions int32) string {
	return "consume/" + anyKafka + "/" + strconv.Itoa(int(partitions))
}

const (
	bothCPU    = "CPU µs/event client + server"
	blockRows  = "rows/insert"
	storedRate = "events/s until stored" // merged or not
	chGo       = "ch-go"

	insertsAtOnce = 4 // connections of the limit
)

// measure measures the consumer with each number of partitions.
//
// A side's time and processor time go on until ClickHouse has merged what it was sent, so that both
// have had the same done for as many rows.
func (o consumeOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	options := o
	if b.Quick {
		options.Rows = min(o.Rows, 200_000)
	}
	for _, partitions := range o.Partitions {
		if !b.Wanted(e.on(consumeCase(partitions))) {
			continue
		}
		if err := options.measureOn(ctx, b, e, partitions); err != nil {
			return err
		}
	}
	return nil
}

func (o consumeOptions) measureOn(ctx context.Context, b *Bench, e *Engines, partitions int32) (err error) {
	d := &drain{b: b, e: e, rows: o.Rows, blockRows: 100_000, partitions: partitions}
	if d.store, err = clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(context.WithoutCancel(ctx))) }()
	d.fillBlocks()
	return b.Measure(ctx, Case{
		Name:  e.on(consumeCase(partitions)),
		Title: fmt.Sprintf("Kafka to ClickHouse exactly once, %s rows in %d partitions, beside ch-go that inserts the same rows from memory", number(float64(o.Rows)), partitions),
		Warm:  1,
		Sides: []Side{{Name: "consumer", Run: d.consume}, {Name: chGo, Run: d.insert}},
	})
}

// drain runs the consumer and its limit, each from an empty table to one that holds every row.
type drain struct {
	b          *Bench
	e          *Engines
	rows       int64
	blockRows  int // of an insert, at most
	partitions int32
	store      driver.Conn
	blocks     []*traffic.Block // of the limit, in the order of inserting
	used       int              // tables that were put aside
}

func (d *drain) close(ctx context.Context) error {
	err := emptyTables(ctx, d.store)
	for n := range d.used {
		err = errors.Join(err, d.store.Exec(ctx, fmt.Sprintf("DROP TABLE lodestone.events_%d SYNC", n+1)))
	}
	return errors.Join(err, d.store.Close())
}

// newTable begins a run: with an empty table of events of its own. The one before is put aside and
// merged no more, and its files stay until the end: a file system that has just removed thousands
// of files takes long to make new ones, for minutes (ext4, a tenth of the machine's time), which
// would count for whichever side runs next.
func (d *drain) newTable(ctx context.Context) error {
	d.used++
	aside := fmt.Sprintf("lodestone.events_%d", d.used)
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + aside + " SYNC", // of a bench that was killed
		"CREATE TABLE " + aside + " AS lodestone.events",
		"EXCHANGE TABLES lodestone.events AND " + aside,
		"SYSTEM STOP MERGES " + aside,
	} {
		if err := d.store.Exec(ctx, statement); err != nil {
			return fmt.Errorf("begin with an empty table: %w", err)
		}
	}
	return nil
}

// consume is a run of the consumer: a topic that is full, a table that is empty, a process that has
// just started. It counts from the time at which the process has all its partitions.
func (d *drain) consume(ctx context.Context) (s Sample, err error) {
	if err := errors.Join(d.newTable(ctx), d.e.makeTopics(ctx, d.b, d.partitions)); err != nil {
		return nil, err
	}
	if err := d.e.fill(ctx, d.b.Seed, d.rows); err != nil {
		return nil, err
	}
	p, err := d.b.Lodestone(ctx, d.e, "consumer", "CONSUMER_GROUP=bench-"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	stop := sync.OnceValue(func() error { return p.Stop(context.WithoutCancel(ctx)) })
	defer func() { err = errors.Join(err, stop()) }()
	watch, err := Watch(append(d.e.Processes(), p.Metered())...)
	if err != nil {
		return nil, err
	}
	const topics = 2 // events and link views
	if err := await(ctx, func() (bool, error) {
		owned, err := probe.Metric(ctx, p.Admin, "lodestone_consumer_partitions")
		return int32(owned) == topics*d.partitions, err
	}); err != nil {
		return nil, fmt.Errorf("wait for the partitions: %w", err)
	}
	begin := time.Now()
	if err := d.awaitRows(ctx, p, begin); err != nil {
		return nil, err
	}
	stored := time.Since(begin)
	blocks, err := probe.Metric(ctx, p.Admin, "lodestone_consumer_insert_seconds_count")
	if err != nil {
		return nil, err
	}
	use, err := watch.Stop()
	if err != nil {
		return nil, err
	}
	if watch, err = Watch(d.e.Processes()...); err != nil {
		return nil, err
	}
	// The consumer would go on with what the limit does not do: count the views of links.
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	took, err := d.awaitMerges(ctx, begin)
	rest, watchErr := watch.Stop()
	if err = errors.Join(err, watchErr, <-stopped); err != nil {
		return nil, err
	}
	for name, after := range rest {
		use[name] = Use{CPU: use[name].CPU + after.CPU, Peak: max(use[name].Peak, after.Peak)}
	}
	return d.sample(ctx, stored, took, use, "consumer", float64(blocks))
}

// fillBlocks fills the blocks of the limit, of one partition each, column by column as ch-go takes
// them.
func (d *drain) fillBlocks() {
	log := traffic.NewLog(uuid.New(), int(d.partitions))
	filling := make([]*traffic.Block, d.partitions)
	events := backlog(d.b.Seed, d.rows)
	var e event.Event
	for range d.rows {
		events.Next(&e)
		partition, offset := log.Place(e.AccessLinkID)
		block := filling[partition]
		if block == nil {
			block = traffic.NewBlock(false)
			filling[partition] = block
			d.blocks = append(d.blocks, block)
		}
		block.Append(&e, log.Topic, partition, offset)
		if block.Rows() == d.blockRows {
			filling[partition] = nil
		}
	}
}

// insert is a run of the limit: every block, under a token as the consumer's, since without one
// ClickHouse hashes all values.
func (d *drain) insert(ctx context.Context) (s Sample, err error) {
	options, err := clickhouse.Config{URL: d.e.ClickHouseURL}.BlockOptions()
	if err != nil {
		return nil, err
	}
	if err := d.newTable(ctx); err != nil {
		return nil, err
	}
	client := Client()
	client.Name = chGo
	watch, err := Watch(append(d.e.Processes(), client)...)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	all, allCtx := errgroup.WithContext(ctx)
	for first := range insertsAtOnce {
		all.Go(func() (err error) {
			conn, err := ch.Dial(allCtx, options)
			if err != nil {
				return fmt.Errorf("connect to ClickHouse: %w", err)
			}
			defer func() { err = errors.Join(err, conn.Close()) }()
			for n := first; n < len(d.blocks); n += insertsAtOnce {
				input := d.blocks[n].Input()
				if err := conn.Do(allCtx, ch.Query{Body: input.Into("events"), Input: input, Settings: []ch.Setting{
					{Key: "async_insert", Value: "0", Important: true},
					{Key: "insert_deduplicate", Value: "0", Important: true},
				}}); err != nil {
					return fmt.Errorf("insert into ClickHouse: %w", err)
				}
			}
			return nil
		})
	}
	err = all.Wait()
	stored := time.Since(begin)
	var took time.Duration
	if err == nil {
		took, err = d.awaitMerges(ctx, begin)
	}
	use, watchErr := watch.Stop()
	if err = errors.Join(err, watchErr); err != nil {
		return nil, err
	}
	return d.sample(ctx, stored, took, use, chGo, float64(len(d.blocks)))
}

// sample checks that every row is there, once. stored is when the last one was, took when they were
// merged as well.
func (d *drain) sample(ctx context.Context, stored, took time.Duration, use map[string]Use, client string,
	blocks float64) (Sample, error) {
	var rows, places uint64
	if err := d.store.QueryRow(ctx, "SELECT count(), uniqExact(kafka_partition, kafka_offset) FROM lodestone.events").Scan(
		&rows, &places); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	if int64(rows) != d.rows || int64(places) != d.rows {
		return nil, fmt.Errorf("%d rows of %d are stored, with %d different places in the log", rows, d.rows, places)
	}
	s := Sample{Rate: float64(d.rows) / took.Seconds(), storedRate: float64(d.rows) / stored.Seconds(),
		blockRows: float64(d.rows) / max(blocks, 1)}
	s.AddUse(use, d.rows)
	s[bothCPU] = s[CPU(client)] + s[CPU("clickhouse")]
	return s, nil
}

// awaitRows waits until every row is there. Until the consumer reports that it has stored them all
// ClickHouse is not asked: with a count each 20 ms, that was an eighth of its work. The time to the
// next look is half of what is left, so that there are few looks, and the last one is soon after
// the end.
func (d *drain) awaitRows(ctx context.Context, p *Process, begin time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	pause := 100 * time.Millisecond
	for stored := int64(0); stored < d.rows; {
		if err := service.Sleep(ctx, pause); err != nil {
			return fmt.Errorf("wait for the rows: %w", err)
		}
		var err error
		if stored, err = probe.Metric(ctx, p.Admin, "lodestone_consumer_rows_total"); err != nil {
			return err
		}
		if share := float64(stored) / float64(d.rows); share > 0 {
			pause = min(max(time.Duration(float64(time.Since(begin))*(1-share)/share/2), 10*time.Millisecond),
				200*time.Millisecond)
		}
	}
	return await(ctx, func() (bool, error) {
		var rows uint64
		err := d.store.QueryRow(ctx, "SELECT count() FROM lodestone.events").Scan(&rows)
		return int64(rows) >= d.rows, err
	})
}

// awaitMerges waits until ClickHouse merges nothing any more, and returns when that was, since
// begin. Merging a row costs it as much as inserting one: while it is put off ClickHouse takes more
// rows than it can for long.
func (d *drain) awaitMerges(ctx context.Context, begin time.Time) (took time.Duration, err error) {
	const interval, looks = 50 * time.Millisecond, 4 // without a merge, since one begins shortly after another has ended
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	for idle := 0; idle < looks; {
		var merges uint64
		if err := d.store.QueryRow(ctx,
			"SELECT count() FROM system.merges WHERE database = 'lodestone' AND table = 'events'").Scan(&merges); err != nil {
			return 0, fmt.Errorf("wait for the merges: %w", err)
		}
		if merges > 0 {
			idle = 0
		} else if idle++; idle == 1 {
			took = time.Since(begin)
		}
		if err := service.Sleep(ctx, interval); err != nil {
			return 0, fmt.Errorf("wait for the merges: %w", err)
		}
	}
	return took, nil
}

// on is the name of a case on this Kafka.
func (e *Engines) on(name string) string { return strings.ReplaceAll(name, anyKafka, e.Kafka) }
