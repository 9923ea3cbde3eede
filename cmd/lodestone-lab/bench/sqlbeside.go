package bench

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/service"
)

const (
	heavyAtOnce = 8 // who ask at a time; how many of their queries run is ClickHouse's to say

	besideTime  = 10 * time.Second
	besideRows  = 2_500_000 // more than the consumer stores meanwhile
	besideWarm  = 500 * time.Millisecond
	besideQuick = 4  // how much shorter a quick run is
	besideAsks  = 20 // lists of events a second
	besideConns = 8  // that send events to the collector, each the next one when the last is acknowledged

	asked     = "heavy queries/s"
	running   = "heavy queries running" // mean
	refused   = "refused queries/s"
	failed    = "failed requests"
	collected = "collector events/s"

	alone = "alone"
)

// beside measures how much the heaviest queries that the SQL user may ask slow down everything else: the consumer, which empties
// a topic, the collector, which fills it, and the list of events, which is asked for meanwhile. It does so twice: as the profile is,
// and with queries that share the processors as equals, which is what a server has that may not set priorities.
func (s *sqlBench) beside(ctx context.Context) error {
	equal, err := s.equalAnalyst()
	if err != nil {
		return err
	}
	return errors.Join(s.besideFastest(ctx, besideCase, "", s.analyst),
		s.besideFastest(ctx, equalsCase, ", which have the priority of everything else", equal))
}

func (s *sqlBench) besideFastest(ctx context.Context, name, how, door string) error {
	w := besideWindow{sqlBench: s, long: besideTime, rows: besideRows}
	if s.b.Quick {
		w.long, w.rows = w.long/besideQuick, w.rows/besideQuick
	}
	return s.measureBeside(ctx, door, w.run, Case{
		Name:  name,
		Title: fmt.Sprintf("the consumer at its fastest, the collector from %d connections, and GET /analytics, %d a second, beside %d people who ask heavy SQL queries one after another%s, and without", besideConns, besideAsks, heavyAtOnce, how),
		Targets: append([]Target{
			{What: "≥ 70 % of the consumer's throughput", Value: Rate, Against: alone, AtLeast: 0.7},
			{What: "≥ 70 % of the collector's throughput", Value: collected, Against: alone, AtLeast: 0.7},
			{What: "p99 ≤ 2.5 × that alone", Value: Latency(0.99), Against: alone, AtMost: 2.5},
		}, besideMemory...),
		Show: slices.Concat([]string{Rate, collected, collectorP99, Latency(0.5), Latency(0.9), Latency(0.99), failed, running, asked, refused}, besidePeaks),
	})
}

// measureBeside measures runs beside people who ask heavy queries at a door, and without.
func (s *sqlBench) measureBeside(ctx context.Context, door string, run func(context.Context, *analysts) (Sample, error), c Case) error {
	busy, done := 0.0, 0
	c.Sides = []Side{
		{Name: "beside SQL", Run: func(ctx context.Context) (Sample, error) {
			team := newAnalysts(heavyAtOnce, func(ctx context.Context, query string) error { return s.ask(ctx, door, query) })
			sample, err := run(ctx, team)
			if err != nil {
				return nil, err
			}
			if reasons := team.reasons(); reasons != "" {
				s.b.Sayf("%s: refused %s", c.Name, reasons)
			}
			done++
			if busy += sample[running]; busy == 0 && done == c.Warm+s.b.Runs && !s.b.Quick {
				return nil, fmt.Errorf("no heavy query ran in %d runs, so that nothing is known of what they do; in the last, refused: %s",
					done, cmp.Or(team.reasons(), "none"))
			}
			return sample, nil
		}},
		{Name: alone, Run: func(ctx context.Context) (Sample, error) { return run(ctx, newAnalysts(0, nil)) }},
	}
	return s.b.Measure(ctx, c)
}

// besideMemory is what processes may hold while heavy queries run, and besidePeaks what of that is shown.
var (
	besideMemory = []Target{clickhouseMemory, queryMemory, consumerMemory, collectorMemory}
	besidePeaks  = []string{Peak("clickhouse"), Peak("query"), Peak("consumer"), Peak("collector"), Peak("postgres")}
)

// besideWindow is a run of this case: how long it is measured, and how much waits in Kafka.
type besideWindow struct {
	*sqlBench
	long time.Duration
	rows int64
}

// run puts everything under load.
func (w besideWindow) run(ctx context.Context, team *analysts) (sample Sample, err error) {
	if err := w.e.remakeTopics(ctx, w.b, upPartitions); err != nil {
		return nil, err
	}
	if err := w.e.fill(ctx, w.b.Seed+1, w.rows); err != nil {
		return nil, err
	}
	listen, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	collector, err := w.b.Lodestone(ctx, w.e, "collector", "COLLECTOR_LISTEN="+listen, "SPOOL_DIR="+filepath.Join(w.e.dir, "spool"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, collector.Stop(context.WithoutCancel(ctx))) }()
	team.start(ctx)
	defer func() {
		team.stop()
		err = errors.Join(err, w.awaitNoQueries(context.WithoutCancel(ctx)))
	}()
	consumer, err := w.b.Lodestone(ctx, w.e, "consumer", "CONSUMER_GROUP=bench-"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, consumer.Stop(context.WithoutCancel(ctx))) }()
	watch, err := Watch(append(w.e.Processes(), collector.Metered(), consumer.Metered(), w.process.Metered())...)
	if err != nil {
		return nil, err
	}
	sample, err = w.measure(ctx, consumer, listen, team)
	use, stopErr := watch.Stop()
	if err = errors.Join(err, stopErr); err != nil {
		return nil, err
	}
	sample.addMemory(use)
	return sample, nil
}

// measure begins when the consumer has stored its first block.
func (w besideWindow) measure(ctx context.Context, consumer *Process, collector string, team *analysts) (Sample, error) {
	rows := pace{began: time.Now()}
	stored := func() (float64, error) { return metric(ctx, consumer.Admin, "lodestone_consumer_rows_total") }
	if err := await(ctx, startPatience, func() (bool, error) {
		n, err := stored()
		return n > 0, err
	}); err != nil {
		return nil, fmt.Errorf("wait for the first rows: %w", err)
	}
	m := newMessages(w.b.Seed, w.e.Tokens)
	load := loadOptions{address: collector, connections: besideConns, seed: w.b.Seed, request: func(int) request { return m.one() }}
	var (
		under    measured
		lists    []answer
		failures []error
		heavies  []uint64
	)
	begin := time.Now()
	answeredBefore, refusedBefore := team.counts()
	all, loadCtx := errgroup.WithContext(ctx)
	all.Go(func() (err error) {
		under, err = putUnderLoad(loadCtx, load, besideWarm, w.long-besideWarm)
		return err
	})
	all.Go(func() (err error) {
		asks := openLoop{rate: besideAsks, requests: int(besideAsks * w.long.Seconds()), seed: w.b.Seed}
		lists, failures, err = asks.run(loadCtx, func(ctx context.Context, _ int) error { return w.get(ctx, "/api/v1/analytics?per_page=20") })
		return err
	})
	all.Go(func() error {
		for time.Since(begin) < w.long {
			n, err := stored()
			if err != nil {
				return err
			}
			rows.add(time.Now(), n)
			heavy, err := w.heavies(loadCtx)
			if err != nil {
				return err
			}
			heavies = append(heavies, heavy)
			if err := service.Sleep(loadCtx, lookInterval); err != nil {
				return err
			}
		}
		return nil
	})
	if err := all.Wait(); err != nil {
		return nil, err
	}
	took := time.Since(begin).Seconds()
	answered, refusals := team.counts()
	if rows.lastRows >= float64(w.rows) {
		w.b.Sayf("sql/beside: the consumer had stored everything after %v of %v", rows.last.Sub(begin).Round(time.Millisecond), w.long)
	}
	s := Sample{
		Rate: rows.rate(), collected: under.sample()[Rate], collectorP99: under.sample()[Latency(0.99)], failed: float64(len(failures)),
		running: mean(heavies), asked: float64(answered-answeredBefore) / took, refused: float64(refusals-refusedBefore) / took,
	}
	s.AddLatencies(withFailures(lists, failures))
	return s, nil
}

// equalUser is the SQL user but for its priority: as it is where the server may not set one.
const equalUser = `<clickhouse>
  <profiles><bench_equal><profile>analyst</profile><os_thread_priority>0</os_thread_priority></bench_equal></profiles>
  <users>
    <bench_equal>
      <password_sha256_hex>%x</password_sha256_hex>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>bench_equal</profile>
      <quota>analyst</quota>
      <grants><query>GRANT SELECT ON analytics.*</query></grants>
    </bench_equal>
  </users>
</clickhouse>
`

const equalName = "bench_equal"

// addEqualAnalyst makes that user of a ClickHouse that is not started yet, and returns its password.
func addEqualAnalyst(clickhouseDir string) (password string, err error) {
	password = rand.Text()
	dir := filepath.Join(clickhouseDir, "users.d")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return password, os.WriteFile(filepath.Join(dir, equalName+".xml"), fmt.Appendf(nil, equalUser, sha256.Sum256([]byte(password))), 0o600)
}

// equalAnalyst is the address of that user.
func (s *sqlBench) equalAnalyst() (string, error) {
	door, err := url.Parse(s.analyst)
	if err != nil {
		return "", err
	}
	door.User = url.UserPassword(equalName, s.e.equalPassword)
	return door.String(), nil
}

// heavies returns how many queries of analysts run.
func (s *sqlBench) heavies(ctx context.Context) (n uint64, err error) {
	if err := s.store.QueryRow(ctx, "SELECT count() FROM system.processes WHERE user != currentUser()").Scan(&n); err != nil {
		return 0, fmt.Errorf("count the SQL user's queries: %w", err)
	}
	return n, nil
}

// awaitNoQueries waits until ClickHouse has given up the queries of analysts who went away, also those in line: the next run is to
// begin without.
func (s *sqlBench) awaitNoQueries(ctx context.Context) error {
	if err := await(ctx, drainPatience, func() (bool, error) {
		var waiting uint64
		if err := s.store.QueryRow(ctx, "SELECT ifNull(sum(queue_length), 0) FROM system.scheduler").Scan(&waiting); err != nil || waiting > 0 {
			return false, err
		}
		n, err := s.heavies(ctx)
		return n == 0, err
	}); err != nil {
		return fmt.Errorf("wait for the SQL user's queries to end: %w", err)
	}
	return nil
}

// withFailures is how long lists took. One that failed counts as the longest that an answer may take: none that is refused makes
// the others look better.
func withFailures(lists []answer, failures []error) *Latencies {
	const longest = 10 * time.Second // --query-timeout
	all := latenciesOf(lists)
	for range failures {
		all.Add(longest)
	}
	return all
}

func mean(all []uint64) float64 {
	sum := 0.0
	for _, n := range all {
		sum += float64(n)
	}
	return sum / float64(max(1, len(all)))
}

// pace tells how fast a number grows that grows in steps: from one step to another, or, if there is one only, from began.
type pace struct {
	began, first, last  time.Time
	firstRows, lastRows float64
}

func (p *pace) add(now time.Time, rows float64) {
	if rows == p.lastRows {
		return
	}
	if p.first.IsZero() && p.lastRows > 0 {
		p.first, p.firstRows = now, rows
	}
	p.last, p.lastRows = now, rows
}

// rate is by the second; 0 if there was no step.
func (p *pace) rate() float64 {
	if p.last.IsZero() {
		return 0
	}
	if p.first.IsZero() || !p.last.After(p.first) {
		return p.lastRows / p.last.Sub(p.began).Seconds()
	}
	return (p.lastRows - p.firstRows) / p.last.Sub(p.first).Seconds()
}

// addMemory adds the memory that processes had in a run.
func (s Sample) addMemory(use map[string]Use) {
	for name, u := range use {
		s[Peak(name)], s[Steady(name)] = float64(u.Peak)/(1<<20), float64(u.Steady)/(1<<20)
	}
}
