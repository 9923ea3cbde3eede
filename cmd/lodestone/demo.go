package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lodestone/cmd/lodestone/demo"
	"lodestone/pkg/config"
)

type demoCommand struct {
	Data dataConfig  `embed:""`
	Demo demoSetting `embed:""`
	Past pastSetting `embed:""`
}

// demoSetting is demo.Config, which is checked after the data directory: that names what to start.
type demoSetting struct {
	URL          string `name:"url" placeholder:"URL" help:"Address of the API."`
	CollectorURL string `name:"collector-url" placeholder:"URL" help:"Address of the collector."`
	APIKey       string `name:"api-key" placeholder:"KEY" help:"API key with the scopes read, write and leads. Secret."`
	Visitors     int    `name:"visitors" default:"200" help:"Number of readers, without --days."`
	Seed         uint64 `name:"seed" default:"1" help:"Seed for the readers' random behaviour."`
}

// check returns the problem that settings are missing and the data directory has none.
func (c *demoCommand) check() error {
	if c.Demo.URL != "" && c.Demo.CollectorURL != "" && c.Demo.APIKey != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(c.Data.Data, envFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it shows when it is read
	}
	return config.Invalid("--data", "is "+c.Data.Data+", where no `lodestone up` has been started",
		"start `lodestone up --data "+c.Data.Data+"` first, or give --url, --collector-url and --api-key")
}

// Run plays the demo.
func (c *demoCommand) Run(ctx context.Context) error {
	cfg := demo.Config(c.Demo)
	if err := c.check(); err != nil {
		return err
	}
	if err := validate(cfg); err != nil {
		return err
	}
	run := demo.New(cfg, os.Stdout).Run
	if c.Past.Days != 0 {
		run = c.runPast
	}
	err := run(ctx)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
