package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"sync/atomic"
	"time"

	"lodestone/cmd/lodestone-lab/bench/traffic"
)

// sqlOptions are the settings of this suite alone.
type sqlOptions struct {
	Rows      int64  `name:"sql-rows" default:"10000000" help:"Events in the table, of one year."`
	Links     int    `name:"sql-links" default:"1000" help:"Access links of each address whose summary is asked for."`
	Questions string `name:"sql-questions" placeholder:"FILE" default:"docs/sql.md" help:"Document with the questions in SQL that are timed."`
}

func (o sqlOptions) suite() suite {
	return suite{name: "sql", cases: []string{emailCase, questionsCase, besideCase}, run: o.run}
}

// The cases of the suite.
const (
	emailCase     = "sql/email"
	questionsCase = "sql/questions"
	besideCase    = "sql/beside"
)

// sqlBench is what the cases share.
type sqlBench struct {
	*Bench
	*queried
	sqlOptions
	e      *Engines
	events *traffic.Generator
	http   *http.Client // keeps a connection for each of those who ask at once
}

func (o sqlOptions) run(ctx context.Context, b *Bench, e *Engines) (err error) {
	if e.clickhouse == nil {
		b.Sayf("sql: left out: its SQL user is one of the ClickHouse that is started here, and --clickhouse-url names another")
		return nil
	}
	rows := o.Rows
	if b.Quick {
		rows = min(rows, 500_000)
	}
	const addresses = 10
	s := &sqlBench{Bench: b, sqlOptions: o, e: e, events: pastYear(b.Seed, rows), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	s.Rows = rows
	defer s.http.CloseIdleConnections()
	if s.queried, err = b.startQueried(ctx, e, s.events, rows, addresses, o.Links); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	for _, query := range sqlEntities {
		if err := s.store.Exec(ctx, query); err != nil {
			return fmt.Errorf("add what the events are about: %w", err)
		}
	}
	return errors.Join(s.email(ctx), s.questions(ctx), s.beside(ctx))
}

// email measures the summary of addresses with many access links, at random times, each from the time at which it was due.
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
		Title: fmt.Sprintf("GET /analytics/email of %d addresses with %d access links each, in turn, in the largest account, %d a second at random times", len(s.emails), s.Links, rate),
		Sides: []Side{{Name: "query", Run: func(ctx context.Context) (Sample, error) {
			seed++ // other times in each run
			took, err := openLoop(ctx, seed, rate, requests, func(ctx context.Context, _ int) error {
				_, _, err := get(ctx, s.http, s.base+"/email?email="+url.QueryEscape(s.emails[int(turn.Add(1))%len(s.emails)]), s.key)
				return err
			})
			sample := Sample{}
			sample.AddLatencies(latenciesOf(took))
			return sample, err
		}}},
		Targets: []Target{{What: "p99 ≤ 30 ms", Value: Latency(0.99), Max: 30}},
	})
}

var sqlQuestion = regexp.MustCompile("(?s)\n### ([^\n]+\\?)\n.*?```sql\n(.*?)```")

// questions times each question of the document, asked by the SQL user over all accounts.
func (s *sqlBench) questions(ctx context.Context) error {
	const runs = 3 // they are many, and take their time
	if !s.Wanted(questionsCase) {
		return nil
	}
	text, err := os.ReadFile(s.Questions)
	if err != nil {
		return fmt.Errorf("read the questions (--sql-questions): %w", err)
	}
	c := Case{Name: questionsCase, Title: fmt.Sprintf("the questions of docs/sql.md, asked over all accounts: %s events", number(float64(s.Rows))), Runs: min(runs, s.Runs)}
	for _, q := range sqlQuestion.FindAllStringSubmatch(string(text), -1) {
		c.Sides = append(c.Sides, Side{Name: q[1], Run: func(ctx context.Context) (Sample, error) {
			begin, answered := time.Now(), 1.0
			if err := s.analyse(ctx, q[2]); err != nil {
				if ctx.Err() != nil {
					return nil, err
				}
				answered = 0 // it took more than the user may have
				s.Sayf("%s: %v", q[1], err)
			}
			return Sample{"seconds": time.Since(begin).Seconds(), "answered": answered}, nil
		}})
	}
	if len(c.Sides) == 0 {
		return fmt.Errorf("there are no questions in %s (--sql-questions)", s.Questions)
	}
	return s.Measure(ctx, c)
}

// analyse asks as the SQL user. An answer comes when it is complete, so that an error within one is seen, and a
// query ends when whoever asked has gone: it would run on beside what is measured next.
func (s *sqlBench) analyse(ctx context.Context, query string) error {
	r, err := exchange(ctx, s.http, http.MethodPost, s.e.clickhouse.SQLURL()+"&wait_end_of_query=1&cancel_http_readonly_queries_on_client_close=1", "", []byte(query))
	if err == nil && r.status != http.StatusOK {
		err = fmt.Errorf("the SQL user gets %d %s: %.200s", r.status, http.StatusText(r.status), r.body)
	}
	return err
}

// sqlEntities add lead magnets, links and landing-page views that fit the events.
var sqlEntities = []string{
	`INSERT INTO lodestone.lead_magnets (id, account_id, title, page_count, file_version, created_at, version)
	SELECT lead_magnet_id, any(account_id), concat('Guide ', substring(toString(lead_magnet_id), 1, 13)), max(page), max(magnet_version), min(created_at) - INTERVAL 1 DAY, 1
	FROM lodestone.events GROUP BY lead_magnet_id`,
	`INSERT INTO lodestone.generic_links (id, account_id, lead_magnet_id, slug, active, submission_count, created_at, version)
	SELECT generic_link_id, any(account_id), any(lead_magnet_id), concat('guide-', toString(generic_link_id)), true, uniqExact(access_link_id), min(created_at) - INTERVAL 1 DAY, 1
	FROM lodestone.events WHERE generic_link_id != toUUID('00000000-0000-0000-0000-000000000000') GROUP BY generic_link_id`,
	`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, is_active, created_at, version)
	SELECT access_link_id, any(account_id), any(lead_magnet_id), nullIf(any(generic_link_id), toUUID('00000000-0000-0000-0000-000000000000')), true, min(created_at) - INTERVAL 1 HOUR, 1
	FROM lodestone.events GROUP BY access_link_id`,
	`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, referrer, url, ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
	SELECT account_id, lead_magnet_id, generic_link_id, event_id, ['', 'https://www.linkedin.com/', 'https://www.google.com/', 'https://t.co/'][1 + cityHash64(event_id) % 4],
		'https://docs.example.com/l/guide', ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset
	FROM lodestone.events WHERE cityHash64(event_id) % 8 = 0 AND generic_link_id != toUUID('00000000-0000-0000-0000-000000000000')`,
}
