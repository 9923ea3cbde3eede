package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone/demo"
	"lodestone/ingest/producer"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// demoAccountFile is the file of the data directory that names the demo account.
const demoAccountFile = "demo-account"

type demoCommand struct {
	Data dataConfig  `embed:""`
	Demo demoSetting `embed:""`
	Past pastSetting `embed:""`
}

// demoSetting is demo.Config, which is checked after the data directory: that names what to start.
type demoSetting struct {
	URL          string `name:"url" placeholder:"URL" help:"Address of the API."`
	CollectorURL string `name:"collector-url" placeholder:"URL" help:"Address of the collector."`
	APIKey       string `name:"api-key" placeholder:"KEY" help:"API key with the scopes read, write and leads. Secret."`
	Visitors     int    `name:"visitors" default:"200" help:"Number of readers, without --days."`
	Days         int    `name:"days" placeholder:"N" help:"Number of past days to write to the account, with their campaigns and readers, instead of sending events now. Uses the stores and token keys of the installation, by default those of the data directory."`
	Seed         uint64 `name:"seed" default:"1" help:"Seed for the readers' random behaviour."`
}

// pastSetting configures --days, and is checked only with it.
type pastSetting struct {
	Account   uuid.UUID        `name:"account" env:"-" placeholder:"ID" help:"Account to write to with --days. Default: the demo account of the data directory."`
	Postgres  optionalPostgres `embed:""`
	Kafka     optionalKafka    `embed:""`
	TokenKeys string           `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, as for the collector. Default: those of the data directory. Secret."`
	SQLURL    string           `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. Secret."`
}

// check returns the problem that settings are missing and the data directory has none.
func (c *demoCommand) check() error {
	if c.Demo.URL != "" && c.Demo.CollectorURL != "" && c.Demo.APIKey != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(c.Data.Data, envFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it shows when it is read
	}
	return config.Invalid("--data", "is "+c.Data.Data+", where no `lodestone up` has been started",
		"start `lodestone up --data "+c.Data.Data+"` first, or give --url, --collector-url and --api-key")
}

// Run plays the demo.
func (c *demoCommand) Run(ctx context.Context) error {
	cfg := demo.Config(c.Demo)
	if err := c.check(); err != nil {
		return err
	}
	if err := validate(cfg); err != nil {
		return err
	}
	deps := demo.Deps{API: client.New(client.Config{URL: cfg.URL, Key: cfg.APIKey, HTTP: apiHTTP()}), Out: os.Stdout}
	if c.Past.SQLURL != "" {
		sql, err := newSQLClient(c.Past.SQLURL)
		if err != nil {
			return err
		}
		deps.SQL = sql.rows
	}
	run := demo.New(cfg, deps).Run
	if cfg.Days > 0 {
		run = func(ctx context.Context) error { return c.runPast(ctx, cfg, deps) }
	}
	err := run(ctx)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}

// runPast writes the past.
func (c *demoCommand) runPast(ctx context.Context, cfg demo.Config, deps demo.Deps) (err error) {
	pg, k := postgres.Config(c.Past.Postgres), kafka.Config(c.Past.Kafka)
	if err := validate(pg, k); err != nil {
		return err
	}
	keys, err := tokenKeys(c.Past.TokenKeys, c.Data.Data)
	if err != nil {
		return err
	}
	ring, err := keys.Ring()
	if err != nil {
		return err
	}
	log := (&processConfig{LogLevel: slog.LevelWarn, component: "demo"}).logger()
	pool, err := postgres.Open(ctx, pg)
	if err != nil {
		return err
	}
	defer pool.Close()
	account, err := c.pastAccount(ctx, pool, log)
	if err != nil {
		return err
	}
	kafkaClient, err := kgo.NewClient(k.Options(log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer kafkaClient.Close()
	if err := demo.CheckKafka(ctx, pool, kafkaClient); err != nil {
		return err
	}
	writer, err := producer.New(pastProducer, producer.Deps{Kafka: k.Options(log), Topics: kafka.Topics(),
		Partitions: kafka.Ledger{Pool: pool}, Log: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, writer.Stop(ctx)) }()
	start, cancel := context.WithTimeout(ctx, pastStartTimeout)
	defer cancel()
	if err := writer.Start(start); err != nil {
		return err
	}
	deps.Stores = &demo.Stores{Account: account, Postgres: pool, Kafka: writer, Tokens: ring}
	return demo.New(cfg, deps).Run(ctx)
}

// pastStartTimeout bounds the wait for Kafka at the start.
const pastStartTimeout = 15 * time.Second

// pastProducer waits for Kafka rather than giving up: each record is written once.
var pastProducer = producer.Config{RequestTimeout: 10 * time.Second,
	MaxBufferedRecords: 50_000, MaxBufferedBytes: 64 << 20}

// pastAccount returns the account that the past is written to: that of the API key, which is the
// demo account of the data directory, or the one that is named.
func (c *demoCommand) pastAccount(ctx context.Context, pool *postgres.Pool, log *slog.Logger) (uuid.UUID, error) {
	identity, err := auth.NewVerifier(pool, log).Verify(ctx, c.Demo.APIKey)
	if auth.IsInvalid(err) {
		return uuid.Nil, config.Invalid("--api-key", "is not known in this Postgres",
			"give the key and the stores of one installation")
	}
	if err != nil {
		return uuid.Nil, fmt.Errorf("look up the API key: %w", err)
	}
	allowed := c.Past.Account
	if allowed == uuid.Nil {
		text, err := os.ReadFile(filepath.Join(c.Data.Data, demoAccountFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return uuid.Nil, fmt.Errorf("read which account is the demo's: %w", err)
		}
		allowed, _ = uuid.Parse(strings.TrimSpace(string(text))) // else there is none
	}
	switch {
	case allowed == identity.AccountID:
		return allowed, nil
	case c.Past.Account != uuid.Nil:
		return uuid.Nil, config.InvalidFlag("--account", "is not the account of --api-key", "give a key of the account")
	default:
		return uuid.Nil, config.InvalidFlag("--account",
			"is missing, and the key's account is no demo account of "+c.Data.Data,
			"give --account "+identity.AccountID.String()+" if made-up readers may be added to it")
	}
}

// rows returns the answer to a query as texts.
func (c *sqlClient) rows(ctx context.Context, query string) (rows [][]string, err error) {
	answer, err := c.ask(ctx, query, "TabSeparated")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	text, err := io.ReadAll(answer)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows, nil
}
