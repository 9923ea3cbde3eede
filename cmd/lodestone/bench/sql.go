package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/cmd/lodestone/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/service"
)

// sqlOptions are the settings of this suite alone.
type sqlOptions struct {
	Rows      int64  `name:"sql-rows" default:"10000000" help:"Events in the table, of one year."`
	Links     int    `name:"sql-links" default:"1000" help:"Access links of the address whose summary is asked for."`
	Questions string `name:"sql-questions" default:"docs/sql.md" placeholder:"FILE" help:"Document with the questions in SQL that are timed."`
}

// Validate returns every problem of the settings.
func (o sqlOptions) Validate() error {
	if o.Rows < 1000 {
		return config.Invalid("--sql-rows", "is out of range", "give a number from 1000")
	}
	if o.Links < 1 || o.Links > 100_000 {
		return config.Invalid("--sql-links", "is out of range", "give a number from 1 to 100000")
	}
	return nil
}

func (o sqlOptions) suite() suite { return suite{name: "sql", run: o.run} }

// sqlBench is what the cases share.
type sqlBench struct {
	b       *Bench
	e       *Engines
	store   driver.Conn
	analyst string // the SQL user's address
	events  *traffic.Generator
	queried
}

func (o sqlOptions) run(ctx context.Context, b *Bench, e *Engines) (err error) {
	if e.clickhouse == nil {
		return errors.New("the SQL user is the embedded ClickHouse's: do not give --clickhouse-url")
	}
	rows := o.Rows
	if b.Quick {
		rows = min(rows, 500_000)
	}
	s := &sqlBench{b: b, e: e, analyst: e.clickhouse.SQLURL()}
	if s.store, err = clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	s.events = traffic.New(traffic.Year(b.Seed, rows))
	if s.queried, err = b.startQueried(ctx, e, s.store, s.events, rows, o.Links); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.process.Stop(context.WithoutCancel(ctx))) }()
	if err := addEntities(ctx, s.store); err != nil {
		return err
	}
	if err := s.email(ctx); err != nil {
		return err
	}
	if err := s.questions(ctx, o.Questions, rows); err != nil {
		return err
	}
	return s.beside(ctx)
}

// get asks the API and returns how long that took.
func (s *sqlBench) get(ctx context.Context, path string) (time.Duration, error) {
	_, took, err := get(ctx, http.DefaultClient, "http://"+s.address+path, s.key)
	return took, err
}

// questionRuns is how often each question is asked: they are many, and take their time.
const questionRuns = 3

var sqlQuestion = regexp.MustCompile("(?s)\n### ([^\n]+\\?)\n.*?```sql\n(.*?)```")

// questions times each question of the document, asked by the SQL user over all accounts.
func (s *sqlBench) questions(ctx context.Context, file string, rows int64) error {
	if !s.b.Wanted("sql/questions") {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the questions (--sql-questions): %w", err)
	}
	c := Case{
		Name: "sql/questions", Title: fmt.Sprintf("the questions of docs/sql.md, asked over all accounts: %s events", million(rows)), Runs: min(questionRuns, s.b.Runs),
	}
	for _, q := range sqlQuestion.FindAllStringSubmatch(string(text), -1) {
		c.Sides = append(c.Sides, Side{Name: q[1], Run: func(ctx context.Context) (Sample, error) {
			begin, given := time.Now(), 1.0
			if err := s.ask(ctx, q[2]); err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				given = 0 // it took more than the user may have
				s.b.Sayf("%s: %v", q[1], err)
			}
			return Sample{"seconds": time.Since(begin).Seconds(), "answered": given}, nil
		}})
	}
	if len(c.Sides) == 0 {
		return fmt.Errorf("there are no questions in %s (--sql-questions)", file)
	}
	return s.b.Measure(ctx, c)
}

// ask asks as the SQL user.
func (s *sqlBench) ask(ctx context.Context, query string) error {
	r, err := exchange(ctx, http.DefaultClient, http.MethodPost, s.analyst, "", []byte(query))
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return fmt.Errorf("the SQL user gets %d %s: %.200s", r.status, http.StatusText(r.status), r.body)
	}
	return nil
}

// heavy are queries that take as much as the SQL user may have.
var heavy = []string{
	"SELECT device, count(), uniqExact(access_link_id), sum(reading_ms) FROM sessions GROUP BY device",
	"SELECT uniq(event_id), uniq(session_id), max(length(event_data)), sum(cityHash64(user_agent, event_data)) FROM events",
	"SELECT access_link_id, count() AS n FROM events GROUP BY access_link_id ORDER BY n DESC LIMIT 10",
	"SELECT event_id FROM events ORDER BY cityHash64(event_id) LIMIT 100",
}

const (
	heavyAtOnce = 8 // as many as a user may
	besideRows  = 300_000
	askPause    = 20 * time.Millisecond
	asked       = "heavy queries/s"
	refused     = "refused queries/s"
	failed      = "failed requests"
)

// beside measures how much the heaviest queries that the SQL user may ask slow down everything else: the
// consumer, which empties a topic, and the list of events, which is asked for meanwhile.
func (s *sqlBench) beside(ctx context.Context) error {
	rows := int64(besideRows)
	if s.b.Quick {
		rows /= 5
	}
	return s.b.Measure(ctx, Case{
		Name: "sql/beside", Title: "the consumer at its fastest, and GET /analytics, beside 8 heavy SQL queries at a time and without",
		Targets: []Target{
			{What: "≥ 70 % of the throughput", Value: Rate, Against: "alone", AtLeast: 0.7},
			{What: "p99 ≤ 2.5 × that alone", Value: Latency(0.99), Against: "alone", AtMost: 2.5},
		},
		Sides: []Side{
			{Name: "beside SQL", Run: func(ctx context.Context) (Sample, error) { return s.pipeline(ctx, rows, heavyAtOnce) }},
			{Name: "alone", Run: func(ctx context.Context) (Sample, error) { return s.pipeline(ctx, rows, 0) }},
		},
	})
}

// pipeline is a run of the consumer on a full topic, with so many analysts.
func (s *sqlBench) pipeline(ctx context.Context, rows int64, analysts int) (sample Sample, err error) {
	if err := s.e.remakeTopics(ctx, s.b, 4); err != nil {
		return nil, err
	}
	if err := s.e.fill(ctx, s.b.Seed+1, rows); err != nil {
		return nil, err
	}
	load, stop := context.WithCancel(ctx)
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	var answered, refusals atomic.Int64
	for i := range analysts {
		all.Go(func() { s.askOn(load, i, &answered, &refusals) })
	}
	p, err := s.b.Lodestone(ctx, s.e, "consumer", "CONSUMER_GROUP=bench-"+uuid.NewString())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	var latencies Latencies
	failures := 0.0
	begin := time.Now()
	for {
		took, err := s.get(ctx, "/api/v1/analytics?per_page=20")
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			failures++
		default:
			latencies.Add(took)
		}
		stored, err := metric(ctx, p.Admin, "lodestone_consumer_rows_total")
		if err != nil {
			return nil, err
		}
		if stored >= float64(rows) {
			break
		}
		if err := service.Sleep(ctx, askPause); err != nil {
			return nil, err
		}
	}
	took := time.Since(begin).Seconds()
	sample = Sample{Rate: float64(rows) / took, asked: float64(answered.Load()) / took, refused: float64(refusals.Load()) / took, failed: failures}
	sample.AddLatencies(&latencies)
	return sample, nil
}

// askOn asks heavy queries one after another until ctx ends.
func (s *sqlBench) askOn(ctx context.Context, first int, answered, refusals *atomic.Int64) {
	for i := first; ctx.Err() == nil; i++ {
		if err := s.ask(ctx, heavy[i%len(heavy)]); err == nil {
			answered.Add(1)
		} else if ctx.Err() == nil {
			refusals.Add(1)
			if service.Sleep(ctx, time.Second) != nil { // the quota is used up
				return
			}
		}
	}
}
