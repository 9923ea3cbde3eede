package bench

import (
	"context"
	"errors"
	"os"
	"strings"
)

// Command is `lodestone-lab bench`: a subcommand a suite, all of them, and hidden ones that are run as child
// processes.
type Command struct {
	Collect  suiteCommand[collectOptions]  `cmd:"" help:"Measure the collector beside a server that only waits for Kafka, and one that does nothing."`
	Consume  suiteCommand[consumeOptions]  `cmd:"" help:"Measure the consumer beside ch-go, which inserts the same rows from memory."`
	EndToEnd suiteCommand[endToEndOptions] `cmd:"" name:"end-to-end" help:"Measure how long an event takes from its acknowledgement to an answer, under a steady load."`
	Query    suiteCommand[queryOptions]    `cmd:"" help:"Measure lists of events, every filter and pair of filters, while events are stored, and how many bytes an event takes."`
	SQL      suiteCommand[sqlOptions]      `cmd:"" name:"sql" help:"Measure the questions of docs/sql.md, what heavy SQL queries do to everything else, and summaries of an address."`
	Up       suiteCommand[upOptions]       `cmd:"" help:"Measure how long lodestone up takes to start, and what it needs at rest."`
	All      allCommand                    `cmd:"" help:"Measure everything."`

	Limit  limitCommand  `cmd:"" hidden:"" help:"The server that shows what can be reached."`
	Broker brokerCommand `cmd:"" hidden:"" help:"The embedded Kafka broker as a process."`
}

// suite is the cases of one subcommand.
type suite struct {
	name string
	// kafka says that the figures depend on which Kafka it is: the suite runs once for each.
	kafka bool
	// bare says that it needs no engines: run gets none.
	bare bool
	// cases are the names of its cases: where none is wanted, nothing is started.
	cases []string
	// run measures its cases by Bench.Measure.
	run func(ctx context.Context, b *Bench, e *Engines) error
}

// options are the settings of one suite.
type options interface{ suite() suite }

// suiteCommand runs one suite.
type suiteCommand[O options] struct {
	Settings Settings `embed:""`
	Options  O        `embed:""`
}

// Run measures the cases of the suite.
func (c *suiteCommand[O]) Run(ctx context.Context) error { return run(ctx, c.Settings, c.Options) }

// allCommand runs every suite, each with its options.
type allCommand struct {
	Settings Settings        `embed:""`
	Collect  collectOptions  `embed:""`
	Consume  consumeOptions  `embed:""`
	EndToEnd endToEndOptions `embed:""`
	Query    queryOptions    `embed:""`
	SQL      sqlOptions      `embed:""`
	Up       upOptions       `embed:""`
}

// Run measures everything.
func (c *allCommand) Run(ctx context.Context) error {
	return run(ctx, c.Settings, c.Collect, c.Consume, c.EndToEnd, c.Query, c.SQL, c.Up)
}

// run runs suites one after another, each on fresh engines, and prints what they found.
func run(ctx context.Context, s Settings, all ...options) (err error) {
	if err := s.Validate(); err != nil {
		return err
	}
	b, err := newBench(s, os.Stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	b.report.Command = commandLine(os.Args)
	return b.run(ctx, all)
}

// commandLine is what was called, for the report, without what means nothing elsewhere or is secret: names of files, addresses of engines.
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
			words = append(words, args[i])
		}
	}
	return strings.Join(words, " ")
}
