package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

type partitionsCommand struct {
	Data   dataConfig              `embed:""`
	Show   partitionsShowCommand   `cmd:"" help:"Show how many partitions of each topic are used, and which wait."`
	Double partitionsDoubleCommand `cmd:"" help:"Double the used partitions of a topic while everything runs. There is no way back. Upgrade all processes first."`
}

type partitionsShowCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
}

// Run shows the partitions.
func (c *partitionsShowCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka, c.Postgres); err != nil {
		return err
	}
	return withLedger(ctx, c.Process, c.Kafka, c.Postgres, func(l kafka.Ledger, cl *kgo.Client) error {
		w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "TOPIC\tUSED\tIN KAFKA\tWAITING")
		for _, topic := range kafka.KeyedTopics() {
			id, present, err := kafka.Topic(ctx, cl, topic)
			if err != nil {
				return err
			}
			used, err := l.Partitions(ctx, id, topic, present)
			if err != nil {
				return err
			}
			layout, err := l.Layout(ctx, id)
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", topic, used, present, len(layout.Waiting()))
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("print: %w", err)
		}
		return nil
	})
}

type partitionsDoubleCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	Topic    string          `arg:"" help:"Topic: lodestone.events or lodestone.link_views."`
	Wait     time.Duration   `name:"wait" default:"5m" help:"How long to wait until all new partitions store. They go on by themselves after that."`
}

// Run doubles the partitions of a topic.
func (c *partitionsDoubleCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka, c.Postgres); err != nil {
		return err
	}
	if topics := kafka.KeyedTopics(); !slices.Contains(topics, c.Topic) {
		return config.Invalid("TOPIC", "is "+c.Topic, "give "+topics[0]+" or "+topics[1])
	}
	return withLedger(ctx, c.Process, c.Kafka, c.Postgres, func(l kafka.Ledger, cl *kgo.Client) error {
		n, err := l.Double(ctx, cl, c.Topic)
		if err != nil {
			return err
		}
		fmt.Printf("%s uses %d partitions\n", c.Topic, n)
		return c.await(ctx, l, cl)
	})
}

// await prints how many partitions wait, until none does.
func (c *partitionsDoubleCommand) await(ctx context.Context, l kafka.Ledger, cl *kgo.Client) error {
	id, _, err := kafka.Topic(ctx, cl, c.Topic)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Wait)
	defer cancel()
	for before := -1; ; {
		layout, err := l.Layout(ctx, id)
		if ctx.Err() != nil {
			return exitError{errors.New("new partitions still wait, or it is not known: see `lodestone partitions show`, and whether a consumer runs"), exitUnfinished}
		}
		if err != nil {
			return err
		}
		waiting := len(layout.Waiting())
		if waiting != before {
			fmt.Printf("new partitions that wait until what was written before is stored: %d\n", waiting)
			before = waiting
		}
		if waiting == 0 {
			return nil
		}
		if service.Sleep(ctx, time.Second) != nil {
			return exitError{fmt.Errorf("%d new partitions still wait: see `lodestone partitions show`, and whether a consumer runs", waiting), exitUnfinished}
		}
	}
}

func withLedger(ctx context.Context, p processConfig, k kafka.Config, c postgres.Config, fn func(kafka.Ledger, *kgo.Client) error) error {
	return withKafka(p, k, func(client *kgo.Client) error {
		return withPool(ctx, c, func(pool *postgres.Pool) error { return fn(kafka.Ledger{Pool: pool}, client) })
	})
}
