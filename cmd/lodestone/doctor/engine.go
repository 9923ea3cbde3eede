package doctor

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/schema"
)

// Engines are how to reach those of an installation.
type Engines struct {
	Postgres   postgres.Config
	ClickHouse clickhouse.Config
	Kafka      kafka.Config
	HTTPURL    string // of ClickHouse, for exports; "" if there are none
	SQLURL     string // of the SQL user; "" if it is not known
	// Unopened counts the secrets of the database that none of the token keys opens, and all. Nil: no keys are known.
	Unopened func(context.Context, *postgres.Pool) (none, total int, err error)
}

const (
	askTimeout = 30 * time.Second // for one engine, also one that is busy

	migrate = "run `lodestone migrate` of this version (`lodestone migrate --check` lists what is pending)"
)

// Check examines the settings and the engines.
func (e Engines) Check(ctx context.Context, r *Report) {
	e.postgres(ctx, r)
	if r.settings(e.ClickHouse) {
		e.clickhouse(ctx, r)
	}
	e.http(ctx, r, "--clickhouse-http-url", "exports get 503", clickhouse.HTTPLogin{URL: e.HTTPURL, Native: e.ClickHouse})
	e.http(ctx, r, "--sql-url", "SQL users may get no answers", clickhouse.HTTPLogin{URL: e.SQLURL})
	if r.settings(e.Kafka) {
		e.kafka(ctx, r)
	}
}

// settings reports what is wrong with settings, and whether they can be used.
func (r *Report) settings(c interface{ Validate() error }) bool {
	err := c.Validate()
	seen := map[string]bool{}
	for _, p := range config.Problems(err) {
		if !seen[p.Setting+p.Wrong] {
			r.fail("settings", p.Remedy, "%s (%s) %s", p.Setting, config.EnvName(p.Setting), p.Wrong)
		}
		seen[p.Setting+p.Wrong] = true
	}
	return err == nil
}

// schema reports what an engine lacks of its schema.
func (r *Report) schema(area string, pending []schema.Migration, pendingErr, mismatch error) {
	var wrong *schema.Error
	switch {
	case pendingErr != nil:
		r.fail(area, migrate, "its migrations cannot be read: %v", pendingErr)
	case len(pending) > 0:
		r.fail(area, migrate, "lacks %d migrations, the first is %d (%s)", len(pending), pending[0].Number, pending[0].Name)
	case errors.As(mismatch, &wrong):
		r.fail(area, wrong.Remedy, "%s", wrong.Wrong)
	case mismatch != nil:
		r.fail(area, migrate, "%v", mismatch)
	default:
		r.ok(area, "has every migration")
	}
}

func (e Engines) clickhouse(ctx context.Context, r *Report) {
	const area = "clickhouse"
	servers, err := e.ClickHouse.Servers()
	if err != nil {
		return // its settings were just read
	}
	all := true
	for _, server := range servers {
		all = r.clickhouseServer(ctx, server, len(servers) > 1) && all
	}
	if !all {
		return // what follows asks every server
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if unconfined, version, err := clickhouse.Unconfined(ctx, e.ClickHouse); err == nil && unconfined {
		r.warn(area, "update ClickHouse, to the versions in docs/sql.md", "version %s is not one for SQL users: they can do more than read, or it does not start with their settings", version)
	}
	pending, err := clickhouse.Pending(ctx, e.ClickHouse)
	r.schema(area, pending, err, nil)
}

// http asks over HTTP, as the process does that has the setting.
func (e Engines) http(ctx context.Context, r *Report, setting, effect string, l clickhouse.HTTPLogin) {
	if l.URL == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	if err := clickhouse.TryHTTP(ctx, l); err != nil {
		r.fail("clickhouse", "correct "+setting+": address, user and password", "%s (%s) gets no answer, so %s: %v", setting, config.EnvName(setting), effect, err)
		return
	}
	r.ok("clickhouse", "%s answers", setting)
}

// clickhouseServer reports on one server, which may be one of several, and whether it answers.
func (r *Report) clickhouseServer(ctx context.Context, c clickhouse.Config, several bool) bool {
	const area = "clickhouse"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	asked := time.Now()
	s, err := clickhouse.Describe(ctx, c)
	if err != nil {
		r.fail(area, "start ClickHouse, or correct --clickhouse-url and --clickhouse-shards: address, user and password", "does not answer: %v", err)
		return false
	}
	name := area
	if several {
		name += " at " + s.Address
	}
	r.clock(name, s.Now, asked, time.Now())
	r.ok(area, "%s is version %s", s.Address, s.Version)
	for _, d := range s.Disks {
		r.disk(area, "the disk "+d.Name+" of "+s.Address, d.Free, d.Total, minClickHouse)
	}
	for _, right := range s.Missing {
		r.fail(area, "GRANT "+right+" (docs/operations.md, rights in ClickHouse)", "at %s the user lacks %s", s.Address, right)
	}
	if len(s.Missing) == 0 {
		r.ok(area, "at %s the user has the rights that it needs", s.Address)
	}
	return true
}

func (e Engines) kafka(ctx context.Context, r *Report) {
	const area = "kafka"
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	client, err := kgo.NewClient(e.Kafka.Options(slog.New(slog.DiscardHandler))...)
	if err != nil {
		r.fail(area, "correct the settings of Kafka", "cannot be used: %v", err)
		return
	}
	defer client.Close()
	const unreachable = "start Kafka, or correct --kafka-brokers and its login; the addresses that brokers advertise must be reachable from here"
	if err := client.Ping(ctx); err != nil {
		r.fail(area, unreachable, "does not answer: %v", err)
		return
	}
	findings, err := kafka.Check(ctx, client, nil, kafka.Topics()...)
	if err != nil {
		r.fail(area, unreachable, "cannot be asked for its topics: %v", err)
		return
	}
	for _, f := range findings {
		if f.Fatal && (!f.Copies || !e.Kafka.AcceptFewerCopies) {
			r.fail(area, f.Remedy, "%s: %s %s", f.Where, f.Setting, f.Wrong)
		} else {
			r.warn(area, f.Remedy, "%s: %s %s", f.Where, f.Setting, f.Wrong)
		}
	}
	if len(findings) == 0 {
		r.ok(area, "its topics exist, and no setting endangers events")
	}
	e.newest(ctx, r, kadm.NewClient(client))
}

// newest compares the newest records with the clock here: Kafka does not tell its time, and collectors write theirs into records.
func (e Engines) newest(ctx context.Context, r *Report, admin *kadm.Client) {
	offsets, err := admin.ListMaxTimestampOffsets(ctx, kafka.KeyedTopics()...)
	if err != nil || offsets.Error() != nil {
		return // older brokers cannot answer, and missing topics are reported
	}
	now, newest := time.Now(), time.Time{}
	offsets.Each(func(o kadm.ListedOffset) {
		if at := time.UnixMilli(o.Timestamp); o.Timestamp > 0 && at.After(newest) {
			newest = at
		}
	})
	switch ahead := newest.Sub(now); {
	case newest.IsZero():
		r.ok("clock", "Kafka has no records whose time could be compared")
	case ahead > maxSkew:
		r.fail("clock", synchronise, "Kafka has a record of %s in the future: the clock of a collector, or the one here, is wrong", ahead.Round(time.Millisecond))
	default:
		r.ok("clock", "no record in Kafka is from the future")
	}
}
