package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/service"
)

// How the guard asks.
const (
	metadataAge = guardRetry / 10  // the client remembers for so long which topics there are, and are not
	guardTry    = 5 * time.Second  // one check, and how long the start of a process waits for it
	guardRetry  = time.Second      // while Kafka does not answer
	guardGrace  = 5 * time.Second  // a new topic is not known to every broker yet
	guardAgain  = 10 * time.Minute // settings may change while a process runs
)

// Guard checks Kafka's settings when a process starts, and now and then after that. It is a
// service.Service: its start fails with the Findings that are fatal, and logs the others. When
// Kafka does not answer at the start it lets the process go on, since it may be able to
// work without, and checks as soon as Kafka does; a fatal finding then ends the process.
//
// A process that has started is not ended by a topic that is missing, since it may be recreated
// just now, nor by one that has too few copies: both are reported by the log and by metrics until
// they are over.
type Guard struct {
	*service.Loop
	options     []kgo.Opt
	ledger      PartitionLedger
	topics      []string
	log         *slog.Logger
	warnings    prometheus.Gauge
	missing     prometheus.Gauge
	logged      map[string]bool // findings of the last check
	grace       time.Duration   // that a topic may be missing at the start
	again       time.Duration   // between checks that find Kafka and the topics
	fewerCopies bool            // are accepted
	mayMiss     bool            // the process starts without its topics
}

// GuardConfig selects what a guard checks.
type GuardConfig struct {
	Kafka  Config
	Topics []string // that the process uses
	// AllowMissing lets the process start although topics are missing: until they exist, it stores its
	// records elsewhere.
	AllowMissing bool
}

// GuardDeps are the dependencies of a guard.
type GuardDeps struct {
	Ledger     PartitionLedger // nil: the number of partitions is not checked
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewGuard returns the guard of the topics that a process uses.
func NewGuard(c GuardConfig, d GuardDeps) (*Guard, error) {
	g := &Guard{
		options: c.Kafka.Options(d.Log), ledger: d.Ledger, topics: c.Topics, log: d.Log, mayMiss: c.AllowMissing,
		grace: guardGrace, again: guardAgain, fewerCopies: c.Kafka.AcceptFewerCopies,
		warnings: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_kafka_setting_warnings", Help: "Kafka settings that put events at risk: see the log.",
		}),
		missing: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_kafka_missing_topics", Help: "Topics that this process uses and that Kafka does not have.",
		}),
	}
	if err := errors.Join(d.Registerer.Register(g.warnings), d.Registerer.Register(g.missing)); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	g.Loop = service.NewLoop("check of Kafka's settings", g.run)
	return g, nil
}

func (g *Guard) run(ctx context.Context, ready func()) error {
	client, err := kgo.NewClient(append(slices.Clip(g.options), kgo.MetadataMinAge(metadataAge))...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	failing, started := false, false
	begin := time.Now()
	for {
		attempt, cancel := context.WithTimeout(ctx, guardTry)
		findings, err := Check(attempt, client, g.ledger, g.topics...)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		missing := isMissing(findings)
		if missing && !started && !g.mayMiss && time.Since(begin) < g.grace {
			if service.Sleep(ctx, guardRetry/5) != nil {
				return nil
			}
			continue
		}
		if err == nil || len(findings) > 0 { // else nothing is known, and what was reported stands
			if refused := g.report(findings, started); refused != nil {
				return refused
			}
		}
		pause := g.again
		if missing {
			pause = guardRetry
		}
		if err != nil {
			if !failing { // once an outage
				g.log.Warn("cannot check Kafka's settings yet, will try again", "error", err)
			}
			pause = guardRetry
		}
		failing, started = err != nil, true
		ready()
		if service.Sleep(ctx, pause) != nil {
			return nil
		}
	}
}

func isMissing(findings []*Finding) bool {
	return slices.ContainsFunc(findings, func(f *Finding) bool { return f.Missing })
}

// report logs each finding when it is new, sets the metrics, and returns the findings joined on
// which the process cannot go on.
func (g *Guard) report(findings []*Finding, started bool) error {
	var fatal []error
	warnings, missing := 0, 0
	known := make(map[string]bool, len(findings))
	for _, f := range findings {
		if g.ends(f, started) {
			fatal = append(fatal, f)
			continue
		}
		if f.Missing {
			missing++
		} else {
			warnings++
		}
		text := f.Error()
		known[text] = true
		if g.logged[text] {
			continue
		}
		level, message := slog.LevelWarn, "a Kafka setting puts events at risk"
		if f.Missing {
			level, message = slog.LevelError, "a topic of Kafka is missing: events wait until it is there"
		}
		g.log.Log(context.Background(), level, message, "where", f.Where, "setting", f.Setting, "wrong",
			f.Wrong, "remedy", f.Remedy)
	}
	g.logged = known
	g.warnings.Set(float64(warnings))
	g.missing.Set(float64(missing))
	return errors.Join(fatal...)
}

// ends reports whether a process cannot start on a finding, or cannot go on.
func (g *Guard) ends(f *Finding, started bool) bool {
	switch {
	case f.Missing:
		return !started && !g.mayMiss
	case f.Copies:
		return !started && !g.fewerCopies
	default:
		return f.Fatal
	}
}
