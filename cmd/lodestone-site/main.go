package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/alecthomas/kong"
)

type commands struct {
	Build buildCommand `cmd:"" help:"Build the site."`
	Serve serveCommand `cmd:"" help:"Build the site, and serve it on this machine until Ctrl-C."`
}

type buildCommand struct {
	Source  string `default:"." type:"existingdir" help:"The checkout."`
	Out     string `default:".cache/site" help:"Directory to write to. What is in it is removed."`
	Version string `default:"devel" help:"Version that the pages show."`
}

// Run builds the site.
func (c buildCommand) Run(ctx context.Context) error {
	root, err := filepath.Abs(c.Source)
	if err != nil {
		return fmt.Errorf("find the checkout: %w", err)
	}
	if err := (site{root: root, version: c.Version}).build(ctx, c.Out); err != nil {
		return err
	}
	fmt.Println("The site is in " + c.Out + ": open " + filepath.Join(c.Out, "index.html"))
	return nil
}

type serveCommand struct {
	buildCommand

	Listen string `default:"127.0.0.1:8070" help:"Address to listen on."`
}

// Run builds the site and serves it.
func (c serveCommand) Run(ctx context.Context) error {
	if err := c.buildCommand.Run(ctx); err != nil {
		return err
	}
	return serve(ctx, c.Out, c.Listen, func(url string) { fmt.Println("Served at " + url + " until Ctrl-C") })
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	command := kong.Parse(&commands{}, kong.Name("lodestone-site"), kong.BindTo(ctx, (*context.Context)(nil)))
	err := command.Run()
	stop()
	command.FatalIfErrorf(err)
}
