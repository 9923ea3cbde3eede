package main

import (
	"context"
	"errors"
	"os"

	"lodestone/cmd/lodestone/demo"
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

// Run plays the demo.
func (c *demoCommand) Run(ctx context.Context) error {
	cfg := demo.Config(c.Demo)
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
