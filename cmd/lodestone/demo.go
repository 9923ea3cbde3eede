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
	Data string      `name:"data" default:"./data" help:"Data directory of a lodestone up: its settings are taken where none are given."`
	Demo demoSetting `embed:""`
}

// demoSetting is demo.Config before the settings of the data directory have been added.
type demoSetting struct {
	URL          string `name:"url" placeholder:"URL" help:"Address of the API."`
	CollectorURL string `name:"collector-url" placeholder:"URL" help:"Address of the collector."`
	APIKey       string `name:"api-key" placeholder:"KEY" help:"API key with the scopes read and write. Secret."`
	Visitors     int    `name:"visitors" default:"200" help:"Number of readers."`
	Seed         uint64 `name:"seed" default:"1" help:"What the readers do is drawn from it."`
}

// check returns the problem that settings are missing and the data directory has none.
func (c *demoCommand) check() error {
	if c.Demo.URL != "" && c.Demo.CollectorURL != "" && c.Demo.APIKey != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(c.Data, envFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil // what is wrong with it shows when it is read
	}
	return config.Invalid("--data", "is "+c.Data+", where no `lodestone up` has been started",
		"start `lodestone up --data "+c.Data+"` first, or give --url, --collector-url and --api-key")
}

// Run plays the demo.
func (c *demoCommand) Run(ctx context.Context) error {
	cfg := demo.Config(c.Demo)
	if err := c.check(); err != nil {
		return err
	}
	for _, s := range []struct {
		value *string
		name  string
	}{
		{&cfg.URL, "LODESTONE_URL"}, {&cfg.CollectorURL, "LODESTONE_COLLECTOR_URL"}, {&cfg.APIKey, "LODESTONE_API_KEY"},
	} {
		if *s.value != "" {
			continue
		}
		var err error
		if *s.value, err = readEnvFile(c.Data, s.name); err != nil {
			return err
		}
	}
	if err := validate(cfg); err != nil {
		return err
	}
	err := demo.New(cfg, os.Stdout).Run(ctx)
	if ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return err
}
