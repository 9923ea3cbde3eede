package query

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/query/eventlist"
	"lodestone/query/export"
	"lodestone/query/live"
	"lodestone/query/reader"
	"lodestone/query/report"
	"lodestone/query/scope"
)

// Deps are the dependencies of the query service.
type Deps struct {
	Copies         *scope.Copies  // of the events; stays the caller's, who runs it
	ClickHouseHTTP string         // addresses for exports, one of each copy, with commas; "": there are none
	Postgres       *postgres.Pool // stays the caller's, who closes it after the service
	Log            *slog.Logger
	Registerer     prometheus.Registerer
}

// Query is the query service. It is safe for concurrent use.
type Query struct {
	config    Config
	postgres  *postgres.Pool
	ch        *scope.ClickHouse
	events    *eventlist.Lister
	summaries *reader.Summaries
	reports   *report.Reporter
	settled   *scope.SettledClock
	exports   *export.Exporter
	presence  *reader.Watcher
	readers   *reader.Readers
	files     *scope.ClickHouse // for exports of readers, which take longer than reports
	budget    *ratelimit.Budget // of processor time, in milliseconds
	live      *live.Live
	cursors   *cursors
}

// New returns the service without connecting: the first use does.
func New(c Config, d Deps) (*Query, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	ch, err := scope.OpenCopies(d.Copies, c.limits())
	if err != nil {
		return nil, err
	}
	ch.Watch(d.Registerer)
	ch.Heed(d.Postgres)
	exports, err := export.New(c.exports(), export.Deps{Copies: d.Copies, HTTP: d.ClickHouseHTTP})
	if err != nil {
		return nil, errors.Join(err, ch.Close())
	}
	// An export of people asks for their sources while it reads their list, so it takes two
	// connections.
	files, err := scope.OpenCopies(d.Copies, scope.Limits{MaxConns: 2 * c.MaxExports, Timeout: c.ExportTimeout,
		MemoryBytes: c.MaxMemoryBytes})
	if err != nil {
		exports.Close()
		return nil, errors.Join(err, ch.Close())
	}
	files.Heed(d.Postgres)
	return &Query{
		config: c, postgres: d.Postgres, ch: ch, files: files,
		events: eventlist.New(ch), summaries: reader.NewSummaries(d.Postgres, ch),
		reports: report.New(ch), settled: scope.NewSettledClock(d.Postgres, ch), presence: reader.NewWatcher(d.Postgres, ch),
		readers: reader.New(d.Postgres, ch),
		exports: exports, cursors: &cursors{db: d.Postgres},
		budget: ratelimit.NewBudget(d.Postgres, ratelimit.ProcessorRule(c.ProcessorSeconds)),
		live:   live.New(c.liveConfig(), live.Deps{ClickHouse: ch, Log: d.Log, Registerer: d.Registerer}),
	}, nil
}

// IsUnavailable reports whether an error says that ClickHouse cannot answer now. The API
// that serves the operations must know it (api.Deps.Unavailable).
func IsUnavailable(err error) bool { return scope.IsUnavailable(err) }

const tag = "Analytics"

// Pin returns a context of one request, which reads one copy of the events. The API that serves the
// operations gives each of its requests one (api.Deps.Prepare).
func Pin(ctx context.Context) context.Context { return scope.Pin(ctx) }

// Register adds the service's operations to an API.
func (q *Query) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-analytics-events", Method: http.MethodGet, Path: "/api/v1/analytics", Scope: auth.Read, Tag: tag,
		Summary: "List analytics events",
		Description: "Newest first. Events must match all given filters. An unknown access link or lead magnet has no events. " +
			"To read a long list, follow pagination.next_cursor with the same filters. Every page then costs the same, and no event that existed at the start is skipped or repeated, even if new events arrive. Events of bots are included unless bot=false.",
		PerPage: api.PageSize{Default: 20, Max: 100},
		Timeout: q.config.Timeout, Limit: ratelimit.Analytics,
	}, q.listEvents)
	api.Register(a, api.Operation{
		ID: "get-email-summary", Method: http.MethodGet, Path: "/api/v1/analytics/email", Scope: auth.Leads, Tag: tag,
		Summary:     "Summarise one email address",
		Description: "Covers all lead magnets of the account. For an address without access links, numbers are zero and times are null. Bots are excluded.",
		Timeout:     q.config.Timeout, Limit: ratelimit.AnalyticsEmail,
	}, q.emailSummary)
	api.Register(a, api.Operation{
		ID: "get-page-report", Method: http.MethodGet, Path: "/api/v1/analytics/pages",
		Scope: auth.Read, Tag: tag, Report: true,
		Summary: "Report how each page is read",
		Description: "How far readers get in one version of a document, and how long they stay on each page. Bots are excluded; excluded_bots counts " +
			"their page views. The ETag stays the same as long as the numbers do.",
		Timeout: q.config.Timeout, Errors: []problem.Code{problem.ValidationError},
	}, budgeted(q, askFor("from", "less time"), q.pageReport))
	q.registerReports(a)
	q.registerReaders(a)
	q.registerSuspects(a)
	api.Register(a, api.Operation{
		ID: "query-analytics", Method: http.MethodPost, Path: "/api/v1/analytics/query",
		Scope: auth.Read, Tag: tag, Safe: true,
		Summary:     "Query metrics",
		Description: "Exact counts and rates over a range, by calendar intervals of a time zone and by up to two dimensions. Combinations of a metric and a dimension that do not fit are refused. A batch of queries is answered from one snapshot.",
		BodyExample: questionExample,
		Timeout:     q.config.Timeout, Limit: ratelimit.AnalyticsQuery,
	}, budgeted(q, askFor("body", "less time, fewer metrics of distinct things, or more filters"), q.answerQuestions))
	q.registerExports(a)
	q.registerLive(a)
}

// Describe adds the service's operations to the description of an API that does not serve them
// itself: it passes them on to a process that does.
func Describe(a *api.API) { new(Query).Register(a.DescriptionOnly()) }

// Live returns the streams of events, a service that has to be stopped before Close.
func (q *Query) Live() *live.Live { return q.live }

// Ready returns nil if ClickHouse answers.
func (q *Query) Ready(ctx context.Context) error { return q.ch.Ping(ctx) }

// Close closes the connections to ClickHouse. Call it when nothing is served any more.
func (q *Query) Close() error {
	q.exports.Close()
	return errors.Join(q.files.Close(), q.ch.Close())
}
