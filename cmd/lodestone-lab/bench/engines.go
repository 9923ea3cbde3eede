package bench

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
	"lodestone/pkg/test/apachekafka"
	"lodestone/pkg/token"
)

// Engines are the engines that a suite starts and uses. The schemas are up to date and the topics
// exist: with four partitions on the embedded Kafka, as `lodestone up` makes them, else with as
// many as `lodestone migrate` makes.
type Engines struct {
	// Kafka is Embedded or Real.
	Kafka   string
	Brokers []string
	// ClickHouseURL is the native address.
	ClickHouseURL, PostgresURL string
	// ClickHouseHTTP is the HTTP address with user and password.
	ClickHouseHTTP string
	// TokenKeys is the setting of the keys that sign tracking tokens, Tokens the same ready for use.
	TokenKeys string
	Tokens    *token.Ring

	dir        string
	started    []service.Service // in the order of starting
	clickhouse *engine.ClickHouse
	postgres   *engine.Postgres
	apache     *apachekafka.Cluster
	broker     *Process
}

// startEngines starts the engines.
func (b *Bench) startEngines(ctx context.Context, kafka string) (_ *Engines, err error) {
	keys := token.NewKeys(1)
	e := &Engines{Kafka: kafka, TokenKeys: keys.Keys}
	if e.Tokens, err = keys.Ring(); err != nil {
		return nil, err
	}
	if e.dir, err = os.MkdirTemp(b.Dir, "engines-"); err != nil {
		return nil, err
	}
	if err := os.Chmod(e.dir, 0o711); err != nil { //nolint:gosec // PostgreSQL, another user if root runs this, passes through
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.stop(context.WithoutCancel(ctx)))
		}
	}()
	if err := e.start(ctx, b); err != nil {
		return nil, err
	}
	partitions := int32(0)
	if kafka == Embedded {
		partitions = upPartitions
	}
	return e, e.makeTopics(ctx, b, partitions)
}

// upPartitions is how many partitions `lodestone up` gives the topics of the embedded Kafka.
const upPartitions = 4

func (e *Engines) start(ctx context.Context, b *Bench) error {
	cache := b.Cache
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return err
		}
	}
	runtime := engine.Runtime{Log: b.Log}
	installer := &install.Installer{Cache: cache, Log: b.Log, Progress: func(line string) { b.Sayf("%s", line) }}
	var all errgroup.Group
	begin := func(s service.Service) {
		e.started = append(e.started, s) // stopping what did not start is harmless
		all.Go(func() error { return s.Start(ctx) })
	}
	e.clickhouse = engine.NewClickHouse(engine.ClickHouseConfig{Runtime: runtime,
		Dir: filepath.Join(e.dir, "clickhouse"), Installer: installer})
	begin(e.clickhouse)
	e.postgres = engine.NewPostgres(engine.PostgresConfig{Runtime: runtime,
		Dir: filepath.Join(e.dir, "postgres"), Installer: installer})
	begin(e.postgres)
	switch e.Kafka {
	case Real:
		e.apache = apachekafka.New(apachekafka.Config{Runtime: runtime, Dir: filepath.Join(e.dir, "kafka"),
			AsShipped: true, Installer: installer})
		begin(e.apache)
	case Embedded:
		all.Go(func() (err error) { e.broker, err = b.startBroker(ctx, e); return err })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	if e.apache != nil {
		e.Brokers = e.apache.Brokers()
	}
	e.ClickHouseURL, e.ClickHouseHTTP, e.PostgresURL = e.clickhouse.URL(), e.clickhouse.HTTPURL(), e.postgres.URL()
	return nil
}

// makeTopics brings the schemas up to date and makes the topics again, empty, with so many
// partitions; 0: as many as by default.
func (e *Engines) makeTopics(ctx context.Context, b *Bench, partitions int32) error {
	if err := e.deleteTopics(ctx); err != nil {
		return err
	}
	migrate := []string{"migrate"}
	if partitions > 0 {
		migrate = append(migrate, fmt.Sprintf("--kafka-partitions=%d", partitions))
	}
	return b.Once(ctx, e, migrate...)
}

// deleteTopics deletes the topics of Lodestone, those that there are, and waits until they are
// gone.
func (e *Engines) deleteTopics(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(e.Brokers...))
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	gone, err := admin.DeleteTopics(ctx, kafka.Topics()...)
	if err != nil {
		return fmt.Errorf("delete topics: %w", err)
	}
	for _, t := range gone {
		if t.Err != nil && !errors.Is(t.Err, kerr.UnknownTopicOrPartition) {
			return fmt.Errorf("delete topic %s: %w", t.Topic, t.Err)
		}
	}
	// Apache Kafka answers before they are deleted.
	if err := await(ctx, func() (bool, error) {
		there, err := admin.ListTopics(ctx, kafka.Topics()...)
		return err == nil && !slices.ContainsFunc(kafka.Topics(), there.Has), err
	}); err != nil {
		return fmt.Errorf("wait until the topics are deleted: %w", err)
	}
	return nil
}

// emptyTables removes all rows of ours, and with them what is remembered of tokens.
func emptyTables(ctx context.Context, store driver.Conn) error {
	var tables []string
	if err := store.QueryRow(ctx, "SELECT groupArray(name) FROM system.tables"+
		" WHERE database = 'lodestone' AND engine LIKE '%MergeTree' AND NOT startsWith(name, 'goose')").Scan(
		&tables); err != nil {
		return fmt.Errorf("list tables: %w", err)
	}
	for _, table := range tables {
		if err := store.Exec(ctx, "TRUNCATE TABLE lodestone."+table); err != nil {
			return fmt.Errorf("empty table %s: %w", table, err)
		}
	}
	return nil
}

// startBroker starts the embedded broker in a process of its own, so that its use is measured apart
// from what its clients use.
func (b *Bench) startBroker(ctx context.Context, e *Engines) (*Process, error) {
	address, err := probe.FreeAddress()
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	e.Brokers = []string{address}
	return b.Start(ctx, "kafka", b.self, nil, func(ctx context.Context) error { return probe.Listens(ctx, address) },
		"bench", "broker", "--data="+filepath.Join(e.dir, "kafka"), "--kafka-port="+port)
}

// Environment is the settings by which processes of Lodestone reach the engines.
func (e *Engines) Environment() []string {
	return []string{
		config.EnvPrefix + "_KAFKA_BROKERS=" + strings.Join(e.Brokers, ","),
		config.EnvPrefix + "_CLICKHOUSE_URL=" + e.ClickHouseURL,
		config.EnvPrefix + "_CLICKHOUSE_HTTP_URL=" + e.ClickHouseHTTP,
		config.EnvPrefix + "_POSTGRES_URL=" + e.PostgresURL,
		config.EnvPrefix + "_TOKEN_KEYS=" + e.TokenKeys,
	}
}

// Processes are the engines, for Watch: "kafka", "clickhouse", "postgres".
func (e *Engines) Processes() []Metered {
	all := []Metered{{Name: "clickhouse", PID: e.clickhouse.PID()}, {Name: "postgres", PID: e.postgres.PID()}}
	if e.apache != nil {
		return append(all, Metered{Name: "kafka", PID: e.apache.PID(1)})
	}
	return append(all, e.broker.Metered())
}

func (e *Engines) stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopTimeout)
	defer cancel()
	var all errgroup.Group
	for _, s := range e.started {
		all.Go(func() error { return s.Stop(ctx) })
	}
	if e.broker != nil {
		all.Go(func() error { return e.broker.Stop(ctx) })
	}
	return errors.Join(all.Wait(), engine.RemoveDir(e.dir))
}

// brokerCommand is the embedded broker as a process.
type brokerCommand struct {
	Data string `name:"data" required:"" help:"Directory of the log."`
	Port int    `name:"kafka-port" required:"" help:"Port to listen on."`
}

// Run serves until ctx ends.
func (c *brokerCommand) Run(ctx context.Context) error {
	log := newLog(os.Stderr)
	k := engine.NewKafka(engine.KafkaConfig{Runtime: engine.Runtime{Log: log}, Dir: c.Data, Port: c.Port})
	if err := k.Start(ctx); err != nil {
		return err
	}
	var err error
	if k.Brokers()[0] != net.JoinHostPort("127.0.0.1", strconv.Itoa(c.Port)) {
		err = fmt.Errorf("port %d was taken meanwhile", c.Port)
	} else {
		select {
		case <-ctx.Done():
		case err = <-k.Failed():
		}
	}
	return errors.Join(err, k.Stop(context.WithoutCancel(ctx)))
}
