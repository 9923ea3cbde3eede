package bench

import (
	"context"
	"errors"
	"os"
	"regexp"
	"strings"
)

// Command is `lodestone-lab bench`: a subcommand a suite, all of them, and hidden ones that are run as child
// processes.
type Command struct {
	Collect  suiteCommand[collectOptions]  `cmd:"" help:"Measure the collector beside a server that only waits for Kafka, and one that does nothing."`
	Consume  suiteCommand[consumeOptions]  `cmd:"" help:"Measure the consumer beside ch-go, which inserts the same rows from memory."`
	EndToEnd suiteCommand[endToEndOptions] `cmd:"" name:"end-to-end" help:"Measure how long an event takes from its acknowledgement to an answer, under a steady load."`
	Query    suiteCommand[queryOptions]    `cmd:"" help:"Measure lists of events, every filter and pair of filters, while events are stored."`
	Storage  suiteCommand[storageOptions]  `cmd:"" help:"Measure how many bytes an event takes."`
	Serve    suiteCommand[serveOptions]    `cmd:"" help:"Measure what crud and query need under full load."`
	SQL      suiteCommand[sqlOptions]      `cmd:"" name:"sql" help:"Measure the questions of docs/sql.md, what heavy SQL queries do to everything else, and summaries of an address."`
	Up       suiteCommand[upOptions]       `cmd:"" help:"Measure how long lodestone up takes to start, and what it needs at rest."`
	All      allCommand                    `cmd:"" help:"Measure everything."`
	Report   reportCommand                 `cmd:"" help:"Print what was measured before, or put it into a document, with plots."`

	Limit  limitCommand  `cmd:"" hidden:"" help:"The server that shows what can be reached."`
	Broker brokerCommand `cmd:"" hidden:"" help:"The embedded Kafka broker as a process."`
	Insert insertCommand `cmd:"" hidden:"" help:"The limit of the consumer: ch-go with rows in memory."`
}

// options are the settings of one suite.
type options interface {
	Validate() error
	suite() suite
}

// suiteCommand runs one suite.
type suiteCommand[O options] struct {
	Settings Settings `embed:""`
	Options  O        `embed:""`
}

// Run measures the cases of the suite.
func (c *suiteCommand[O]) Run(ctx context.Context) error {
	if err := errors.Join(c.Settings.Validate(), c.Options.Validate()); err != nil {
		return err
	}
	return run(ctx, c.Settings, commandLine(os.Args), c.Options.suite())
}

// allCommand runs every suite, each with its options.
type allCommand struct {
	Settings Settings        `embed:""`
	Collect  collectOptions  `embed:""`
	Consume  consumeOptions  `embed:""`
	EndToEnd endToEndOptions `embed:""`
	Query    queryOptions    `embed:""`
	Storage  storageOptions  `embed:""`
	Serve    serveOptions    `embed:""`
	SQL      sqlOptions      `embed:""`
	Up       upOptions       `embed:""`
}

// Run measures everything.
func (c *allCommand) Run(ctx context.Context) error {
	errs := []error{c.Settings.Validate()}
	var suites []suite
	for _, o := range []options{c.Collect, c.Consume, c.EndToEnd, c.Query, c.Storage, c.Serve, c.SQL, c.Up} {
		errs = append(errs, o.Validate())
		suites = append(suites, o.suite())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return run(ctx, c.Settings, commandLine(os.Args), suites...)
}

// commandLine is what was called, for the report, as a shell takes it, but for what means nothing elsewhere: the names of
// files, the engines that were given, and that they may be erased.
func commandLine(args []string) string {
	words := []string{"lodestone-lab"}
	for i := 1; i < len(args); i++ {
		switch name, _, joined := strings.Cut(args[i], "="); name {
		case "--erase":
		case "--json", "--dir", "--program", "--engine-cache", "--kafka-brokers", "--clickhouse-url", "--postgres-url":
			if !joined {
				i++
			}
		default:
			words = append(words, quoted(args[i]))
		}
	}
	return strings.Join(words, " ")
}

// plainWord is what a shell takes as it is.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quoted is a word as a shell takes it for one.
func quoted(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
