package bench

import (
	"errors"
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
	Runs  int      `name:"runs" default:"5" help:"How often each side of a case runs; three times as often where runs of the collector are compared."`
	Seed  uint64   `name:"seed" default:"1" help:"What is drawn is drawn from it."`
	Quick bool     `name:"quick" help:"Shorter runs, fewer of them and less data: to see that it works. The figures are rough."`
	Only  []string `name:"only" placeholder:"PART" help:"Measure only the cases whose name has one of these parts in it."`
	JSON  string   `name:"json" placeholder:"FILE" help:"Write everything that was measured to this file."`

	Kafka         string   `name:"kafka" default:"embedded" enum:"embedded,real,both" help:"Which Kafka to start: embedded, as in lodestone up; real, which is Apache Kafka (needs Java 17); or both, one after the other."`
	KafkaBrokers  []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka to measure on instead of one that is started here. Its topics of Lodestone are deleted: needs --erase."`
	ClickHouseURL string   `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to measure on instead of one that is started here, as clickhouse://user:password@host:port/lodestone. All rows are removed: needs --erase. Secret."`
	PostgresURL   string   `name:"postgres-url" placeholder:"URL" help:"Postgres to measure on instead of one that is started here. All accounts are removed: needs --erase. Secret."`
	Erase         bool     `name:"erase" help:"What Lodestone has in the engines that are given may be erased."`
	Cache         string   `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, shared by all data directories. Default: lodestone in the user's cache directory; for root /var/cache/lodestone."`
	Program       string   `name:"program" placeholder:"FILE" help:"The program that is measured. Default: lodestone beside this one."`
	Dir           string   `name:"dir" placeholder:"DIR" help:"Where a directory for the data is made, and removed at the end. Default: the system's directory for temporary files."`
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
