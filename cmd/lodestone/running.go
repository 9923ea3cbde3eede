package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"lodestone/pkg/config"
)

// dataConfig lets a command talk to a `lodestone up` without its addresses being given.
type dataConfig struct {
	Data string `name:"data" default:"./data" help:"Data directory of a lodestone up. Its addresses and passwords are the defaults of this command."`
}

// runningUp resolves what the environment does not give from the data directory of a `lodestone
// up`, for commands that have the flag --data and are not `up` itself. It implements kong.Resolver.
type runningUp struct{ given *config.Files }

// Validate implements kong.Resolver.
func (runningUp) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver. The parser does not call it for a flag of the command line.
func (r runningUp) Resolve(ctx *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	if ctx.Selected() == nil || ctx.Selected().Name == "up" || config.FlagOnly(flag) {
		return nil, nil
	}
	flags := ctx.Flags()
	i := slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == "data" })
	if i < 0 || flag.Name == "data" {
		return nil, nil
	}
	dir, _ := ctx.FlagValue(flags[i]).(string)
	value, err := "", error(nil)
	if !slices.ContainsFunc(flags,
		func(f *kong.Flag) bool { return f.Name == "engine-cache" }) { // these commands run engines themselves
		value, err = readEnvFile(dir, config.EnvName(flag.Name))
	}
	if err != nil {
		return nil, err
	}
	if variable, other := r.variable(flag); variable != "" {
		if onCommandLine(ctx, flags[i]) && slices.Contains(placeFlags, flag.Name) && other != r.own(dir, flag.Name, value) {
			r.given.Refuse(flag, fmt.Sprintf("comes from the variable %s, and names another installation than --data %s",
				variable, dir),
				"unset the variable, or leave --data out")
		}
		return nil, nil
	}
	if value == "" {
		return nil, nil
	}
	return value, nil
}

// placeFlags say where an installation is. Given by a variable, they may belong to another one than
// the --data of a command line.
var placeFlags = []string{
	"url", "collector-url", "postgres-url", "kafka-brokers", "clickhouse-url", "clickhouse-http-url", "clickhouse-shards",
	"sql-url", "token-keys", "erasure-log", "backup-clickhouse-dir",
}

// own returns the setting of the installation in a data directory, where its file of addresses has
// a value.
func (runningUp) own(dir, flag, value string) string {
	if flag != "token-keys" {
		return value
	}
	keys, err := tokenKeys("", dir)
	if err != nil {
		return ""
	}
	return keys.Keys
}

// variable returns the environment variable that gives a setting, and the value; "" if there is
// none.
func (r runningUp) variable(flag *kong.Flag) (name, value string) {
	name = config.EnvName(flag.Name)
	if value := r.given.Getenv(name); value != "" {
		return name, value
	}
	if path := r.given.Getenv(name + "_FILE"); path != "" {
		text, _ := os.ReadFile(path) // config.Files reports what is wrong with it
		return name + "_FILE", strings.TrimRight(string(text), "\r\n")
	}
	return "", ""
}

// onCommandLine reports whether a flag stands there, and is no default or variable.
func onCommandLine(ctx *kong.Context, flag *kong.Flag) bool {
	return slices.ContainsFunc(ctx.Path, func(p *kong.Path) bool { return p.Flag == flag && !p.Resolved })
}
