package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/auth"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// backlog is the events of one busy day: what waits in Kafka is of few months, usually of one.
func backlog(seed uint64, n int64) *traffic.Generator {
	c := traffic.Year(seed, n)
	c.Begin, c.Span = c.Begin.AddDate(0, 0, 9), 24*time.Hour
	return traffic.New(c)
}

// fill writes a backlog to Kafka as fast as it takes it, keyed and compressed as the collector
// does.
func (e *Engines) fill(ctx context.Context, seed uint64, n int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(e.Brokers...),
		kgo.RequiredAcks(kgo.AllISRAcks()), kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.ProducerBatchCompression(kgo.SnappyCompression()))
	if err != nil {
		return fmt.Errorf("make Kafka producer: %w", err)
	}
	defer client.Close()
	events := backlog(seed, n)
	var results kgo.FirstErrPromise
	for range n {
		var one event.Event
		events.Next(&one)
		key := one.AccessLinkID
		client.Produce(ctx, &kgo.Record{Topic: event.Topic, Key: key[:], Value: one.Append(nil)}, results.Promise())
	}
	if err := results.Err(); err != nil {
		return fmt.Errorf("fill Kafka: %w", err)
	}
	return nil
}

// pastYear returns a generator of so many events in the year before now. Events come a few per cent
// slower or faster than is asked for, so the year ends two weeks ago, and none is of tomorrow.
func pastYear(seed uint64, rows int64) *traffic.Generator {
	now := time.Now()
	return traffic.New(traffic.Config{Seed: seed, Events: rows, Begin: now.AddDate(-1, 0, 0), Span: 350 * 24 * time.Hour})
}

// insertEvents stores events as of a log of some partitions.
func insertEvents(ctx context.Context, url string, events *traffic.Generator, rows int64) (err error) {
	const insertRows = 100_000
	options, err := clickhouse.Config{URL: url}.BlockOptions()
	if err != nil {
		return err
	}
	conn, err := ch.Dial(ctx, options)
	if err != nil {
		return fmt.Errorf("connect to ClickHouse: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	log := traffic.NewLog(uuid.New(), upPartitions)
	block := traffic.NewBlock(true)
	var one event.Event
	for done := int64(0); done < rows; done += int64(block.Rows()) {
		block.Reset()
		for range min(insertRows, rows-done) {
			events.Next(&one)
			partition, offset := log.Place(one.AccessLinkID)
			block.Append(&one, log.Topic, partition, offset)
		}
		input := block.Input()
		if err := conn.Do(ctx, ch.Query{
			Body: input.Into("events"), Input: input,
			Settings: []ch.Setting{ch.SettingInt("async_insert", 0), ch.SettingInt("insert_allow_materialized_columns", 1)},
		}); err != nil {
			return fmt.Errorf("store events: %w", err)
		}
	}
	return nil
}

// insertMeanwhile inserts so many events a second, as they happen now, until the function that it
// returns is called, which returns why no more were inserted.
func (e *Engines) insertMeanwhile(ctx context.Context, events *traffic.Generator, rate int) (stop func() error) {
	const blocks = 4 // a second
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	insert := func() error {
		options, err := clickhouse.Config{URL: e.ClickHouseURL}.BlockOptions()
		if err != nil {
			return err
		}
		conn, err := ch.Dial(ctx, options)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }() // every insert was answered
		topic, block, offset := uuid.New(), traffic.NewBlock(false), int64(0)
		var one event.Event
		for service.Sleep(ctx, time.Second/blocks) == nil {
			block.Reset()
			now := time.Now().UnixMilli()
			for range rate / blocks {
				events.Next(&one)
				one.CreatedAt, one.ReceivedAt = now-(one.ReceivedAt-one.CreatedAt), now
				block.Append(&one, topic, 0, offset)
				offset++
			}
			input := block.Input()
			if err := conn.Do(ctx, ch.Query{Body: input.Into("events"), Input: input,
				Settings: []ch.Setting{ch.SettingInt("async_insert", 0)}}); err != nil {
				return err
			}
		}
		return nil
	}
	go func() {
		err := insert()
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	}()
	return func() error {
		cancel()
		if err := <-ended; err != nil {
			return fmt.Errorf("insert meanwhile: %w", err)
		}
		return nil
	}
}

// queried is the query service on stored events, and who asks it: a client of the largest account,
// which has addresses with many access links.
type queried struct {
	process *Process
	base    string // address of the API
	key     string
	account uuid.UUID
	emails  []string
	store   driver.Conn
}

// startQueried stores events instead of those that are stored, gives addresses so many access links
// of the largest account each, and starts the query service. The caller stops it.
func (b *Bench) startQueried(ctx context.Context, e *Engines, events *traffic.Generator, rows int64, emails,
	links int) (q *queried, err error) {
	b.Sayf("storing %d events", rows)
	q = &queried{account: events.Accounts()[0]}
	if q.store, err = clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 2); err != nil {
		return nil, err
	}
	if err := q.fill(ctx, e, events, rows); err != nil {
		return nil, errors.Join(err, q.store.Close())
	}
	if q.key, err = e.addAccount(ctx, q.account); err == nil {
		err = q.addLinks(ctx, e, emails, links)
	}
	if err == nil {
		q.process, q.base, err = b.startQuery(ctx, e)
	}
	if err != nil {
		return nil, errors.Join(err, q.store.Close())
	}
	return q, nil
}

func (q *queried) stop(ctx context.Context) error {
	return errors.Join(q.process.Stop(ctx), q.store.Close())
}

// fill stores events, and lets the months that are over become one part each, as they do by
// themselves within a day.
func (q *queried) fill(ctx context.Context, e *Engines, events *traffic.Generator, rows int64) error {
	if err := emptyTables(ctx, q.store); err != nil {
		return err
	}
	if err := insertEvents(ctx, e.ClickHouseURL, events, rows); err != nil {
		return err
	}
	var months []string
	if err := q.store.QueryRow(ctx, `SELECT groupUniqArray(partition_id) FROM system.parts
		WHERE database = 'lodestone' AND table = 'events' AND active AND partition_id != toString(toYYYYMM(now()))`).Scan(&months); err != nil {
		return fmt.Errorf("find months that are over: %w", err)
	}
	for _, month := range months {
		if err := q.store.Exec(ctx, "OPTIMIZE TABLE lodestone.events PARTITION ID '"+month+"' FINAL"); err != nil {
			return fmt.Errorf("merge month %s: %w", month, err)
		}
	}
	return nil
}

// queryTimeout lets a request of analytics end on a slow machine, where it is to be measured: the
// default would refuse it. Clients wait for longer.
const queryTimeout = 50 * time.Second

// startQuery starts the query service, with limits of requests that are never reached. The caller
// stops the process.
func (b *Bench) startQuery(ctx context.Context, e *Engines) (p *Process, base string, err error) {
	address, err := probe.FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err = b.Lodestone(ctx, e, "query", "LISTEN="+address,
		"LIMIT_REQUESTS_PER_MINUTE=10000000", "LIMIT_ANALYTICS_PER_MINUTE=10000000",
		"LIMIT_ANALYTICS_EMAIL_PER_MINUTE=10000000",
		"LIMIT_ANALYTICS_QUERY_PER_MINUTE=10000000", "QUERY_PROCESSOR_SECONDS_PER_MINUTE=1000000",
		"QUERY_TIMEOUT="+queryTimeout.String())
	return p, "http://" + address + "/api/v1/analytics", err
}

// addAccount adds an account again, with a key that may read everything and no lead magnets.
func (e *Engines) addAccount(ctx context.Context, account uuid.UUID) (key string, err error) {
	pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 1})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	created := auth.NewKey()
	err = pool.Transaction(ctx, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, "DELETE FROM accounts WHERE id = $1", account)
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO accounts (id, name, plan) VALUES ($1, 'bench', 'team')", account)
		}
		if err == nil {
			_, err = tx.Exec(ctx,
				"INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, 'bench', $3, $4, '{read,write,leads}')",
				uuid.New(), account, created.Prefix, created.Hash[:])
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("add an account: %w", err)
	}
	return created.Text, nil
}

// addLinks gives addresses so many access links each, of those that have events, beside as many of
// others that the table is worth an index.
func (q *queried) addLinks(ctx context.Context, e *Engines, emails, links int) error {
	var ids, magnets []uuid.UUID
	if err := q.store.QueryRow(ctx, `SELECT groupArray(id), groupArray(magnet) FROM
		(SELECT access_link_id AS id, any(lead_magnet_id) AS magnet FROM lodestone.events WHERE account_id = ? AND bot = '' GROUP BY id ORDER BY cityHash64(id) LIMIT ?)`,
		q.account, emails*links).Scan(&ids, &magnets); err != nil {
		return fmt.Errorf("choose access links: %w", err)
	}
	pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 2})
	if err != nil {
		return err
	}
	defer pool.Close()
	for _, s := range []struct {
		sql  string
		args []any
	}{
		{"INSERT INTO lead_magnets (id, account_id, title) SELECT DISTINCT unnest($2::uuid[]), $1::uuid, 'm'",
			[]any{q.account, magnets}},
		{`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
			SELECT l.id, $1::uuid, l.magnet, a.email, lower(a.email), sha256(l.id::text::bytea), '', 0 FROM unnest($2::uuid[], $3::uuid[]) WITH ORDINALITY AS l (id, magnet, n),
			LATERAL (SELECT 'reader' || (n - 1) / $4::bigint || '@example.com') AS a (email)`, []any{q.account, ids, magnets, links}},
		{`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
			SELECT gen_random_uuid(), $1::uuid, $2::uuid, a.email, lower(a.email), sha256(gen_random_uuid()::text::bytea), '', 0 FROM (SELECT 'r' || generate_series(1, 100000) || '@example.com') AS a (email)`, []any{q.account, magnets[0]}},
		{"ANALYZE access_links", nil},
	} {
		if _, err := pool.Unscoped().Exec(ctx, s.sql, s.args...); err != nil {
			return fmt.Errorf("add access links: %w", err)
		}
	}
	for n := 0; n < emails && n*links < len(ids); n++ {
		q.emails = append(q.emails, fmt.Sprintf("reader%d@example.com", n))
	}
	return nil
}

// insertOptions has no settings of this suite alone.
type insertOptions struct{}

const (
	insertCase = "insert"
	insertCPU  = "CPU ms/insert clickhouse"
)

func (o insertOptions) suite() suite {
	return suite{name: "insert", cases: []string{insertCase}, run: o.measure}
}

// measure measures what ClickHouse spends on an insert by its rows, until all are merged: what an
// insert costs whatever its size, and what a row costs. docs/scaling.md reckons with both.
func (insertOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1)
	if err != nil {
		return err
	}
	var sides []Side
	var drains []*drain
	used := 0
	defer func() {
		for _, d := range drains {
			used = max(used, d.used)
		}
		err = errors.Join(err, (&drain{store: store, used: used}).close(context.WithoutCancel(ctx)))
	}()
	for _, rows := range []int{100, 1_000, 10_000, 100_000} {
		inserts := min(400, max(2_000_000/rows, 10))
		if b.Quick {
			inserts = max(inserts/10, 2)
		}
		d := &drain{b: b, e: e, partitions: 1, store: store, rows: int64(inserts * rows), blockRows: rows}
		d.fillBlocks()
		drains = append(drains, d)
		sides = append(sides, Side{Name: fmt.Sprintf("%s rows", number(float64(rows))),
			Run: func(ctx context.Context) (Sample, error) {
				s, err := d.insert(ctx)
				if err == nil {
					s[insertCPU] = s[CPU("clickhouse")] * s[blockRows] / 1000
				}
				return s, err
			}})
	}
	return b.Measure(ctx, Case{
		Name:  insertCase,
		Title: "inserts of one partition into ClickHouse, by their rows, until everything is merged",
		Sides: sides,
	})
}
