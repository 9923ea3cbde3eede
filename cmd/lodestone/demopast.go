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
	"lodestone/cmd/lodestone/history"
	"lodestone/ingest/producer"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// demoAccountFile is the file of the data directory that names the demo account.
const demoAccountFile = "demo-account"

// pastSetting is what the demo needs for days that are over. Its parts are checked only if there are days: without them the demo needs
// none of it.
type pastSetting struct {
	Days      int          `name:"days" placeholder:"N" help:"Number of past days to write to the account, with their campaigns and readers, instead of sending events now. Uses the stores and token keys of the installation, by default those of the data directory."`
	Account   uuid.UUID    `name:"account" env:"-" placeholder:"ID" help:"Account to write to with --days. Default: the demo account of the data directory. Name it to write to any other."`
	Postgres  pastPostgres `embed:""`
	Kafka     pastKafka    `embed:""`
	TokenKeys string       `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, as for the collector. Default: those of the data directory. Secret."`
	SQLURL    string       `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. Secret."`
}

// The settings of the stores without their checks.
type (
	pastPostgres postgres.Config
	pastKafka    kafka.Config
)

// runPast writes the past.
func (c *demoCommand) runPast(ctx context.Context) (err error) {
	pg, k := postgres.Config(c.Past.Postgres), kafka.Config(c.Past.Kafka)
	cfg := history.Config{Account: c.Past.Account, Days: c.Past.Days, Seed: c.Demo.Seed, Until: time.Now()}
	if err := validate(c.Past, cfg, pg, k); err != nil {
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
	if cfg.Account, err = c.pastAccount(ctx, pool, log); err != nil {
		return err
	}
	kafkaClient, err := kgo.NewClient(k.Options(log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer kafkaClient.Close()
	if err := history.CheckKafka(ctx, pool, kafkaClient); err != nil {
		return err
	}
	writer, err := producer.New(pastProducer, producer.Deps{Kafka: k.Options(log), Topics: kafka.Topics(), Partitions: kafka.Ledger{Pool: pool}, Log: log, Registerer: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	start, cancel := context.WithTimeout(ctx, pastStartTimeout)
	err = writer.Start(start)
	cancel()
	if err != nil {
		return errors.Join(err, writer.Stop(ctx))
	}
	defer func() { err = errors.Join(err, writer.Stop(ctx)) }()
	settings, err := c.shellSettings()
	if err != nil {
		return err
	}
	deps := history.Deps{
		API: client.New(client.Config{URL: c.Demo.URL, Key: c.Demo.APIKey, HTTP: apiHTTP()}), Postgres: pool, Kafka: writer, Tokens: ring,
		Guide: demo.Guide(), Settings: settings, Out: os.Stdout,
	}
	if c.Past.SQLURL != "" {
		sql, err := newSQLClient(c.Past.SQLURL)
		if err != nil {
			return err
		}
		deps.SQL = sql.rows
	}
	return history.New(cfg, deps).Run(ctx)
}

// shellSettings says how a shell gets the address and the key of the API: from the data directory, if they are its own.
func (c *demoCommand) shellSettings() (string, error) {
	for name, used := range map[string]string{"LODESTONE_URL": c.Demo.URL, "LODESTONE_API_KEY": c.Demo.APIKey} {
		written, err := readEnvFile(c.Data.Data, name)
		if err != nil {
			return "", err
		}
		if written != used {
			return "with LODESTONE_URL and LODESTONE_API_KEY set", nil
		}
	}
	return "after `source " + shellQuote(filepath.Join(c.Data.Data, envFile)) + "`", nil
}

// pastStartTimeout bounds the wait for Kafka at the start.
const pastStartTimeout = 15 * time.Second

// pastProducer waits for Kafka rather than giving up: each record is written once.
var pastProducer = producer.Config{Compression: "snappy", RequestTimeout: 10 * time.Second, MaxBufferedRecords: 50_000, MaxBufferedBytes: 64 << 20}

// Validate returns every problem of what the API is asked with.
func (s pastSetting) Validate() error {
	if s.Days < 0 {
		return config.Invalid("--days", "is negative", "give a number of days, or leave it out")
	}
	return nil
}

// pastAccount returns the account that the past is written to: that of the API key, which is the demo account of the data directory, or
// the one that is named.
func (c *demoCommand) pastAccount(ctx context.Context, pool *postgres.Pool, log *slog.Logger) (uuid.UUID, error) {
	identity, err := auth.NewVerifier(pool, log).Verify(ctx, c.Demo.APIKey)
	if auth.IsInvalid(err) {
		return uuid.Nil, config.Invalid("--api-key", "is not known in this Postgres", "give the key and the stores of one installation")
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
		return uuid.Nil, config.InvalidFlag("--account", "is missing, and the key's account is no demo account of "+c.Data.Data,
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
