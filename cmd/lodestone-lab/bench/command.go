package bench

import (
	"context"
	"errors"
)

// Command is `lodestone-lab bench`: a subcommand a suite, all of them, and hidden ones that are run
// as child processes.
type Command struct {
	Collect  suiteCommand[collectOptions]  `cmd:"" help:"Measure the collector beside a server that only waits for Kafka, and one that does nothing."`
	Consume  suiteCommand[consumeOptions]  `cmd:"" help:"Measure the consumer beside ch-go, which inserts the same rows from memory."`
	Insert   suiteCommand[insertOptions]   `cmd:"" help:"Measure what an insert into ClickHouse costs by its rows."`
	EndToEnd suiteCommand[endToEndOptions] `cmd:"" name:"end-to-end" help:"Measure how long an event takes from its acknowledgement to an answer, under a steady load."`
	Query    suiteCommand[queryOptions]    `cmd:"" help:"Measure first pages of lists, by every filter and pair of filters, while events are stored, and how many bytes an event takes."`
	Report   suiteCommand[reportOptions]   `cmd:"" help:"Measure reports of a large account while events are stored, and how many bytes an event takes."`
	Export   suiteCommand[exportOptions]   `cmd:"" help:"Measure exports of events beside a client that reads the same rows from ClickHouse."`
	SQL      suiteCommand[sqlOptions]      `cmd:"" name:"sql" help:"Measure what heavy SQL queries do to everything else, and summaries of an address."`
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
	Insert   insertOptions   `embed:""`
	EndToEnd endToEndOptions `embed:""`
	Query    queryOptions    `embed:""`
	Report   reportOptions   `embed:""`
	Export   exportOptions   `embed:""`
	SQL      sqlOptions      `embed:""`
	Up       upOptions       `embed:""`
}

// Run measures everything.
func (c *allCommand) Run(ctx context.Context) error {
	return run(ctx, c.Settings, c.Collect, c.Consume, c.Insert, c.EndToEnd, c.Query, c.Report, c.Export, c.SQL, c.Up)
}

// run runs suites one after another, each on fresh engines, and prints what they found.
func run(ctx context.Context, s Settings, all ...options) (err error) {
	b, err := newBench(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	return b.run(ctx, all)
}

// The kinds of Kafka to measure on.
const (
	Embedded = "embedded" // as in `lodestone up`, in a process of its own
	Real     = "real"     // Apache Kafka, one node
	both     = "both"
)

// Settings are those of every suite.
type Settings struct {
	Runs  int      `name:"runs" default:"5" help:"How often each side of a case runs; three times as often where runs of the collector are compared."`
	Seed  uint64   `name:"seed" default:"1" help:"What is drawn is drawn from it."`
	Quick bool     `name:"quick" help:"Shorter runs, fewer of them and less data: to see that it works. The figures are rough."`
	Only  []string `name:"only" placeholder:"PART" help:"Measure only the cases whose name has one of these parts in it."`

	Kafka   string `name:"kafka" default:"embedded" enum:"embedded,real,both" help:"Which Kafka to start: embedded, as in lodestone up; real, which is Apache Kafka (needs Java 17); or both, one after the other."`
	Cache   string `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, shared by all data directories. Default: lodestone in the user's cache directory; for root /var/cache/lodestone."`
	Program string `name:"program" placeholder:"FILE" help:"The program that is measured. Default: lodestone beside this one."`
	Dir     string `name:"dir" placeholder:"DIR" help:"Where a directory for the data is made, and removed at the end. Default: the system's directory for temporary files."`
}

// quickRuns is how often a side runs with --quick.
const quickRuns = 3

func (s Settings) kafkas() []string {
	if s.Kafka == both {
		return []string{Embedded, Real}
	}
	return []string{s.Kafka}
}
