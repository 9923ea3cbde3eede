// Command lodestone-engines downloads the engines of `lodestone up` ahead of it. It is a program
// of its own because it imports little: a cold machine has it compiled in seconds, and downloads
// while the compiler works on the rest.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/engine/install"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "lodestone-engines:", err)
		os.Exit(1)
	}
}

// run installs the engines that have no address, with the settings of `lodestone up`.
func run(ctx context.Context) error {
	cache := os.Getenv("LODESTONE_ENGINE_CACHE")
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return err
		}
	}
	installer := &install.Installer{
		Cache:    cache,
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
		Log:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}
	group, ctx := errgroup.WithContext(ctx)
	if os.Getenv("LODESTONE_CLICKHOUSE_URL") == "" {
		group.Go(func() error {
			_, err := installer.ClickHouse(ctx)
			return err
		})
	}
	if os.Getenv("LODESTONE_POSTGRES_URL") == "" {
		group.Go(func() error {
			_, err := installer.Postgres(ctx, 0)
			return err
		})
	}
	return group.Wait()
}
