package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// producerStart bounds the wait for Kafka before anything is sent.
const producerStart = 30 * time.Second

type spoolCommand struct {
	Send spoolSendCommand `cmd:"" help:"Send the spool of a stopped collector to Kafka, and exit when nothing is left."`
}

type spoolSendCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	Producer producer.Config `embed:""`
	Spool    spool.Config    `embed:""`
}

func (c *spoolSendCommand) check() error {
	err := validate(c.Kafka, c.Postgres, c.Spool)
	if info, failed := os.Stat(c.Spool.Dir); failed != nil || !info.IsDir() {
		err = errors.Join(config.Invalid("--spool-dir", "is no directory", "name that of the collector's spool"), err)
	}
	return err
}

// Run sends the spool.
func (c *spoolSendCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	return withProducer(ctx, c.Process, c.Kafka, c.Postgres, c.Producer,
		func(to *producer.Producer, _ *postgres.Pool) error {
			s, err := spool.New(c.Spool, spool.Deps{Kafka: to, Log: c.Process.logger(), Registerer: prometheus.NewRegistry()})
			if err != nil {
				return err
			}
			if err := s.Start(ctx); err != nil {
				return exitError{err, exitUnfinished}
			}
			s.Drain(ctx)
			left := s.Records()
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
			defer cancel()
			err = s.Stop(stop)
			fmt.Printf("left: %d records\n", left)
			if left > 0 || err != nil {
				return exitError{errors.Join(ctx.Err(), err), exitUnfinished}
			}
			return nil
		})
}

// withProducer calls fn with a producer, and with Postgres, which knows how many partitions the
// topics have.
func withProducer(
	ctx context.Context, process processConfig, k kafka.Config, pg postgres.Config, settings producer.Config,
	fn func(*producer.Producer, *postgres.Pool) error,
) (err error) {
	p := newProcess(process)
	pool, err := p.addPostgres(ctx, pg)
	if err != nil {
		return err
	}
	topics := kafka.KeyedTopics()
	if err := p.addGuard(k, pool, false, topics...); err != nil {
		return err
	}
	writer, err := producer.New(settings, producer.Deps{
		Kafka: k.Options(p.log), Topics: topics, Partitions: kafka.Ledger{Pool: pool}, Log: p.log, Registerer: p.metrics,
	})
	if err != nil {
		return err
	}
	p.stack.Add("producer", writer)
	defer func() { err = errors.Join(err, p.stop(stopTimeout)) }()
	start, cancel := context.WithTimeout(ctx, producerStart)
	defer cancel()
	if err := p.stack.Start(start); err != nil {
		return exitError{err, exitUnfinished}
	}
	return fn(writer, pool)
}
