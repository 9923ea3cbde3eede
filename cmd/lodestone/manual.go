package main

import (
	"fmt"
	"os"
	"time"

	"github.com/alecthomas/kong"

	"lodestone/cmd/lodestone/manual"
	"lodestone/pkg/build"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Run prints the completion, to be evaluated by the shell or put where it looks for completions.
func (c completionCommand) Run(app *kong.Kong) error {
	return manual.Completion(os.Stdout, app.Model, c.Shell)
}

type manualCommand struct {
	Dir string `arg:"" help:"The directory."`
}

// Run writes the manual pages, for packages.
func (c manualCommand) Run(app *kong.Kong) error {
	info := build.Current()
	day := time.Unix(0, 0).UTC()
	if info.Date != "" {
		var err error
		if day, err = time.Parse(time.RFC3339, info.Date); err != nil {
			return fmt.Errorf("read the date of the build: %w", err)
		}
	}
	return manual.Pages(c.Dir, app.Model, info.Version, day)
}
