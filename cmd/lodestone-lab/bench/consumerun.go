package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

// drain runs the consumer and its limit, each from an empty table to one that holds every row.
type drain struct {
	b          *Bench
	e          *Engines
	o          consumeOptions
	rows       int64
	partitions int32
	store      driver.Conn
	limit      *Process      // holds the rows of the limit; nil: not started yet
	door       string        // of limit
	pace       time.Duration // that the consumer took in this run, until the last row was stored
	used       int           // tables that were put aside
}

const (
	lookInterval  = 20 * time.Millisecond
	drainPatience = 10 * time.Minute
)

func newDrain(b *Bench, e *Engines, o consumeOptions, rows int64, partitions int32) (*drain, error) {
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1)
	if err != nil {
		return nil, err
	}
	return &drain{b: b, e: e, o: o, rows: rows, partitions: partitions, store: store}, nil
}

func (d *drain) close(ctx context.Context) error {
	err := errors.Join(d.limit.Stop(ctx), emptyTables(ctx, d.store))
	for n := range d.used {
		err = errors.Join(err, d.store.Exec(ctx, fmt.Sprintf("DROP TABLE lodestone.events_%d SYNC", n+1)))
	}
	return errors.Join(err, d.store.Close())
}

// newTables begins a run: with an empty table of events of its own. The one before is put aside and merged no more, and
// its files stay until the end: a file system that has just removed thousands of files takes long to make new ones, for
// minutes (ext4, a tenth of the machine's time), which would count for whichever side runs next.
func (d *drain) newTables(ctx context.Context) error {
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

// consume is a run of the consumer: a topic that is full, a table that is empty, a process that has just
// started. It counts from the moment in which the process has all its partitions.
func (d *drain) consume(ctx context.Context) (s Sample, err error) {
	if err := d.newTables(ctx); err != nil {
		return nil, err
	}
	if err := d.e.remakeTopics(ctx, d.b, d.partitions); err != nil {
		return nil, err
	}
	if err := d.e.fill(ctx, d.b.Seed, d.rows); err != nil {
		return nil, err
	}
	p, err := d.b.Lodestone(ctx, d.e, "consumer",
		"CONSUMER_GROUP=bench-"+uuid.NewString(), "CONSUMER_BLOCK_ROWS="+strconv.Itoa(d.o.BlockRows))
	if err != nil {
		return nil, err
	}
	stop := sync.OnceValue(func() error { return p.Stop(context.WithoutCancel(ctx)) })
	defer func() { err = errors.Join(err, stop()) }()
	watch, err := Watch(append(d.e.Processes(), p.Metered())...)
	if err != nil {
		return nil, err
	}
	topics := float64(2) // events and link views
	if err := await(ctx, drainPatience, func() (bool, error) {
		owned, err := metric(ctx, p.Admin, "lodestone_consumer_partitions")
		return owned == topics*float64(d.partitions), err
	}); err != nil {
		return nil, fmt.Errorf("wait for the partitions: %w", err)
	}
	begin := time.Now()
	stored, use, err := d.awaitRows(ctx, p, begin, watch)
	if err != nil {
		return nil, err
	}
	if watch, err = Watch(d.e.Processes()...); err != nil {
		return nil, err
	}
	blocks, err := metric(ctx, p.Admin, "lodestone_consumer_blocks_total")
	if err != nil {
		return nil, err
	}
	// It would go on with what the limit does not do: count the views of links.
	stopped := make(chan error, 1)
	go func() { stopped <- stop() }()
	took, err := d.awaitMerges(ctx, begin)
	if err = errors.Join(err, <-stopped); err != nil {
		return nil, err
	}
	rest, err := watch.Stop()
	if err != nil {
		return nil, err
	}
	for name, after := range rest {
		before := use[name]
		use[name] = Use{CPU: before.CPU + after.CPU, Peak: max(before.Peak, after.Peak), Steady: before.Steady}
	}
	d.pace = stored
	return d.sample(ctx, stored, took, use, "consumer", blocks)
}

// insert is a run of the limit.
func (d *drain) insert(ctx context.Context) (Sample, error) { return d.insertOver(ctx, 0) }

// insertPaced is one in which the rows come as fast as the consumer brought them, so that ClickHouse has as much time to merge beside.
func (d *drain) insertPaced(ctx context.Context) (Sample, error) { return d.insertOver(ctx, d.pace) }

func (d *drain) insertOver(ctx context.Context, over time.Duration) (Sample, error) {
	if err := d.startLimit(ctx); err != nil {
		return nil, err
	}
	if err := d.newTables(ctx); err != nil {
		return nil, err
	}
	watch, err := Watch(append(d.e.Processes(), d.limit.Metered())...)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.door+"/insert?"+overParameter+"="+over.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the limit answers %s: %s", resp.Status, said)
	}
	var a insertAnswer
	if err := json.Unmarshal(said, &a); err != nil {
		return nil, err
	}
	took, err := d.awaitMerges(ctx, begin)
	if err != nil {
		return nil, err
	}
	use, err := watch.Stop()
	if err != nil {
		return nil, err
	}
	return d.sample(ctx, time.Duration(a.Nanoseconds), took, use, "ch-go", a.Blocks)
}

func (d *drain) startLimit(ctx context.Context) error {
	if d.limit != nil {
		return nil
	}
	address, err := FreeAddress()
	if err != nil {
		return err
	}
	d.limit, err = d.b.Start(ctx, "ch-go", d.b.self, d.e.Environment(), func(ctx context.Context) error { return answers(ctx, "http://"+address+"/ready") },
		"bench", "insert", "--listen="+address, fmt.Sprintf("--seed=%d", d.b.Seed), fmt.Sprintf("--rows=%d", d.rows),
		fmt.Sprintf("--partitions=%d", d.partitions), fmt.Sprintf("--block-rows=%d", d.o.BlockRows), fmt.Sprintf("--connections=%d", d.o.Connections))
	d.door = address
	return err
}

// sample checks that every row is there, once. stored is when the last one was, took when they were merged as well.
func (d *drain) sample(ctx context.Context, stored, took time.Duration, use map[string]Use, client string, blocks float64) (Sample, error) {
	var rows, places uint64
	if err := d.store.QueryRow(ctx, "SELECT count(), uniqExact(kafka_partition, kafka_offset) FROM lodestone.events").Scan(&rows, &places); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	if int64(rows) != d.rows || int64(places) != d.rows {
		return nil, fmt.Errorf("%d rows of %d are stored, with %d different places in the log", rows, d.rows, places)
	}
	s := Sample{Rate: float64(d.rows) / took.Seconds(), storedRate: float64(d.rows) / stored.Seconds(), blockRows: float64(d.rows) / max(blocks, 1)}
	s.AddUse(use, d.rows)
	if _, ours := use["clickhouse"]; ours { // else the sum would be the client's alone
		s[bothCPU] = s[CPU(client)] + s[CPU("clickhouse")]
	}
	return s, nil
}

// awaitRows waits until every row is there and returns how long that took since begin. Until the consumer says that
// it has stored them all ClickHouse is not asked: with a count each 20 ms, that was an eighth of its work.
func (d *drain) awaitRows(ctx context.Context, p *Process, begin time.Time, watch *Watcher) (took time.Duration, use map[string]Use, err error) {
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	stored := 0.0
	for err == nil && int64(stored) < d.rows {
		select {
		case <-time.After(nextLook(time.Since(begin), stored/float64(d.rows))):
			stored, err = metric(ctx, p.Admin, "lodestone_consumer_rows_total")
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	for rows := uint64(0); err == nil && int64(rows) < d.rows; {
		err = d.store.QueryRow(ctx, "SELECT count() FROM lodestone.events").Scan(&rows)
	}
	took = time.Since(begin)
	use, failed := watch.Stop()
	if err = errors.Join(err, failed); err != nil {
		return 0, nil, fmt.Errorf("wait for the rows: %w", err)
	}
	return took, use, nil
}

// awaitMerges waits until ClickHouse merges nothing any more, and returns when that was, since begin. Merging a row costs it
// as much as inserting one: while it is put off ClickHouse takes more rows than it can for long.
func (d *drain) awaitMerges(ctx context.Context, begin time.Time) (took time.Duration, err error) {
	const interval, looks = 50 * time.Millisecond, 4 // without a merge, since one begins a moment after another has ended
	ctx, cancel := context.WithTimeout(ctx, drainPatience)
	defer cancel()
	for idle := 0; idle < looks; {
		var merges uint64
		if err := d.store.QueryRow(ctx, "SELECT count() FROM system.merges WHERE database = 'lodestone' AND table = 'events'").Scan(&merges); err != nil {
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

// nextLook is the time until the next look at work of which a part was done in the time that passed: half of what is
// left, so that there are few looks, and the last one is soon after the end.
func nextLook(passed time.Duration, done float64) time.Duration {
	const least, most = 10 * time.Millisecond, 200 * time.Millisecond
	if done <= 0 {
		return most / 2
	}
	return min(max(time.Duration(float64(passed)*(1-done)/done/2), least), most)
}

// await asks until the answer is yes, or an error, or patience is over.
func await(ctx context.Context, patience time.Duration, yes func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if done, err := yes(); done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// metric returns the value of a metric without labels of a process.
func metric(ctx context.Context, admin, name string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/metrics", http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(lines.Err(), fmt.Errorf("there is no metric %s", name))
}

// emptyTables removes all rows of ours, and with them what is remembered of tokens.
func emptyTables(ctx context.Context, store driver.Conn) error {
	var tables []string
	if err := store.QueryRow(ctx, "SELECT groupArray(name) FROM system.tables"+
		" WHERE database = 'lodestone' AND engine LIKE '%MergeTree' AND NOT startsWith(name, 'goose')").Scan(&tables); err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, table := range tables {
		if err := store.Exec(ctx, "TRUNCATE TABLE lodestone."+table); err != nil {
			return fmt.Errorf("empty table %s: %w", table, err)
		}
	}
	return nil
}
