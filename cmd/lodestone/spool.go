package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// producerStart bounds the wait for Kafka before anything is sent.
const producerStart = 30 * time.Second

type spoolCommand struct {
	Send spoolSendCommand `cmd:"" help:"Send a spool's directory to Kafka, including every intact record of damaged segments, and move the sent segments to its folder sent. No collector may run on it."`
}

// withSpool calls fn with a directory and its segments.
func withSpool(dir string, fn func(d *spool.Directory, names []string) error) (err error) {
	d, err := spool.OpenDirectory(dir)
	if err != nil {
		return exitError{err, exitUnfinished}
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	names, err := d.Names()
	if err != nil {
		return exitError{err, exitUnfinished}
	}
	return fn(d, names)
}

type spoolSendCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	Producer producer.Config `embed:""`
	Dir      string          `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
}

func (c *spoolSendCommand) check() error { return validate(c.Kafka, c.Postgres) }

// Run sends the directory.
func (c *spoolSendCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	return withSpool(c.Dir, func(d *spool.Directory, names []string) error {
		return withProducer(ctx, c.Process, c.Kafka, c.Postgres, c.Producer, func(to *producer.Producer, _ *postgres.Pool) error {
			return sendSegments(ctx, d, names, to)
		})
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

func sendSegments(ctx context.Context, d *spool.Directory, names []string, to spool.Writer) error {
	rows := [][]string{{"FILE", "SENT", "REFUSED", "DAMAGED BYTES", "NOW"}}
	var refused int64
	var failed []error
	for _, name := range names {
		f := d.Read(name)
		if f.Sent() {
			continue
		}
		s := d.Send(ctx, &f, to)
		rows = append(rows, []string{s.Name, strconv.FormatInt(s.Records, 10), strconv.FormatInt(s.Refused, 10), strconv.FormatInt(f.Damaged, 10), s.Now})
		refused += s.Refused
		if s.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, s.Err))
		}
		if errors.Is(s.Err, producer.ErrUnacknowledged) || ctx.Err() != nil {
			break // the others fare no better
		}
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	if len(failed) > 0 {
		return exitError{errors.Join(failed...), exitUnfinished}
	}
	if refused > 0 {
		return fmt.Errorf("Kafka refuses %d records for good: correct the topic's settings and send again, or delete the file", refused) //nolint:staticcheck // Kafka is a name
	}
	return nil
}
