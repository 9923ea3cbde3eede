package bench

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"lodestone/pkg/config"
)

// The kinds of Kafka to measure on.
const (
	Embedded = "embedded" // as in `lodestone up`, in a process of its own
	Real     = "real"     // Apache Kafka, one node
	Given    = "given"    // by address
	both     = "both"
)

// Settings are those of every suite.
type Settings struct {
	Runs     int      `name:"runs" default:"5" help:"How often each side of a case runs; three times as often where runs of the collector are compared, and less where a run takes long."`
	Seed     uint64   `name:"seed" default:"1" help:"What is drawn is drawn from it."`
	Quick    bool     `name:"quick" help:"Shorter runs, fewer of them and less data: to see that it works. The figures are rough."`
	Only     []string `name:"only" placeholder:"PART" help:"Measure only the cases whose name has one of these parts in it."`
	JSON     string   `name:"json" placeholder:"FILE" help:"Write everything that was measured to this file."`
	Markdown bool     `name:"markdown" help:"Print the tables in Markdown, as docs/bench/report.md has them."`

	Kafka         string   `name:"kafka" default:"embedded" enum:"embedded,real,both" help:"Which Kafka to start: embedded, as in lodestone up; real, which is Apache Kafka (needs Java 17); or both, one after the other."`
	KafkaBrokers  []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka to measure on instead of one that is started here. It must be empty, for every suite begins with it empty: its topics are deleted and made anew."`
	ClickHouseURL string   `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to measure on instead of one that is started here, as clickhouse://user:password@host:port/lodestone. It must be empty, for every suite begins with it empty: all rows are removed. Secret."`
	PostgresURL   string   `name:"postgres-url" placeholder:"URL" help:"Postgres to measure on instead of one that is started here. It must be empty, for every suite begins with it empty: all accounts are removed. Secret."`
	Erase         bool     `name:"erase" help:"What is in the engines that are given may be erased. Without it the bench refuses engines that hold anything."`
	Cache         string   `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, shared by all data directories. Default: lodestone in the user's cache directory; for root /var/cache/lodestone."`
	Program       string   `name:"program" placeholder:"FILE" help:"The program that is measured. Default: lodestone beside this one."`
	Dir           string   `name:"dir" placeholder:"DIR" help:"Where a directory for the data is made, and removed at the end. Default: the system's directory for temporary files."`
}

// quickRuns is how often a side runs with --quick.
const quickRuns = 3

// Validate returns every problem of the settings.
func (s Settings) Validate() error {
	var errs []error
	errs = append(errs, numberWithin("--runs", s.Runs, 1, 1000))
	if !slices.Contains([]string{Embedded, Real, both}, s.Kafka) {
		errs = append(errs, config.Invalid("--kafka", "is unknown", "give embedded, real or both"))
	}
	if len(s.KafkaBrokers) > 0 && s.Kafka != Embedded {
		errs = append(errs, config.Invalid("--kafka", "is given beside --kafka-brokers", "give one of the two"))
	}
	return errors.Join(errs...)
}

// numberWithin returns what is wrong with a setting that is to be a number from least to most, or nil.
func numberWithin(setting string, n, least, most int) error {
	if n < least || n > most {
		return config.Invalid(setting, "is out of range", fmt.Sprintf("give a number from %d to %d", least, most))
	}
	return nil
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

func newLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
