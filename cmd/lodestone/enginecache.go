package main

import (
	"context"
	"fmt"
	"os"

	"lodestone/pkg/engine/install"
)

type enginesCommand struct {
	Process processConfig `embed:""`
	Cache   string        `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, as for up."`
}

// Run downloads the packages of ClickHouse and PostgreSQL, also where the machine has the programs
// itself: the directory is for another machine.
func (c *enginesCommand) Run(ctx context.Context) (err error) {
	if c.Cache == "" {
		if c.Cache, err = install.DefaultCache(); err != nil {
			return err
		}
	}
	installer := &install.Installer{Cache: c.Cache, Progress: progress, Log: c.Process.logger(), PackagedOnly: true}
	if _, err := installer.ClickHouse(ctx); err != nil {
		return err
	}
	if _, err := installer.Postgres(ctx, 0); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(os.Stdout, "the engines are in", c.Cache); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
