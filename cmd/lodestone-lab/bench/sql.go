package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// sqlOptions are the settings of this suite alone.
type sqlOptions struct {
	Rows      int64  `name:"sql-rows" default:"10000000" help:"Events in the table, of one year."`
	Links     int    `name:"sql-links" default:"1000" help:"Access links of the address whose summary is asked for."`
	Questions string `name:"sql-questions" placeholder:"FILE" help:"Document with the questions in SQL that are timed. Default: docs/sql.md; where that is not, they are left out."`
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

func (o sqlOptions) suite() suite { return suite{name: "sql", cases: sqlCases, run: o.run} }

// The cases of the suite.
const (
	emailCase     = "sql/email"
	insertingCase = "sql/email inserting"
	statementCase = "sql/email statement"
	questionsCase = "sql/questions"
	besideCase    = "sql/beside"
	equalsCase    = "sql/beside equals"
	steadyCase    = "sql/beside steady"
)

func sqlCases(string) []string {
	return []string{emailCase, insertingCase, statementCase, questionsCase, besideCase, equalsCase, steadyCase}
}

// sqlBench is what the cases share.
type sqlBench struct {
	b       *Bench
	e       *Engines
	store   driver.Conn
	analyst string       // the SQL user's address
	http    *http.Client // keeps a connection for each of those who ask at once
	events  *traffic.Generator
	queried
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
	s := &sqlBench{b: b, e: e, analyst: e.clickhouse.SQLURL(), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: openLoopIdle}}}
	defer s.http.CloseIdleConnections()
	if s.store, err = clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.store.Close()) }()
	s.events = pastYear(b.Seed, rows, time.Now())
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
	return errors.Join(s.beside(ctx), s.besideSteady(ctx))
}

// get asks the API.
func (s *sqlBench) get(ctx context.Context, path string) error {
	_, _, err := get(ctx, s.http, "http://"+s.address+path, s.key)
	return err
}

// questionRuns is how often each question is asked: they are many, and take their time.
const questionRuns = 3

var sqlQuestion = regexp.MustCompile("(?s)\n### ([^\n]+\\?)\n.*?```sql\n(.*?)```")

// questionsFile has the questions, in a checkout.
const questionsFile = "docs/sql.md"

// questions times each question of the document, asked by the SQL user over all accounts.
func (s *sqlBench) questions(ctx context.Context, file string, rows int64) error {
	if !s.b.Wanted(questionsCase) {
		return nil
	}
	text, err := os.ReadFile(cmp.Or(file, questionsFile))
	if file == "" && errors.Is(err, fs.ErrNotExist) {
		s.b.Sayf("sql/questions: left out: there is no %s here (--sql-questions names it)", questionsFile)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the questions (--sql-questions): %w", err)
	}
	c := Case{
		Name: questionsCase, Title: fmt.Sprintf("the questions of docs/sql.md, asked over all accounts: %s events", million(rows)), Runs: min(questionRuns, s.b.Runs),
	}
	for _, q := range sqlQuestion.FindAllStringSubmatch(string(text), -1) {
		c.Sides = append(c.Sides, Side{Name: q[1], Run: func(ctx context.Context) (Sample, error) {
			begin, given := time.Now(), 1.0
			if err := s.ask(ctx, s.analyst, q[2]); err != nil {
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
		return fmt.Errorf("there are no questions in %s (--sql-questions)", cmp.Or(file, questionsFile))
	}
	return s.b.Measure(ctx, c)
}

// ask asks as an SQL user, by his address. An answer comes when it is complete, so that an error within one is seen, and a
// query ends when whoever asked has gone: it would run on beside what is measured next.
func (s *sqlBench) ask(ctx context.Context, door, query string) error {
	r, err := exchange(ctx, s.http, http.MethodPost, door+"&wait_end_of_query=1&cancel_http_readonly_queries_on_client_close=1", "", []byte(query))
	if err != nil {
		return err
	}
	if r.status != http.StatusOK {
		return &refusal{reason: refusalReason(r.body), text: fmt.Sprintf("the SQL user gets %d %s: %.200s", r.status, http.StatusText(r.status), r.body)}
	}
	return nil
}

// refusal is an answer of ClickHouse that is an error.
type refusal struct{ reason, text string }

func (r *refusal) Error() string { return r.text }

var exceptionName = regexp.MustCompile(`\(([A-Z][A-Z0-9_]+)\)`)

// refusalReason returns the name of the error that an answer tells of, which stands behind its text, such as
// MEMORY_LIMIT_EXCEEDED; "unknown" if it has none.
func refusalReason(answer []byte) string {
	all := exceptionName.FindAllSubmatch(answer, -1)
	if len(all) == 0 {
		return "unknown"
	}
	return string(all[len(all)-1][1])
}
