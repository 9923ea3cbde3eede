// Command lodestone is every process of Lodestone: each subcommand is one, and `lodestone up` is
// all of them together on engines of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"lodestone/crud/pdf"
	"lodestone/pkg/config"
)

// Exit codes.
const (
	exitFailed   = 1
	exitSettings = 2 // the settings are wrong: starting again will not help
	// of verify and spool: not everything could be compared, read or sent; of migrate --check:
	// something is pending
	exitUnfinished = 3
)

// exitError is an error that ends the program with a code of its own.
type exitError struct {
	error
	code int
}

// Unwrap returns the error.
func (e exitError) Unwrap() error { return e.error }

type commands struct {
	Up          upCommand          `cmd:"" group:"Run it:" help:"Run everything on this machine. Engines without an address are embedded."`
	Collector   collectorCommand   `cmd:"" group:"Run it:" help:"Run the collector, which accepts events from browsers and servers and writes them to Kafka."`
	Consumer    consumerCommand    `cmd:"" group:"Run it:" help:"Run the consumer, which moves events from Kafka to ClickHouse and maintains the counters of links."`
	Query       queryCommand       `cmd:"" group:"Run it:" help:"Run the analytics endpoints of the API, on ClickHouse and Postgres."`
	Crud        crudCommand        `cmd:"" group:"Run it:" help:"Run the site and the API on Postgres: landing pages, reading pages, links, mails and webhooks."`
	Migrate     migrateCommand     `cmd:"" group:"Operate it:" help:"Update the schemas of Postgres and ClickHouse and create the Kafka topics. Safe to repeat, and to run from several processes at once."`
	Repartition repartitionCommand `cmd:"" group:"Operate it:" help:"Replace the event topics with ones that have another number of partitions, while consumers run and collectors with a spool accept events. Safe to repeat."`
	Account     accountCommand     `cmd:"" group:"Operate it:" help:"Create and list accounts."`
	Key         keyCommand         `cmd:"" group:"Operate it:" help:"Create, list and revoke API keys."`
	User        userCommand        `cmd:"" group:"Operate it:" help:"Add people to accounts, who sign in to the dashboard."`
	DeadLetters deadLettersCommand `cmd:"" group:"Operate it:" name:"dead-letters" help:"List, show, replay and discard dead letters: records that could not be stored as rows."`
	Spool       spoolCommand       `cmd:"" group:"Operate it:" help:"List, check, send and drop the contents of a stopped collector's spool."`
	Verify      verifyCommand      `cmd:"" group:"Operate it:" help:"Compare Kafka, ClickHouse and Postgres, print any difference, and fail if there is one."`
	Recount     recountCommand     `cmd:"" group:"Operate it:" help:"Recompute the counters of all links from the stored events."`
	TokenKeys   tokenKeysCommand   `cmd:"" group:"Operate it:" name:"token-keys" help:"Count the values encrypted under each token key. Exits with 3 while any value is under another key than the first."`
	Retention   retentionCommand   `cmd:"" group:"Operate it:" help:"Show and set how long events are kept."`
	SQL         sqlCommand         `cmd:"" group:"Ask and try:" name:"sql" help:"Run an SQL query as the read-only user of the database analytics."`
	Backup      backupCommand      `cmd:"" group:"Operate it:" help:"Back up everything that is stored, while it is used; list and check backups."`
	Restore     restoreCommand     `cmd:"" group:"Operate it:" help:"Restore a backup into empty engines, and resume mails and webhooks afterwards."`
	Engines     enginesCommand     `cmd:"" group:"Run it:" help:"Download the ClickHouse and PostgreSQL packages for lodestone up on a machine without npm or network. Copy the directory there, and pass it to up as --engine-cache."`
	Export      exportCommand      `cmd:"" group:"Ask and try:" help:"Write the events of every account to files, day by day."`
	MCP         mcpCommand         `cmd:"" group:"Ask and try:" name:"mcp" help:"Serve reports and lists to agents through the Model Context Protocol. Read-only without --write."`
	SQLUser     sqlUserCommand     `cmd:"" group:"Operate it:" name:"sql-user" help:"Create a read-only SQL user for one account. Prints a file for ClickHouse's directory users.d, and the password."`
	Demo        demoCommand        `cmd:"" group:"Ask and try:" help:"Simulate a campaign of 200 readers through the public endpoints, and compare the API's answers with the events sent. With --days, write weeks of past campaigns."`
	Healthcheck healthcheckCommand `cmd:"" group:"Operate it:" help:"Check whether the process at the admin address is ready, for container platforms."`
	Doctor      doctorCommand      `cmd:"" group:"Operate it:" help:"Examine engines, clocks, disks and certificates, and print what to fix."`
	Version     versionCommand     `cmd:"" group:"This program:" help:"Print the version of this program, and of the formats that it shares with other releases."`
	Completion  completionCommand  `cmd:"" group:"This program:" help:"Print the completion of commands and flags for a shell."`
	Complete    completeCommand    `cmd:"" hidden:"" help:"Print what may follow words of a command line."`
}

func main() {
	pdf.Main() // returns unless this process is one that reads an upload
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// run is the program without its process, and returns the exit code.
func run(ctx context.Context, args []string) int {
	command, err := parse(shorthand(args))
	if config.IsInvalid(err) {
		printProblems(err)
		return exitSettings
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "lodestone:", err)
		return exitSettings
	}
	if unknown := unknownVariables(command.Model, os.Environ()); len(unknown) > 0 {
		fmt.Fprintln(os.Stderr, "lodestone: no command has a setting for these variables, which have no effect:",
			strings.Join(unknown, " "))
	}
	command.BindTo(ctx, (*context.Context)(nil))
	var coded exitError
	switch err := command.Run(); {
	case err == nil:
		return 0
	case config.IsInvalid(err):
		printProblems(err)
		return exitSettings
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return exitFailed // interrupted before it was ready; the user knows
	case errors.As(err, &coded):
		fmt.Fprintln(os.Stderr, "lodestone:", err)
		return coded.code
	default:
		fmt.Fprintln(os.Stderr, "lodestone:", err)
		return exitFailed
	}
}

func newParser(cli *commands, given *config.Files) (*kong.Kong, error) {
	return kong.New(cli,
		kong.Name("lodestone"),
		kong.Description("Lodestone records how people read the documents you offer them, page by page, each event counted once. Flags can also be set by the environment variable shown beside them, and secrets by a file that the variable with _FILE appended names."),
		kong.PostBuild(nameVariables),
		kong.Bind(given),
		kong.Resolvers(runningUp{given}, given),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.PostBuild(groupFlags),
	)
}

// nameVariables gives each flag its environment variable. kong.DefaultEnvars takes a digit for a
// word of its own: S_3 for s3.
func nameVariables(k *kong.Kong) error {
	return kong.Visit(k.Model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok && config.FlagOnly(f) {
			f.Envs, f.Tag.Envs = nil, nil
		} else if ok && f.Name != "help" && len(f.Envs) == 0 {
			f.Envs = []string{config.EnvName(f.Name)}
			f.Tag.Envs = f.Envs
		}
		return next(nil)
	})
}

// printProblems prints each wrong setting on a line of its own.
func printProblems(err error) {
	fmt.Fprintln(os.Stderr, "lodestone: the settings cannot be used:")
	for _, p := range config.Problems(err) {
		fmt.Fprintln(os.Stderr, "  -", p)
	}
}

// validate returns the problems of all settings together.
func validate(parts ...interface{ Validate() error }) error {
	var errs []error
	for _, part := range parts {
		errs = append(errs, part.Validate())
	}
	return errors.Join(errs...)
}
