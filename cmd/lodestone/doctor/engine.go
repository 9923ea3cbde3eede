package doctor

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const askTimeout = 30 * time.Second // for one engine, also one that is busy

// Engines are how to reach those of an installation.
type Engines struct {
	Postgres   postgres.Config
	ClickHouse clickhouse.Config
	Kafka      kafka.Config
	HTTPURL    string // of ClickHouse, for exports; "" if there are none
	SQLURL     string // of the SQL user; "" if it is not known
	Buckets    []Bucket
}

// Bucket is one of an object store.
type Bucket struct {
	Setting string // that names it
	Store   blob.Config
	At      blob.Location
}

// Check asks each engine, with its login, for its time and its disks.
func (e Engines) Check(ctx context.Context, r *Report) {
	within := func(ask func(context.Context)) {
		ctx, cancel := context.WithTimeout(ctx, askTimeout)
		defer cancel()
		ask(ctx)
	}
	within(func(ctx context.Context) { e.postgres(ctx, r) })
	servers, err := e.ClickHouse.Servers()
	if err != nil {
		r.add(Fail, "clickhouse", "correct --clickhouse-url and --clickhouse-shards", "cannot be used: %v", err)
	}
	for _, server := range servers {
		within(func(ctx context.Context) { r.clickhouse(ctx, server) })
	}
	http := func(setting string, l clickhouse.HTTPLogin) {
		if l.URL != "" {
			within(func(ctx context.Context) { r.http(ctx, setting, l) })
		}
	}
	http("--clickhouse-http-url", clickhouse.HTTPLogin{URL: e.HTTPURL, Native: e.ClickHouse})
	http("--sql-url", clickhouse.HTTPLogin{URL: e.SQLURL})
	within(func(ctx context.Context) { e.kafka(ctx, r) })
	for _, b := range e.Buckets {
		within(func(ctx context.Context) { r.bucket(ctx, b) })
	}
}

func (e Engines) postgres(ctx context.Context, r *Report) {
	const remedy = "start PostgreSQL, or correct --postgres-url: host, port, user, password and database"
	c := e.Postgres
	c.MaxConns = 1
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		r.add(Fail, "postgres", remedy, "cannot be used: %v", err)
		return
	}
	defer pool.Close()
	asked := time.Now()
	now, err := store.New(pool.Unscoped()).Now(ctx)
	if err != nil {
		r.add(Fail, "postgres", remedy, "does not answer: %v", err)
		return
	}
	r.ok("postgres", "answers")
	r.clock("postgres", now, asked, time.Now())
}

func (r *Report) clickhouse(ctx context.Context, c clickhouse.Config) {
	asked := time.Now()
	s, err := clickhouse.Describe(ctx, c)
	if err != nil {
		r.add(Fail, "clickhouse",
			"start ClickHouse, or correct --clickhouse-url and --clickhouse-shards: address, user and password",
			"does not answer: %v", err)
		return
	}
	r.ok("clickhouse", "%s answers", s.Address)
	r.clock("clickhouse at "+s.Address, s.Now, asked, time.Now())
	for _, d := range s.Disks {
		r.disk("the disk "+d.Name+" of "+s.Address, d.Free, minDisk)
	}
}

// http asks over HTTP, as the process does that has the setting.
func (r *Report) http(ctx context.Context, setting string, l clickhouse.HTTPLogin) {
	if err := clickhouse.TryHTTP(ctx, l); err != nil {
		r.add(Fail, "clickhouse", "correct "+setting+": address, user and password", "%s (%s) gets no answer: %v", setting,
			config.EnvName(setting), err)
		return
	}
	r.ok("clickhouse", "%s answers", setting)
}

func (e Engines) kafka(ctx context.Context, r *Report) {
	const remedy = "start Kafka, or correct --kafka-brokers and its login; the addresses that brokers advertise must be reachable from here"
	client, err := kgo.NewClient(e.Kafka.Options(slog.New(slog.DiscardHandler))...)
	if err != nil {
		r.add(Fail, "kafka", remedy, "cannot be used: %v", err)
		return
	}
	defer client.Close()
	if err := client.Ping(ctx); err != nil {
		r.add(Fail, "kafka", remedy, "does not answer: %v", err)
		return
	}
	r.ok("kafka", "answers")
	r.newest(ctx, kadm.NewClient(client))
}

// newest compares the newest records with the clock here: Kafka does not tell its time, and
// collectors write theirs into records.
func (r *Report) newest(ctx context.Context, admin *kadm.Client) {
	offsets, err := admin.ListMaxTimestampOffsets(ctx, kafka.KeyedTopics()...)
	if err != nil || offsets.Error() != nil {
		return // older brokers cannot answer, and `migrate` makes missing topics
	}
	now, newest := time.Now(), time.Time{}
	offsets.Each(func(o kadm.ListedOffset) {
		if at := time.UnixMilli(o.Timestamp); o.Timestamp > 0 && at.After(newest) {
			newest = at
		}
	})
	if ahead := newest.Sub(now); ahead > maxSkew {
		r.add(Fail, "clock", synchronise,
			"Kafka has a record of %s in the future: the clock of a collector, or the one here, is wrong",
			ahead.Round(time.Millisecond))
		return
	}
	r.ok("clock", "no record in Kafka is from the future")
}

func (r *Report) bucket(ctx context.Context, b Bucket) {
	client, err := b.Store.Open()
	exists := false
	if err == nil {
		exists, err = client.BucketExists(ctx, b.At.Bucket)
	}
	switch {
	case err != nil:
		r.add(Fail, "bucket", "start the store, or correct "+b.Setting+" and the settings --file-s3-…",
			"the store of %s gives no answer: %v", b.At.Bucket, err)
	case !exists:
		r.add(Fail, "bucket", "create it, or name another one in "+b.Setting, "the bucket %s does not exist", b.At.Bucket)
	default:
		r.ok("bucket", "%s answers", b.At.Bucket)
	}
}
