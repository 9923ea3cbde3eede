package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"lodestone/pkg/config"
)

// parse reads the arguments and the environment. The parser stops at the first value that it cannot
// read, so it is asked again without that one until nothing is left: the error has every problem of
// the settings.
func parse(args []string) (*kong.Context, error) {
	if err := config.RemovedCommand(args); err != nil {
		return nil, err
	}
	problems := config.Removed(args, os.Getenv)
	for _, p := range problems {
		args = without(args, strings.TrimLeft(p.Setting, "-"))
	}
	for {
		given := &config.Files{Getenv: os.Getenv}
		parser, err := newParser(&commands{}, given)
		if err != nil {
			return nil, err
		}
		command, err := parser.Parse(args)
		flag := unreadable(err)
		if flag == nil {
			return command, settled(command, err, append(problems, given.Problems...))
		}
		problems = append(problems, unreadableProblem(flag, err))
		left := without(args, flag.Name)
		variable := config.EnvName(flag.Name)
		if len(left) == len(args) && os.Getenv(variable) == "" {
			return command, settled(command, err, problems) // it comes from neither, so asking again ends the same way
		}
		args = left
		if err := os.Unsetenv(variable); err != nil {
			return nil, fmt.Errorf("read the environment: %w", err)
		}
	}
}

// settled joins what is wrong with single values with what the command finds wrong with all of
// them, each setting once. The parser validates settings as well, and stops at the first that is
// wrong.
func settled(command *kong.Context, err error, problems []*config.Problem) error {
	if len(problems) == 0 && (err == nil || !config.IsInvalid(err)) {
		return err
	}
	var parse *kong.ParseError
	if command == nil && errors.As(err, &parse) {
		command = parse.Context
	}
	var errs []error
	named := map[string]bool{}
	add := func(more []*config.Problem) {
		for _, p := range more {
			if !named[p.Setting] {
				named[p.Setting] = true
				errs = append(errs, p)
			}
		}
	}
	add(problems)
	if command != nil && command.Selected() != nil {
		if c, ok := reflect.TypeAssert[interface{ check() error }](command.Selected().Target.Addr()); ok {
			add(config.Problems(c.check()))
		}
	}
	add(config.Problems(err))
	return errors.Join(errs...)
}

// unreadable returns the flag whose value an error of the parser is about, or nil.
func unreadable(err error) *kong.Flag {
	var parse *kong.ParseError
	if !errors.As(err, &parse) {
		return nil
	}
	name, _, found := strings.Cut(strings.TrimPrefix(err.Error(), "--"), ":")
	if !found {
		return nil
	}
	for _, f := range parse.Context.Flags() {
		if f.Name == strings.TrimSpace(name) {
			return f
		}
	}
	return nil
}

func unreadableProblem(flag *kong.Flag, err error) *config.Problem {
	p := &config.Problem{Setting: "--" + flag.Name, Wrong: "cannot be read", NoEnv: config.FlagOnly(flag)}
	switch flag.Target.Type().String() {
	case "time.Duration":
		p.Remedy = "write a duration with its unit, such as 1.5s, 10m or 24h"
	case "slog.Level":
		p.Remedy = "give DEBUG, INFO, WARN or ERROR"
	case "uuid.UUID":
		p.Remedy = "give an id, such as 0192f0c1-2b7e-7cc3-98c4-dc0c0c07398f"
	case "bool":
		p.Remedy = "give true or false"
	default:
		switch flag.Target.Kind() {
		case reflect.Int, reflect.Int32, reflect.Int64, reflect.Uint64, reflect.Float64:
			p.Remedy = "give a number"
		default:
			_, p.Remedy, _ = strings.Cut(err.Error(), ": ")
		}
	}
	return p
}

// without returns the arguments without a flag and its value.
func without(args []string, flag string) []string {
	var left []string
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--"+flag:
			i++ // its value
		case strings.HasPrefix(args[i], "--"+flag+"="):
		default:
			left = append(left, args[i])
		}
	}
	return left
}

// shorthand turns the ways in which people ask for help and the version into commands.
func shorthand(args []string) []string {
	if len(args) == 0 {
		return []string{"--help"}
	}
	switch args[0] {
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	case "--version", "-v", "-V":
		return []string{"version"}
	}
	return args
}

// others are variables that no flag has: lodestone.env has them, or the installer of engines reads
// them.
var others = []string{
	"LODESTONE_ADMIN_URL", "LODESTONE_API_KEY", "LODESTONE_CLICKHOUSE_HTTP_URL", "LODESTONE_DASHBOARD_URL",
	"LODESTONE_DEV_SECRET", "LODESTONE_URL",
	"LODESTONE_ENGINE_CACHE",
}

// unknownVariables returns the variables of an environment that look like settings and are none of
// any command.
func unknownVariables(model *kong.Application, environ []string) []string {
	known := slices.Clone(others)
	for _, command := range model.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, f := range group {
				if !config.FlagOnly(f) {
					known = append(known, config.EnvName(f.Name))
				}
			}
		}
	}
	var unknown []string
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, config.EnvPrefix+"_") && !strings.HasPrefix(name, config.EnvPrefix+"_TEST_") &&
			!slices.Contains(known, strings.TrimSuffix(name, "_FILE")) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
