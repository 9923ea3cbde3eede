package main

import (
	"context"

	"lodestone/ingest/consumer"
	"lodestone/ingest/counter"
	"lodestone/ingest/erasure"
	"lodestone/ingest/mirror"
	"lodestone/ingest/retention"
	"lodestone/ingest/spool"
	"lodestone/ingest/stream"
	"lodestone/ingest/verify"
	"lodestone/pkg/backup"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/tracing"
)

type consumerCommand struct {
	Process    processConfig       `embed:""`
	Admin      adminConfig         `embed:""`
	Trace      tracing.Config      `embed:""`
	Consumer   consumer.Config     `embed:""`
	Counter    counter.Config      `embed:""`
	Mirror     mirror.Config       `embed:""`
	Retention  retention.Config    `embed:""`
	Verify     verify.Config       `embed:""`
	Quota      counter.QuotaConfig `embed:""`
	Plans      plan.Config         `embed:""`
	Erasure    erasure.Config      `embed:""`
	SpoolAge   spool.Age           `embed:""`
	Kafka      kafka.Config        `embed:""`
	ClickHouse clickhouse.Config   `embed:""`
	Postgres   postgres.Config     `embed:""`
}

func (c *consumerCommand) check() error {
	return validate(c.Admin, c.Trace, c.Consumer, c.Mirror, c.Retention, c.Quota, c.Erasure, c.SpoolAge,
		c.Kafka, c.ClickHouse, c.Postgres)
}

// Run is the consumer's process.
func (c *consumerCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	c.Consumer.Group = c.ClickHouse.Group(c.Consumer.Group)
	consumer.CollectEagerly(c.Consumer)
	c.Quota.Plans = c.Plans.Plans
	p := newProcess(c.Process)
	if err := p.addTracing(c.Trace, "consumer"); err != nil {
		return err
	}
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	if err := p.addClickHouseCheck(c.ClickHouse); err != nil {
		return err
	}
	if err := p.addShardCheck(ctx, c.ClickHouse, pool); err != nil {
		return err
	}
	p.addAdmin(c.Admin)
	c.Erasure.SpoolMaxAge = c.SpoolAge.MaxAge
	if err := p.addConsumer(c.Consumer, c.Counter, c.Mirror, c.Retention, c.Verify, c.Quota, c.Erasure, c.Kafka,
		c.ClickHouse, pool); err != nil {
		return err
	}
	return p.run(ctx)
}

// addConsumer puts the consumer, the counters, the copies for SQL, the retention, the running
// check, the erasures and the count of events a month onto the stack.
func (p *process) addConsumer(c consumer.Config, n counter.Config, m mirror.Config, keep retention.Config,
	v verify.Config, q counter.QuotaConfig, e erasure.Config, k kafka.Config, s clickhouse.Config,
	pool *postgres.Pool) error {
	erased := &erasure.Set{}
	p.stack.Add("erasures", erasure.New(e, erasure.Deps{Set: erased, Kafka: k, ClickHouse: s, Postgres: pool,
		Log: p.log, Registerer: p.metrics}))
	events, err := consumer.New(c, consumer.Deps{Kafka: k, Hooks: p.kafkaHooks(), Trace: p.trace, ClickHouse: s,
		Postgres: pool, Erased: erased, Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	if err := p.addGuard(k, pool, false, kafka.Topics()...); err != nil {
		return err
	}
	p.checks["consumer"] = events.Check
	p.checks["kafka"] = events.CheckKafka
	p.stack.Add("consumer", events)
	p.stack.Add("counters", counter.New(n, counter.Deps{Group: c.Group, Kafka: k, ClickHouse: s, Postgres: pool,
		Log: p.log, Registerer: p.metrics}))
	p.stack.Add("horizon", stream.NewHorizon(stream.HorizonDeps{Group: c.Group, Kafka: k, Copy: s.Number(), Postgres: pool,
		Log: p.log, Registerer: p.metrics}))
	p.stack.Add("mirror", mirror.New(m, mirror.Deps{ClickHouse: s, Postgres: pool, Log: p.log, Registerer: p.metrics}))
	p.stack.Add("pulse of the stores",
		backup.NewPulse(backup.PulseDeps{Postgres: pool, ClickHouse: s, Log: p.log, Registerer: p.metrics}))
	p.stack.Add("retention", retention.New(keep, retention.Deps{Kafka: k, ClickHouse: s, Postgres: pool,
		Log: p.log, Registerer: p.metrics}))
	p.stack.Add("running check", verify.NewWatch(v, verify.Deps{Group: c.Group, Kafka: k, ClickHouse: s, Postgres: pool,
		Log: p.log, Registerer: p.metrics}))
	meter, err := counter.NewQuotaMeter(q, counter.QuotaDeps{ClickHouse: s, Postgres: pool,
		Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	p.stack.Add("events a month", meter)
	return nil
}
