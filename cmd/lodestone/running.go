package main

import (
	"slices"

	"github.com/alecthomas/kong"

	"lodestone/pkg/config"
)

// dataConfig lets a command talk to a `lodestone up` without its addresses being given.
type dataConfig struct {
	Data string `name:"data" default:"./data" help:"Data directory of a lodestone up. Its addresses and passwords are the defaults of this command."`
}

// runningUp resolves what the environment does not give from the data directory of a `lodestone up`, for commands that have the
// flag --data and are not `up` itself. It implements kong.Resolver.
type runningUp struct{ getenv func(string) string }

// Validate implements kong.Resolver.
func (runningUp) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (r runningUp) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := config.EnvName(flag.Name)
	if r.getenv(name) != "" || r.getenv(name+"_FILE") != "" || ctx.Selected() == nil || ctx.Selected().Name == "up" || config.FlagOnly(flag) {
		return nil, nil
	}
	flags := ctx.Flags()
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == "data" })
	if i < 0 || flag.Name == "data" || slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == "engine-cache" }) { // the latter run engines themselves
		return nil, nil
	}
	dir, _ := ctx.FlagValue(flags[i]).(string)
	value, err := readEnvFile(dir, name)
	if err != nil || value == "" {
		return nil, err
	}
	return value, nil
}
