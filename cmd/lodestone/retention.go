package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"lodestone/ingest/retention"
	"lodestone/pkg/postgres"
)

type retentionCommand struct {
	Data dataConfig           `embed:""`
	Show retentionShowCommand `cmd:"" help:"Show how long events are kept."`
	Set  retentionSetCommand  `cmd:"" help:"Set for how many months events are kept. A longer time takes effect immediately, a shorter one after a day."`
}

type retentionShowCommand struct {
	Postgres postgres.Config `embed:""`
}

// Run shows the retention on record.
func (c *retentionShowCommand) Run(ctx context.Context) error {
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		s, found, err := retention.ReadSetting(ctx, pool)
		if err != nil {
			return err
		}
		if !found {
			fmt.Println("Events are retained forever: no consumer has run yet, and no setting is stored.")
			return nil
		}
		printRetention(os.Stdout, s)
		return nil
	})
}

type retentionSetCommand struct {
	Postgres postgres.Config `embed:""`
	Months   int             `arg:"" help:"Number of past calendar months to keep, besides the current one; 0 keeps everything."`
}

// Run puts a retention on record.
func (c *retentionSetCommand) Run(ctx context.Context) error {
	return withPool(ctx, c.Postgres, func(pool *postgres.Pool) error {
		s, err := retention.SetMonths(ctx, pool, c.Months)
		if err != nil {
			return err
		}
		printRetention(os.Stdout, s)
		return nil
	})
}

func withPool(ctx context.Context, c postgres.Config, fn func(*postgres.Pool) error) error {
	if err := validate(c); err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		return err
	}
	defer pool.Close()
	return fn(pool)
}

func printRetention(to io.Writer, s retention.Setting) {
	retained := func(months int) string {
		if months == 0 {
			return "for ever"
		}
		return "for " + strconv.Itoa(months) + " months besides the present one"
	}
	now := s.At(time.Now())
	fmt.Fprintf(to, "Events are retained %s.\n", retained(now))
	if s.NextMonths > 0 && s.NextMonths != now {
		fmt.Fprintf(to, "From %s on they are retained %s; older months are deleted then. To cancel that: lodestone retention set %d\n",
			s.NextAt.Format(time.RFC3339), retained(s.NextMonths), s.Months)
	}
}
