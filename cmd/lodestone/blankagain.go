package main

import (
	"context"
	"fmt"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

type blankAgainCommand struct {
	Data     dataConfig      `embed:""`
	Postgres postgres.Config `embed:""`
}

// Run has consumers look for stored events of all erased people, however old they are.
func (c *blankAgainCommand) Run(ctx context.Context) error {
	if err := c.Postgres.Validate(); err != nil {
		return err
	}
	return withSchema(ctx, c.Postgres, func(pool *postgres.Pool) error {
		n, err := store.New(pool.Unscoped()).ReopenErasures(ctx)
		if err == nil {
			err = store.New(pool.Unscoped()).ForgetErasureLook(ctx)
		}
		if err != nil {
			return fmt.Errorf("record that events are to be blanked again: %w", err)
		}
		fmt.Printf("erasures whose events are blanked again: %d\n", n)
		return nil
	})
}
