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
	askAnew    = guardRetry / 10  // the client remembers for so long which topics there are, and are not
	guardTry   = 5 * time.Second  // one check, and how long the start of a process waits for it
	guardRetry = time.Second      // while Kafka does not answer
	guardGrace = 5 * time.Second  // a topic that was just made is not known to every broker yet
	guardAgain = 10 * time.Minute // settings may change while a process runs
)

// Guard checks Kafka's settings when a process starts, and now and then after that. It is a
// service.Service: its start fails with the Findings that are fatal, and tells the others to the
// log. When Kafka does not answer at the start it lets the process go on, since it may be able to
// work without, and checks as soon as Kafka does; a fatal finding then ends the process.
type Guard struct {
	*service.Loop
	options  []kgo.Opt
	ledger   PartitionLedger
	topics   []string
	log      *slog.Logger
	warnings prometheus.Gauge
	told     map[string]bool
	grace    time.Duration // that a topic may be missing at the start
}

// NewGuard returns the guard of the topics that a process uses. A nil ledger leaves the number of
// partitions unchecked.
func NewGuard(c Config, ledger PartitionLedger, log *slog.Logger, r prometheus.Registerer, topics ...string) (*Guard, error) {
	g := &Guard{
		options: c.Options(log), ledger: ledger, topics: topics, log: log, told: map[string]bool{}, grace: guardGrace,
		warnings: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "lodestone_kafka_setting_warnings", Help: "Settings of Kafka that endanger events: see the log.",
		}),
	}
	if err := r.Register(g.warnings); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	g.Loop = service.NewLoop("check of Kafka's settings", g.run)
	return g, nil
}

func (g *Guard) run(ctx context.Context, ready func()) error {
	client, err := kgo.NewClient(append(slices.Clip(g.options), kgo.MetadataMinAge(askAnew))...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	failing := false
	begin := time.Now()
	for {
		attempt, cancel := context.WithTimeout(ctx, guardTry)
		findings, err := Check(attempt, client, g.ledger, g.topics...)
		cancel()
		if ctx.Err() != nil {
			return nil
		}
		if isMissing(findings) && time.Since(begin) < g.grace {
			if service.Sleep(ctx, guardRetry/5) != nil {
				return nil
			}
			continue
		}
		if refused := g.tell(findings); refused != nil {
			return refused
		}
		pause := guardAgain
		if err != nil {
			if !failing { // once an outage
				g.log.Warn("cannot check Kafka's settings yet, will try again", "error", err)
			}
			pause = guardRetry
		}
		failing = err != nil
		ready()
		if service.Sleep(ctx, pause) != nil {
			return nil
		}
	}
}

func isMissing(findings []*Finding) bool {
	return slices.ContainsFunc(findings, func(f *Finding) bool { return f.Missing })
}

// tell logs each warning once and returns the fatal findings joined.
func (g *Guard) tell(findings []*Finding) error {
	var fatal []error
	warnings := 0
	for _, f := range findings {
		if f.Fatal {
			fatal = append(fatal, f)
			continue
		}
		warnings++
		if text := f.Error(); !g.told[text] {
			g.told[text] = true
			g.log.Warn("a setting of Kafka endangers events", "where", f.Where, "setting", f.Setting, "wrong", f.Wrong, "remedy", f.Remedy)
		}
	}
	g.warnings.Set(float64(warnings))
	return errors.Join(fatal...)
}
