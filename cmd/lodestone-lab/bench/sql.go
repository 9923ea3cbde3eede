package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/service"
)

// sqlOptions are the settings of this suite alone.
type sqlOptions struct {
	Rows int64 `name:"sql-rows" default:"10000000" help:"Events in the table, of one year."`
}

func (o sqlOptions) suite() suite {
	return suite{name: "sql", cases: []string{emailCase, besideCase}, run: o.run}
}

// The cases of the suite.
const (
	emailCase  = "sql/email"
	besideCase = "sql/beside"
)

// The addresses whose summaries are asked for, and the access links of each.
const addresses, linksOfAddress = 10, 1_000

// sqlBench is the state that the cases share.
type sqlBench struct {
	*Bench
	*queried
	sqlOptions
	e      *Engines
	events *traffic.Generator
	http   *http.Client // keeps a connection for each of those who ask at once
}

func (o sqlOptions) run(ctx context.Context, b *Bench, e *Engines) (err error) {
	rows := o.Rows
	if b.Quick {
		rows = min(rows, 500_000)
	}
	s := &sqlBench{Bench: b, sqlOptions: o, e: e, events: pastYear(b.Seed, rows),
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	s.Rows = rows
	defer s.http.CloseIdleConnections()
	if s.queried, err = b.startQueried(ctx, e, s.events, rows, addresses, linksOfAddress); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	return errors.Join(s.email(ctx), s.beside(ctx))
}

// email measures the summary of addresses with many access links, at random times, each from the
// time at which it was due.
func (s *sqlBench) email(ctx context.Context) error {
	const rate = 20 // a second
	requests := 150
	if s.Quick {
		requests /= 5
	}
	var turn atomic.Int64
	seed := s.Seed
	return s.Measure(ctx, Case{
		Name: emailCase, Warm: 1,
		Title: fmt.Sprintf("GET /analytics/email of %d addresses with %d access links each, in turn, in the largest account, %d a second at random times", len(s.emails), linksOfAddress, rate),
		Sides: []Side{{Name: "query", Run: func(ctx context.Context) (Sample, error) {
			seed++ // other times in each run
			took, err := openLoop(ctx, seed, rate, requests, func(ctx context.Context, _ int) error {
				_, _, err := get(ctx, s.http, s.base+"/email?email="+url.QueryEscape(s.emails[int(turn.Add(1))%len(s.emails)]),
					s.key)
				return err
			})
			sample := Sample{}
			sample.AddLatencies(latenciesOf(took))
			return sample, err
		}}},
	})
}

// analyse asks as the SQL user. An answer comes when it is complete, so that an error within one is
// seen, and a query ends when whoever asked has gone: it would run on beside what is measured next.
func (s *sqlBench) analyse(ctx context.Context, query string) error {
	r, err := exchange(ctx, s.http, http.MethodPost,
		s.e.clickhouse.SQLURL()+"&wait_end_of_query=1&cancel_http_readonly_queries_on_client_close=1", "", []byte(query))
	if err == nil && r.status != http.StatusOK {
		err = fmt.Errorf("the SQL user gets %d %s: %.200s", r.status, http.StatusText(r.status), r.body)
	}
	return err
}

const (
	analysts = 8 // who ask at a time; how many of their queries run is ClickHouse's to say

	besideEvents      = 4000 // a second, to the collector
	besideBatch       = 10
	besideConnections = 16
	besideAsks        = 10 // lists of events a second: with more of them two processors are full without SQL
	besideWarm        = 2 * time.Second
	besideTime        = 20 * time.Second // 200 lists: p99 is the third slowest

	asked   = "heavy queries/s"
	refused = "refused queries/s"
	stored  = "stored events/s"
	alone   = "alone"
)

// heavy are queries that take as much as the SQL user may have: the thread for seconds, and nearly
// all of the memory.
var heavy = []string{
	"SELECT device, count(), uniqExact(access_link_id), sum(reading_ms) FROM sessions GROUP BY device",
	"SELECT uniq(event_id), uniq(session_id), max(length(event_data)), sum(cityHash64(user_agent, event_data)) FROM events",
	"SELECT access_link_id, count() AS n FROM events GROUP BY access_link_id ORDER BY n DESC LIMIT 10",
	"SELECT event_id FROM events ORDER BY cityHash64(event_id) LIMIT 100",
}

// beside measures what heavy SQL queries do to everything else while events come at a steady rate,
// and are stored as they come. The machine is not full without SQL, so it is not seen how a full
// machine is shared.
func (s *sqlBench) beside(ctx context.Context) (err error) {
	if !s.Wanted(besideCase) {
		return nil
	}
	long := besideTime
	if s.Quick {
		long /= 4
	}
	if err := s.e.makeTopics(ctx, s.Bench, upPartitions); err != nil {
		return err
	}
	p, err := s.startPipeline(ctx, s.e)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.stop(ctx)) }()
	side := func(name string, askers int) Side {
		return Side{Name: name, Run: func(ctx context.Context) (Sample, error) { return s.besideRun(ctx, p, long, askers) }}
	}
	return s.Measure(ctx, Case{
		Name: besideCase, Warm: 1, // so soon after the table was filled, its parts are still merged
		Title: fmt.Sprintf("%d events a second through collector and consumer, and GET /analytics, %d a second, both at random times, beside %d people who ask heavy SQL queries one after another, and without",
			besideEvents, besideAsks, analysts),
		Sides: []Side{side("beside SQL", analysts), side(alone, 0)},
	})
}

// besideRun is a run beside so many people. A list that fails counts as the longest that an answer
// may take: one that is refused does not make the others look better.
func (s *sqlBench) besideRun(ctx context.Context, p *pipeline, long time.Duration,
	people int) (sample Sample, err error) {
	const longest = 10 * time.Second                        // as the default --query-timeout
	m := &messages{generator: s.events, tokens: s.e.Tokens} // of the accounts that are stored, so that the list changes
	l := load{
		address: p.collector, connections: besideConnections, rate: besideEvents / besideBatch, seed: s.Seed,
		request: func() request { return m.batch(besideBatch) },
	}
	team, stopTeam := context.WithCancel(ctx)
	var answered, refusals atomic.Int64
	var all errgroup.Group
	for first := range people {
		all.Go(func() error {
			for i := first; team.Err() == nil; i++ {
				switch err := s.analyse(team, heavy[i%len(heavy)]); {
				case err == nil:
					answered.Add(1)
				case team.Err() == nil:
					refusals.Add(1)
					_ = service.Sleep(team, 250*time.Millisecond) // the loop looks whether it has ended
				}
			}
			return nil
		})
	}
	defer func() {
		stopTeam()
		err = errors.Join(err, all.Wait(), s.awaitNoQueries(context.WithoutCancel(ctx)))
	}()
	var under measured
	var lists []time.Duration
	var rows, seconds float64
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() (err error) {
		under, err = l.run(ctx, besideWarm, long, append(p.metered(s.e.Processes()...), s.process.Metered())...)
		return err
	})
	both.Go(func() (err error) {
		if err := service.Sleep(ctx, besideWarm); err != nil {
			return err
		}
		before, err := probe.Metric(ctx, p.processes[1].Admin, "lodestone_consumer_rows_total")
		if err != nil {
			return err
		}
		begin := time.Now()
		answered.Store(0)
		refusals.Store(0)
		if lists, err = openLoop(ctx, s.Seed, besideAsks, int(besideAsks*long.Seconds()),
			func(ctx context.Context, _ int) error {
				if _, _, err := get(ctx, s.http, s.base+"?per_page=20", s.key); err != nil && ctx.Err() == nil {
					s.Sayf("%s: %v", besideCase, err)
					return service.Sleep(ctx, longest)
				}
				return nil
			}); err != nil {
			return err
		}
		after, err := probe.Metric(ctx, p.processes[1].Admin, "lodestone_consumer_rows_total")
		rows, seconds = float64(after-before), time.Since(begin).Seconds()
		return err
	})
	if err := both.Wait(); err != nil {
		return nil, err
	}
	sample = under.sample()
	sample[collectorP99] = sample[Latency(0.99)]
	sample.AddLatencies(latenciesOf(lists))
	sample[stored], sample[asked], sample[refused] = rows/seconds, float64(answered.Load())/seconds,
		float64(refusals.Load())/seconds
	return sample, nil
}

// awaitNoQueries waits until ClickHouse has given up the queries of people who went away, also
// those in line: the next run is to begin without.
func (s *sqlBench) awaitNoQueries(ctx context.Context) error {
	if err := await(ctx, func() (bool, error) {
		var waiting, running uint64
		err := s.store.QueryRow(ctx,
			"SELECT (SELECT toUInt64(ifNull(sum(queue_length), 0)) FROM system.scheduler), (SELECT count() FROM system.processes WHERE user != currentUser())").Scan(&waiting, &running)
		return waiting+running == 0, err
	}); err != nil {
		return fmt.Errorf("wait for the SQL user's queries to end: %w", err)
	}
	return nil
}
