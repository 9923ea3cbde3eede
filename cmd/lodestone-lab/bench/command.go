package bench

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"lodestone/pkg/config"
)

// Command is `lodestone-lab bench`: a subcommand a suite, all of them, and hidden ones that are run as child
// processes.
type Command struct {
	Collect  suiteCommand[collectOptions]  `cmd:"" help:"Measure the collector beside a server that only waits for Kafka, and one that does nothing."`
	Consume  suiteCommand[consumeOptions]  `cmd:"" help:"Measure the consumer beside ch-go, which inserts the same rows from memory."`
	Shards   suiteCommand[shardOptions]    `cmd:"" help:"Measure the consumer on two ClickHouse shards beside one server."`
	Insert   suiteCommand[insertOptions]   `cmd:"" help:"Measure what an insert into ClickHouse costs by its rows."`
	EndToEnd suiteCommand[endToEndOptions] `cmd:"" name:"end-to-end" help:"Measure how long an event takes from its acknowledgement to an answer, under a steady load."`
	Query    suiteCommand[queryOptions]    `cmd:"" help:"Measure lists of events, every filter and pair of filters, while events are stored, and how many bytes an event takes."`
	Report   suiteCommand[reportOptions]   `cmd:"" help:"Measure reports of a large account while events are stored, and how many bytes an event takes."`
	Export   suiteCommand[exportOptions]   `cmd:"" help:"Measure exports of events beside a client that reads the same rows from ClickHouse."`
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
	Shards   shardOptions    `embed:""`
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
	return run(ctx, c.Settings, c.Collect, c.Consume, c.Shards, c.Insert, c.EndToEnd, c.Query, c.Report, c.Export, c.SQL, c.Up)
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
		case "--json", "--dir", "--program", "--engine-cache", "--kafka-brokers", "--clickhouse-url", "--clickhouse-http-url", "--postgres-url":
			if !joined {
				i++
			}
		default:
			words = append(words, args[i])
		}
	}
	return strings.Join(words, " ")
}

// The kinds of Kafka to measure on.
const (
	Embedded = "embedded" // as in `lodestone up`, in a process of its own
	Real     = "real"     // Apache Kafka, one node
	Given    = "given"    // by address
	both     = "both"
)

// Settings are those of every suite.
type Settings struct {
	Runs  int      `name:"runs" default:"5" help:"How often each side of a case runs; three times as often where runs of the collector are compared."`
	Seed  uint64   `name:"seed" default:"1" help:"What is drawn is drawn from it."`
	Quick bool     `name:"quick" help:"Shorter runs, fewer of them and less data: to see that it works. The figures are rough."`
	Only  []string `name:"only" placeholder:"PART" help:"Measure only the cases whose name has one of these parts in it."`
	JSON  string   `name:"json" placeholder:"FILE" help:"Write everything that was measured to this file."`

	Kafka          string   `name:"kafka" default:"embedded" enum:"embedded,real,both" help:"Which Kafka to start: embedded, as in lodestone up; real, which is Apache Kafka (needs Java 17); or both, one after the other."`
	KafkaBrokers   []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka to measure on instead of one that is started here. Its topics of Lodestone are deleted: needs --erase."`
	ClickHouseURL  string   `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to measure on instead of one that is started here, as clickhouse://user:password@host:port/lodestone. All rows are removed: needs --erase. Secret."`
	ClickHouseHTTP string   `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the same ClickHouse, as http://user:password@host:port, which exports need. Secret."`
	PostgresURL    string   `name:"postgres-url" placeholder:"URL" help:"Postgres to measure on instead of one that is started here. All accounts are removed: needs --erase. Secret."`
	Erase          bool     `name:"erase" help:"What Lodestone has in the engines that are given may be erased."`
	Cache          string   `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, shared by all data directories. Default: lodestone in the user's cache directory; for root /var/cache/lodestone."`
	Program        string   `name:"program" placeholder:"FILE" help:"The program that is measured. Default: lodestone beside this one."`
	Dir            string   `name:"dir" placeholder:"DIR" help:"Where a directory for the data is made, and removed at the end. Default: the system's directory for temporary files."`
}

// quickRuns is how often a side runs with --quick.
const quickRuns = 3

// Validate returns every problem of the settings.
func (s Settings) Validate() error {
	var errs []error
	if len(s.KafkaBrokers) > 0 && s.Kafka != Embedded {
		errs = append(errs, config.Invalid("--kafka", "is given beside --kafka-brokers", "give one of the two"))
	}
	for setting, given := range map[string]bool{"--kafka-brokers": len(s.KafkaBrokers) > 0, "--clickhouse-url": s.ClickHouseURL != "", "--postgres-url": s.PostgresURL != ""} {
		if given && !s.Erase {
			errs = append(errs, config.Invalid(setting, "names an engine that would be emptied", "give --erase if all that Lodestone has there may be lost"))
		}
	}
	return errors.Join(errs...)
}

func (s Settings) kafkas() []string {
	switch {
	case len(s.KafkaBrokers) > 0:
		return []string{Given}
	case s.Kafka == both:
		return []string{Embedded, Real}
	default:
		return []string{s.Kafka}
	}
}

// judged returns the targets that can be judged: of engines that are given only the addresses are known, not what their processes use.
func (s Settings) judged(targets []Target) []Target {
	return slices.DeleteFunc(slices.Clone(targets), func(t Target) bool {
		return s.ClickHouseURL != "" && slices.Contains([]string{Peak("clickhouse"), bothCPU}, t.Value)
	})
}
