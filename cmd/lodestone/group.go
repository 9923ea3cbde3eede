package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/logbook"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type groupCommand struct {
	Data     dataConfig           `embed:""`
	Show     groupShowCommand     `cmd:"" help:"Show which consumer group stores each topic."`
	HandOver groupHandOverCommand `cmd:"" name:"hand-over" help:"Switch the topics to another consumer group, which continues where the current one ended. Stop the consumers of both first."`
}

type groupShowCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
}

// Run shows the groups on record.
func (c *groupShowCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka, c.Postgres); err != nil {
		return err
	}
	return withLogbookAndKafka(ctx, c.Process, c.Kafka, c.Postgres, func(l *logbook.Book, cl *kgo.Client) error {
		return printOwners(ctx, l, cl)
	})
}

type groupHandOverCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	To       string          `name:"to" env:"-" required:"" placeholder:"GROUP" help:"The --consumer-group of the consumers that continue."`
}

// Run hands the topics over to another group.
func (c *groupHandOverCommand) Run(ctx context.Context) error {
	err := validate(c.Kafka, c.Postgres)
	if c.To == "" {
		err = errors.Join(err, config.InvalidFlag("--to", "is empty", "name the consumer group"))
	}
	if err != nil {
		return err
	}
	return withLogbookAndKafka(ctx, c.Process, c.Kafka, c.Postgres, func(l *logbook.Book, cl *kgo.Client) error {
		if err := l.HandOver(ctx, cl, c.To); err != nil {
			return err
		}
		return printOwners(ctx, l, cl)
	})
}

func withLogbookAndKafka(ctx context.Context, p processConfig, k kafka.Config, c postgres.Config, fn func(*logbook.Book, *kgo.Client) error) error {
	return withKafka(p, k, func(client *kgo.Client) error {
		return withLogbook(ctx, c, func(l *logbook.Book) error { return fn(l, client) })
	})
}

func withKafka(p processConfig, k kafka.Config, fn func(*kgo.Client) error) error {
	client, err := kgo.NewClient(k.Options(p.logger())...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	return fn(client)
}

func printOwners(ctx context.Context, l *logbook.Book, cl *kgo.Client) error {
	owners, err := l.Owners(ctx, cl)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TOPIC\tID\tCONSUMER GROUP")
	for _, o := range owners {
		group := o.Group
		if group == "" {
			group = "none yet"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", o.Topic, o.TopicID, printable(group))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
