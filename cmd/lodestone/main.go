// Command lodestone is every process of Lodestone: each subcommand is one, and `lodestone up` is
// all of them together on engines of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"syscall"

	"github.com/alecthomas/kong"

	"lodestone/cmd/lodestone/bench"
	"lodestone/crud/pdf"
	"lodestone/crud/picture"
	"lodestone/pkg/config"
)

// version is set by the linker.
var version = "devel"

// Exit codes.
const (
	exitFailed   = 1
	exitSettings = 2 // the settings are wrong: starting again will not help
)

type commands struct {
	Up          upCommand          `cmd:"" help:"Run everything on this machine, with the engines that are not given by address."`
	Collector   collectorCommand   `cmd:"" help:"Run the collector: it takes events from browsers and servers and writes them to Kafka."`
	Consumer    consumerCommand    `cmd:"" help:"Run the consumer: it moves events from Kafka to ClickHouse and keeps the counters of links."`
	Query       queryCommand       `cmd:"" help:"Run the analytics endpoints of the API, on ClickHouse and Postgres."`
	Crud        crudCommand        `cmd:"" help:"Run the endpoints of lead magnets and links, on Postgres."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the schemas of Postgres and ClickHouse up to date and make the Kafka topics. Safe to run twice, and from several processes at once."`
	Account     accountCommand     `cmd:"" help:"Make and list accounts."`
	Key         keyCommand         `cmd:"" help:"Make, list and revoke API keys."`
	DeadLetters deadLettersCommand `cmd:"" name:"dead-letters" help:"List, show, replay and discard records that could not become rows."`
	Verify      verifyCommand      `cmd:"" help:"Compare Kafka, ClickHouse and Postgres, print any difference, and fail if there is one."`
	SQL         sqlCommand         `cmd:"" name:"sql" help:"Answer a query in SQL, or open a prompt, as the read-only user of the database analytics."`
	SQLUser     sqlUserCommand     `cmd:"" name:"sql-user" help:"Make a read-only SQL user of one account: prints a file for ClickHouse's directory users.d, and the password."`
	Bench       bench.Command      `cmd:"" help:"Measure this machine's Lodestone against the limits of its parts."`
	Demo        demoCommand        `cmd:"" help:"Play a campaign of 200 readers through the public doors and compare what the API answers with what was sent."`
	Healthcheck healthcheckCommand `cmd:"" help:"Ask the process at the admin address whether it is ready; for container platforms."`
	Version     versionCommand     `cmd:"" help:"Print the version."`
}

func main() {
	pdf.Main() // these return unless this process is one that reads an upload
	picture.Main()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is the program without its process, and returns the exit code.
func run(ctx context.Context, args []string) int {
	cli := &commands{}
	parser, err := newParser(cli, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lodestone:", err)
		return exitFailed
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		printParseError(err)
		return exitSettings
	}
	command.BindTo(ctx, (*context.Context)(nil))
	command.Bind(bench.Version(version))
	switch err := command.Run(); {
	case err == nil:
		return 0
	case config.IsInvalid(err):
		printProblems(err)
		return exitSettings
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitFailed // interrupted before it was ready; the user knows
	default:
		fmt.Fprintln(os.Stderr, "lodestone:", err)
		return exitFailed
	}
}

func newParser(cli *commands, getenv func(string) string) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("lodestone"),
		kong.Description("Lodestone records how people read the documents you offer them, page by page, each event counted once. Every flag can also be set by the environment variable shown beside it, and secrets by a file that the variable with _FILE appended names."),
		kong.DefaultEnvars(config.EnvPrefix),
		kong.Resolvers(config.FileResolver(getenv)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
}

// printParseError prints what is wrong with the arguments. The parser stops at the first setting
// that cannot be used; the command tells all of them.
func printParseError(err error) {
	var parse *kong.ParseError
	if config.IsInvalid(err) && errors.As(err, &parse) && parse.Context.Selected() != nil {
		if command, ok := reflect.TypeAssert[interface{ check() error }](parse.Context.Selected().Target.Addr()); ok {
			if all := command.check(); all != nil {
				err = all
			}
		}
		printProblems(err)
		return
	}
	fmt.Fprintln(os.Stderr, "lodestone:", err)
}

// printProblems prints each wrong setting on a line of its own.
func printProblems(err error) {
	fmt.Fprintln(os.Stderr, "lodestone: the settings cannot be used:")
	var walk func(err error)
	walk = func(err error) {
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				walk(e)
			}
			return
		}
		fmt.Fprintln(os.Stderr, "  -", err)
	}
	walk(err)
}

// validate returns the problems of all settings together.
func validate(parts ...interface{ Validate() error }) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, part.Validate())
	}
	return errors.Join(errs...)
}
