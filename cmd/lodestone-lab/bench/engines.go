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
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/test/apachekafka"
	"lodestone/pkg/token"
)

// Engines are what a suite runs on: started for it, or given by address and emptied. The schemas
// are up to date and the topics exist: with four partitions on the embedded Kafka, as `lodestone up` makes them, else with as
// many as `lodestone migrate` makes.
type Engines struct {
	// Kafka is Embedded, Real or Given.
	Kafka   string
	Brokers []string
	// Login is how clients log in to Kafka, if they have to.
	Login []kgo.Opt
	// ClickHouseURL is the native address.
	ClickHouseURL, PostgresURL string
	// Shards are the native addresses of all shards, "" if ClickHouseURL is that of the only server.
	Shards string
	// ClickHouseHTTP is the HTTP address with user and password, "" if it is not known.
	ClickHouseHTTP string
	// TokenKeys is the setting of the keys that sign tracking tokens, Tokens the same ready for use.
	TokenKeys string
	Tokens    *token.Ring

	dir        string
	started    []service.Service // in the order of starting
	clickhouse *engine.ClickHouse
	second     *engine.ClickHouse // of two shards
	postgres   *engine.Postgres
	apache     *apachekafka.Cluster
	broker     *Process
}

// startEngines starts the engines that are not given, and empties those that are.
func (b *Bench) startEngines(ctx context.Context, kafka string) (_ *Engines, err error) {
	keys := token.NewKeys(1)
	e := &Engines{Kafka: kafka, Brokers: b.KafkaBrokers, ClickHouseURL: b.ClickHouseURL, ClickHouseHTTP: b.ClickHouseHTTP, PostgresURL: b.PostgresURL, TokenKeys: keys.Keys}
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
	if err := e.makeTopics(ctx, b, partitions); err != nil {
		return nil, err
	}
	return e, e.eraseRows(ctx)
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
	if e.ClickHouseURL == "" {
		e.clickhouse = engine.NewClickHouse(engine.ClickHouseConfig{Runtime: runtime, Dir: filepath.Join(e.dir, "clickhouse"), Installer: installer})
		begin(e.clickhouse)
	}
	if e.PostgresURL == "" {
		e.postgres = engine.NewPostgres(engine.PostgresConfig{Runtime: runtime, Dir: filepath.Join(e.dir, "postgres"), Installer: installer})
		begin(e.postgres)
	}
	switch e.Kafka {
	case Real:
		e.apache = apachekafka.New(apachekafka.Config{Runtime: runtime, Dir: filepath.Join(e.dir, "kafka"), AsShipped: true, Installer: installer})
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
	if e.clickhouse != nil {
		e.ClickHouseURL, e.ClickHouseHTTP = e.clickhouse.URL(), e.clickhouse.HTTPURL()
	}
	if e.postgres != nil {
		e.PostgresURL = e.postgres.URL()
	}
	return nil
}

// makeTopics brings the schemas up to date and makes the topics again, empty, with so many partitions; 0: as many as by default.
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

// deleteTopics deletes the topics of Lodestone, those that there are, and waits until they are gone.
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

// eraseRows empties the databases that are given: the suite before has left its accounts and events there.
func (e *Engines) eraseRows(ctx context.Context) (err error) {
	if e.postgres == nil {
		pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 1})
		if err != nil {
			return err
		}
		defer pool.Close()
		if _, err := pool.Unscoped().Exec(ctx, "TRUNCATE accounts CASCADE"); err != nil {
			return fmt.Errorf("remove all accounts: %w", err)
		}
	}
	if e.clickhouse != nil {
		return nil
	}
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1)
	if err != nil {
		return err
	}
	return errors.Join(emptyTables(ctx, store), store.Close())
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

// startBroker starts the embedded broker in a process of its own, so that its use is measured apart from
// what its clients use.
func (b *Bench) startBroker(ctx context.Context, e *Engines) (*Process, error) {
	address, err := FreeAddress()
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
	all := []string{
		config.EnvPrefix + "_KAFKA_BROKERS=" + strings.Join(e.Brokers, ","),
		config.EnvPrefix + "_CLICKHOUSE_URL=" + e.ClickHouseURL,
		config.EnvPrefix + "_POSTGRES_URL=" + e.PostgresURL,
		config.EnvPrefix + "_TOKEN_KEYS=" + e.TokenKeys,
	}
	if e.Shards != "" {
		all = append(all, config.EnvPrefix+"_CLICKHOUSE_SHARDS="+e.Shards)
	}
	if e.ClickHouseHTTP != "" {
		all = append(all, config.EnvPrefix+"_CLICKHOUSE_HTTP_URL="+e.ClickHouseHTTP)
	}
	return all
}

// Processes are the engines that were started here, for Watch: "kafka", "clickhouse", "postgres".
func (e *Engines) Processes() []Metered {
	var all []Metered
	if e.broker != nil {
		all = append(all, e.broker.Metered())
	}
	if e.apache != nil {
		all = append(all, Metered{Name: "kafka", PID: e.apache.PID(1)})
	}
	if e.clickhouse != nil {
		all = append(all, Metered{Name: "clickhouse", PID: e.clickhouse.PID()})
	}
	if e.second != nil {
		all = append(all, Metered{Name: "clickhouse 2", PID: e.second.PID()})
	}
	if e.postgres != nil {
		all = append(all, Metered{Name: "postgres", PID: e.postgres.PID()})
	}
	return all
}

// startShards starts two ClickHouse shards, and returns these engines with both of them instead of one server. They stop with these.
func (e *Engines) startShards(ctx context.Context, b *Bench) (*Engines, error) {
	var addresses []string
	for range 2 {
		address, err := FreeAddress()
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, address)
	}
	cache := b.Cache
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return nil, err
		}
	}
	both := *e
	both.Shards, both.ClickHouseHTTP = strings.Join(addresses, ";"), ""
	for i, address := range addresses {
		dir := filepath.Join(e.dir, "shard"+strconv.Itoa(i+1))
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "passwords.json"), []byte(`{"lodestone":"of both shards","analyst":"of the analyst"}`), 0o600); err != nil {
			return nil, err
		}
		_, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return nil, err
		}
		server := engine.NewClickHouse(engine.ClickHouseConfig{
			Runtime: engine.Runtime{Log: b.Log}, Dir: dir, TCPPort: number, Cluster: addresses, Installer: &install.Installer{Cache: cache, Log: b.Log},
		})
		e.started = append(e.started, server)
		if err := server.Start(ctx); err != nil {
			return nil, err
		}
		if i == 0 {
			both.clickhouse, both.ClickHouseURL = server, server.URL()
		} else {
			both.second = server
		}
	}
	return &both, nil
}

// forgetPlacements removes what is on record of the shards of partitions.
func (e *Engines) forgetPlacements(ctx context.Context) error {
	pool, err := postgres.Open(ctx, postgres.Config{URL: e.PostgresURL, MaxConns: 1})
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Unscoped().Exec(ctx, "DELETE FROM partition_placements"); err != nil {
		return fmt.Errorf("forget where partitions are: %w", err)
	}
	return nil
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
