package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// drain runs the consumer and its limit, each from an empty table to one that holds every row.
type drain struct {
	b          *Bench
	e          *Engines
	o          consumeOptions
	rows       int64
	partitions int32
	store      driver.Conn
	limit      *Process // holds the rows of the limit; nil: not started yet
	door       string   // of limit
	used       int      // tables that were put aside

	// The limit inserts its rows as often as it takes to last about as long as the consumer: in the first seconds
	// ClickHouse has merged nothing yet, and would take rows faster than it can for long.
	consumed, inserted time.Duration // of the last run of the consumer, of a round of the limit; 0: none yet
}

const (
	lookInterval  = 20 * time.Millisecond
	drainPatience = 10 * time.Minute
	mostRounds    = 20
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
// started. It counts from the moment in which the process has all its partitions until the last row is there.
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
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
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
	took, use, err := d.awaitRows(ctx, p, begin, watch)
	if err != nil {
		return nil, err
	}
	blocks, err := metric(ctx, p.Admin, "lodestone_consumer_blocks_total")
	if err != nil {
		return nil, err
	}
	d.consumed = took
	return d.sample(ctx, 1, took, use, "consumer", blocks)
}

// insert is a run of the limit.
func (d *drain) insert(ctx context.Context) (Sample, error) {
	if err := d.startLimit(ctx); err != nil {
		return nil, err
	}
	if err := d.newTables(ctx); err != nil {
		return nil, err
	}
	rounds := 1
	if d.inserted > 0 {
		rounds = int(min(max(math.Round(d.consumed.Seconds()/d.inserted.Seconds()), 1), mostRounds))
	}
	watch, err := Watch(append(d.e.Processes(), d.limit.Metered())...)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://%s/insert?rounds=%d", d.door, rounds), http.NoBody)
	if err != nil {
		return nil, err
	}
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
	use, err := watch.Stop()
	if err != nil {
		return nil, err
	}
	d.inserted = time.Duration(a.Nanoseconds) / time.Duration(rounds)
	return d.sample(ctx, rounds, time.Duration(a.Nanoseconds), use, "ch-go", a.Blocks)
}

func (d *drain) startLimit(ctx context.Context) error {
	if d.limit != nil {
		return nil
	}
	address, err := FreeAddress()
	if err != nil {
		return err
	}
	d.limit, err = d.b.Start(ctx, "ch-go", d.e.Environment(), func(ctx context.Context) error { return answers(ctx, "http://"+address+"/ready") },
		"bench", "insert", "--listen="+address, fmt.Sprintf("--seed=%d", d.b.Seed), fmt.Sprintf("--rows=%d", d.rows),
		fmt.Sprintf("--partitions=%d", d.partitions), fmt.Sprintf("--block-rows=%d", d.o.BlockRows), fmt.Sprintf("--connections=%d", d.o.Connections))
	d.door = address
	return err
}

// sample checks that every row is there, once for each round.
func (d *drain) sample(ctx context.Context, rounds int, took time.Duration, use map[string]Use, client string, blocks float64) (Sample, error) {
	var rows, places uint64
	if err := d.store.QueryRow(ctx, "SELECT count(), uniqExact(kafka_partition, kafka_offset) FROM lodestone.events").Scan(&rows, &places); err != nil {
		return nil, fmt.Errorf("count rows: %w", err)
	}
	all := int64(rounds) * d.rows
	if int64(rows) != all || int64(places) != d.rows {
		return nil, fmt.Errorf("%d rows of %d are stored, with %d different places in the log", rows, all, places)
	}
	s := Sample{Rate: float64(all) / took.Seconds(), blockRows: float64(all) / max(blocks, 1)}
	s.AddUse(use, all)
	s[bothCPU] = s[CPU(client)] + s[CPU("clickhouse")]
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
