package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// givenPatience is how long engines that are given may take to say what they hold.
const givenPatience = time.Minute

// requireEmpty returns an error for each engine that is given and holds something, unless that may be erased: every
// suite begins with engines that are empty, and empties those that are given.
func (s Settings) requireEmpty(ctx context.Context) error {
	if s.Erase {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, givenPatience)
	defer cancel()
	var errs []error
	for _, one := range []struct {
		setting string
		given   bool
		look    func(context.Context) (string, error)
	}{
		{"--kafka-brokers", len(s.KafkaBrokers) > 0, s.inKafka},
		{"--clickhouse-url", s.ClickHouseURL != "", s.inClickHouse},
		{"--postgres-url", s.PostgresURL != "", s.inPostgres},
	} {
		if !one.given {
			continue
		}
		found, err := one.look(ctx)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("see whether what is given by %s is empty: %w", one.setting, err))
		case found != "":
			errs = append(errs, config.Invalid(one.setting, "is not empty ("+found+")", "give one that is, or --erase, by which all of it is lost"))
		}
	}
	return errors.Join(errs...)
}

// inKafka says what the topics of Lodestone hold, "" if nothing.
func (s Settings) inKafka(ctx context.Context) (string, error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(s.KafkaBrokers...))
	if err != nil {
		return "", fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	records, err := recordsOf(ctx, kadm.NewClient(client))
	return listed("records in topic", records), err
}

// recordsOf returns how many records were ever written to each topic of Lodestone, if any was.
func recordsOf(ctx context.Context, admin *kadm.Client) (map[string]uint64, error) {
	ends, err := admin.ListEndOffsets(ctx, kafka.Topics()...)
	if err != nil {
		return nil, fmt.Errorf("list the ends of topics: %w", err)
	}
	records := map[string]uint64{}
	ends.Each(func(o kadm.ListedOffset) {
		switch {
		case errors.Is(o.Err, kerr.UnknownTopicOrPartition): // there is no such topic
		case o.Err != nil:
			err = fmt.Errorf("read the end of topic %s: %w", o.Topic, o.Err)
		case o.Offset > 0:
			records[o.Topic] += uint64(o.Offset)
		}
	})
	return records, err
}

// inClickHouse says what the tables of Lodestone hold, "" if nothing.
func (s Settings) inClickHouse(ctx context.Context) (_ string, err error) {
	o, err := clickhouse.Config{URL: s.ClickHouseURL}.Options()
	if err != nil {
		return "", err
	}
	o.Auth.Database = "" // a session in one that does not exist is refused
	store, err := native.Open(o)
	if err != nil {
		return "", fmt.Errorf("open ClickHouse: %w", err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var tables []string
	var rows []uint64
	if err := store.QueryRow(ctx, "SELECT groupArray(name), groupArray(assumeNotNull(total_rows)) FROM system.tables"+
		" WHERE database = ? AND total_rows > 0 AND NOT startsWith(name, 'goose')", clickhouse.Database).Scan(&tables, &rows); err != nil {
		return "", fmt.Errorf("count rows: %w", err)
	}
	found := map[string]uint64{}
	for i, table := range tables {
		found[clickhouse.Database+"."+table] = rows[i]
	}
	return listed("rows in table", found), nil
}

// inPostgres says how many accounts there are, "" if none.
func (s Settings) inPostgres(ctx context.Context) (string, error) {
	pool, err := postgres.Open(ctx, postgres.Config{URL: s.PostgresURL, MaxConns: 1})
	if err != nil {
		return "", err
	}
	defer pool.Close()
	var migrated bool
	if err := pool.Unscoped().QueryRow(ctx, "SELECT to_regclass('accounts') IS NOT NULL").Scan(&migrated); err != nil || !migrated {
		return "", err
	}
	var accounts uint64
	if err := pool.Unscoped().QueryRow(ctx, "SELECT count(*) FROM accounts").Scan(&accounts); err != nil || accounts == 0 {
		return "", err
	}
	return fmt.Sprintf("%d accounts", accounts), nil
}

// listed says how many things each place has: "3 rows in table a, 4 rows in table b".
func listed(things string, of map[string]uint64) string {
	var all []string
	for place, n := range of {
		all = append(all, fmt.Sprintf("%d %s %s", n, things, place))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// eraseTopics deletes the topics of a given Kafka that hold records, for migrate to make them anew.
func (e *Engines) eraseTopics(ctx context.Context) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(e.Brokers...))
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	admin := kadm.NewClient(client)
	records, err := recordsOf(ctx, admin)
	if err != nil {
		return err
	}
	var full []string
	for topic := range records {
		full = append(full, topic)
	}
	return deleteTopics(ctx, admin, full...)
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

// judged returns the targets that can be judged: not those about processes of others, of which nothing is known but
// their addresses.
func (s Settings) judged(targets []Target) []Target {
	var unknown []string
	for process, given := range map[string]bool{"kafka": len(s.KafkaBrokers) > 0, "clickhouse": s.ClickHouseURL != "", "postgres": s.PostgresURL != ""} {
		if given {
			unknown = append(unknown, CPU(process), Peak(process), Steady(process))
		}
	}
	if s.ClickHouseURL != "" {
		unknown = append(unknown, bothCPU)
	}
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return slices.Contains(unknown, t.Value) || slices.Contains(unknown, t.AgainstValue)
	})
}
