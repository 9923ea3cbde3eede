package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"lodestone/ingest/logbook"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
)

type lossesCommand struct {
	Data        dataConfig               `embed:""`
	List        lossesListCommand        `cmd:"" help:"List ranges of records that Kafka deleted before they were stored."`
	Acknowledge lossesAcknowledgeCommand `cmd:"" help:"Acknowledge lost ranges that were investigated, which ends their alarm."`
}

type lossesListCommand struct {
	Postgres postgres.Config `embed:""`
	All      bool            `name:"all" help:"Include acknowledged ranges."`
}

// Run lists lost ranges.
func (c *lossesListCommand) Run(ctx context.Context) error {
	if err := validate(c.Postgres); err != nil {
		return err
	}
	return withLogbook(ctx, c.Postgres, func(l *logbook.Book) error {
		losses, err := l.Losses(ctx, c.All)
		if err != nil {
			return err
		}
		return printLosses(os.Stdout, losses)
	})
}

type lossesAcknowledgeCommand struct {
	Postgres postgres.Config `embed:""`
	Numbers  []int64         `arg:"" name:"number" help:"Numbers of the ranges, as shown by list."`
	Why      string          `name:"why" env:"-" required:"" help:"Result of the investigation, for later readers of the list."`
}

// Run acknowledges lost ranges.
func (c *lossesAcknowledgeCommand) Run(ctx context.Context) error {
	err := validate(c.Postgres)
	if c.Why == "" {
		err = errors.Join(err, config.InvalidFlag("--why", "is empty", "give the cause"))
	}
	if err != nil {
		return err
	}
	return withLogbook(ctx, c.Postgres, func(l *logbook.Book) error {
		n, err := l.Acknowledge(ctx, c.Why, c.Numbers...)
		if err != nil {
			return err
		}
		fmt.Printf("acknowledged: %d\n", n)
		return nil
	})
}

// withLogbook calls fn with the logbook in Postgres.
func withLogbook(ctx context.Context, c postgres.Config, fn func(*logbook.Book) error) error {
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		return err
	}
	defer pool.Close()
	return fn(logbook.New(pool))
}

func printLosses(to io.Writer, losses []logbook.Loss) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tTOPIC\tPARTITION\tFIRST OFFSET\tLAST OFFSET\tRECORDS\tFOUND\tACKNOWLEDGED\tNOTE")
	for _, l := range losses {
		acknowledged := "no"
		if l.AcknowledgedAt != nil {
			acknowledged = l.AcknowledgedAt.Format(time.RFC3339)
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%d\t%s\t%s\t%s\n", l.Number, l.Topic, l.Partition, l.Offsets.From, l.Offsets.To-1, l.Offsets.To-l.Offsets.From,
			l.FoundAt.Format(time.RFC3339), acknowledged, printable(l.Note))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
