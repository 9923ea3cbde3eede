package main

import (
	"context"
	"errors"
	"time"

	"lodestone/ingest/collector"
	"lodestone/ingest/counter"
	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/bot"
	"lodestone/pkg/config"
	"lodestone/pkg/country"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
)

type collectorCommand struct {
	Process   processConfig    `embed:""`
	Admin     adminConfig      `embed:""`
	Trace     tracing.Config   `embed:""`
	Drain     drainConfig      `embed:""`
	Collector collector.Config `embed:""`
	URL       string           `name:"collector-url" placeholder:"URL" help:"Address at which browsers reach the collector. If it begins with https, answers tell browsers to use only TLS (Strict-Transport-Security)."`
	Country   country.Config   `embed:""`
	Suspects  suspect.Config   `embed:""`
	Producer  producer.Config  `embed:""`
	Spool     spool.Config     `embed:""`
	Kafka     kafka.Config     `embed:""`
	Postgres  postgres.Config  `embed:""`
	Token     token.Config     `embed:""`
}

func (c *collectorCommand) check() error {
	return errors.Join(validate(c.Admin, c.Trace, c.Drain, c.Collector, c.Country, c.Suspects, c.Spool, c.Kafka,
		c.Postgres, c.Token),
		checkSpool(c.Collector, c.Spool))
}

// Run is the collector's process.
func (c *collectorCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	c.Collector.PublicURL = c.URL
	collector.CollectEagerly()
	p := newProcess(c.Process)
	if err := p.addTracing(c.Trace, "collector"); err != nil {
		return err
	}
	p.drainDelay, p.stopTimeout = c.Drain.Delay, stopTimeout+c.Spool.SendTimeout
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	delete(p.checks, "postgres") // events are stored without it as well; all collectors would be unready at once
	p.addAdmin(c.Admin)
	if err := p.addGuard(c.Kafka, pool, c.Spool.Enabled(), kafka.KeyedTopics()...); err != nil {
		return err
	}
	ring, err := p.addTokenKeys(c.Token)
	if err != nil {
		return err
	}
	if err := p.addCollector(c.Collector, c.Country, c.Suspects, c.Producer, c.Spool, c.Kafka, ring, pool); err != nil {
		return err
	}
	return p.run(ctx)
}

// checkSpool checks the settings that two parts must agree on.
func checkSpool(c collector.Config, s spool.Config) error {
	if s.Enabled() && s.After >= c.AckTimeout {
		return config.Invalid("--spool-after", "is not below --collector-ack-timeout",
			"leave time for the disk after Kafka was given up")
	}
	return nil
}

// addCollector adds the collector and its dependencies to the stack.
func (p *process) addCollector(c collector.Config, cc country.Config, ns suspect.Config, pc producer.Config,
	sc spool.Config, k kafka.Config, ring *token.Ring, pool *postgres.Pool) error {
	if sc.Enabled() {
		if err := config.Writable("--spool-dir", sc.Dir); err != nil {
			return err
		}
	}
	countries, err := cc.Open()
	if err != nil {
		return err
	}
	networks, err := ns.Open()
	if err != nil {
		return err
	}
	bots, err := bot.NewRules()
	if err != nil {
		return err
	}
	salts, err := collector.NewSalts(collector.SaltsDeps{Postgres: pool, Tokens: ring, Now: time.Now,
		Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	sender, err := producer.New(pc, producer.Deps{
		Kafka: k.Options(p.log, p.kafkaHooks()...), Topics: kafka.KeyedTopics(),
		Partitions: kafka.Ledger{Pool: pool}, StartAway: sc.Enabled(),
		Log: p.log, Registerer: p.metrics,
	})
	if err != nil {
		return err
	}
	var sink collector.Sink = sender
	durable := sender.Ready
	p.stack.Add("salts", salts)
	p.stack.Add("producer", sender)
	if sc.Enabled() {
		disk, err := spool.New(sc, spool.Deps{Kafka: sender, Log: p.log, Registerer: p.metrics})
		if err != nil {
			return err
		}
		sink = disk
		durable = func(ctx context.Context) error { return disk.Ready(ctx, sender.Ready) }
		if p.checks["kafka"] == nil { // in `up`, the consumer says more
			p.checks["kafka"] = func(ctx context.Context) error {
				if err := disk.CheckKafka(ctx, sender.Ready); err != nil {
					return httpserver.DegradedError{Err: err}
				}
				return nil
			}
		}
		p.stack.Add("spool", disk)
	} else if p.checks["kafka"] == nil {
		p.checks["kafka"] = sender.Ready // under the name by which alerts know it
	}
	quotas, err := counter.NewExceededQuotas(counter.QuotaDeps{Postgres: pool, Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	p.stack.Add("accounts beyond their plan", quotas)
	script, err := collector.LoadBeacon()
	if err != nil { // everything else works without
		p.log.Warn("the collector serves no /v1/beacon.js", "error", err)
	}
	server, err := collector.New(c, collector.Deps{
		Tokens: ring, Sink: sink, Addresses: salts, Bots: bots, Countries: countries, Networks: networks, Quotas: quotas,
		Beacon: script,
		Trace:  p.trace, Log: p.log, Registerer: p.metrics,
	})
	if err != nil {
		return err
	}
	p.checks["collector"] = server.Ready
	p.checks["events are durable"] = durable // else every request is answered with 503
	p.leave = append(p.leave, server.Leave)
	p.stack.Add("collector", server)
	return nil
}
