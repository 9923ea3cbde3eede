// Command lodestone-lab measures Lodestone (bench) and tries to make it lose or double an event
// (chaos). It is a module of its own: what the laboratory needs is no dependency of the product,
// and what it does to the product's code is done to copies, while it builds.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"lodestone/cmd/lodestone-lab/bench"
	"lodestone/cmd/lodestone-lab/chaos"
	"lodestone/pkg/config"
)

type commands struct {
	Bench bench.Command     `cmd:"" help:"Measure this machine's Lodestone against the limits of its parts."`
	Chaos chaos.Command     `cmd:"" help:"Try to make Lodestone lose or double an event."`
	Soak  chaos.SoakCommand `cmd:"" help:"Run an installation for hours, and kill, back up and restore it meanwhile; its memory has to stay flat."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err == nil {
		return
	}
	if !config.IsInvalid(err) {
		fmt.Fprintln(os.Stderr, "lodestone-lab:", err)
	}
	for _, p := range config.Problems(err) {
		fmt.Fprintln(os.Stderr, "lodestone-lab:", p)
	}
	os.Exit(1)
}

// run does what the arguments and the environment ask for. Its error has every setting that cannot
// be used.
func run(ctx context.Context) error {
	given := &config.Files{Getenv: os.Getenv}
	command := kong.Parse(&commands{}, kong.Name("lodestone-lab"), kong.Description("Measure Lodestone, and break it."),
		kong.Bind(given),
		kong.DefaultEnvars(config.EnvPrefix), kong.Resolvers(given),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}))
	var errs []error
	for _, p := range given.Problems {
		errs = append(errs, p)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	command.BindTo(ctx, (*context.Context)(nil))
	return command.Run()
}
