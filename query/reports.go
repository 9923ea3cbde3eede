package query

import (
	"context"
	"net/http"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/problem"
	"lodestone/query/scope"
)

// registerReports adds the reports for which a question of metrics is too clumsy.
func (q *Query) registerReports(a *api.API) {
	operation := func(name, path, summary, description string) api.Operation {
		return api.Operation{
			ID: name, Method: http.MethodGet, Path: "/api/v1/analytics/" + path, Scope: auth.Read, Tag: tag, Report: true,
			Errors: []problem.Code{problem.ValidationError}, Summary: summary,
			Description: description, Timeout: q.config.Timeout,
		}
	}
	api.Register(a, operation("get-funnel", "funnel", "Report how many people reach each step",
		"From views of landing pages to the end of the document. Counts views and submissions of the period, and what the people who "+
			"submitted did until as_of. Bots are excluded. The ETag stays the same as long as the numbers do."),
		budgeted(q, askFor("from", "less time, or for one lead magnet"), q.funnelReport))
	api.Register(a, operation("get-retention", "retention", "Report which readers return",
		"Readers of a lead magnet by the time of their first page view, and how many of them read again in each later interval. Bots are excluded."), budgeted(q, askFor("from", "later readers"), q.retentionReport))
	api.Register(a, operation("get-current-readers", "now", "List who reads now",
		"Readers who were on a page in the last minutes. A visit is reported when it ends, so the listed page is the one that the reader just left. Bots are excluded."), budgeted(q, askFor("minutes", "fewer minutes"), q.nowReport))
	api.Register(a, operation("get-analytics-schema", "schema", "Describe metrics and dimensions",
		"The metrics and dimensions of POST /api/v1/analytics/query, and which can be combined, for tools that build queries."), q.questionSchema)
}

// budgeted answers a report only if the account has processor time left, and charges what the
// report takes.
//
// A report that takes more memory than a request may is refused in the same way everywhere: less
// names the field that asks for less, and how.
func budgeted[In, Out any](q *Query, less problem.Field, answer func(context.Context, *In) (*api.Answer[Out],
	error)) func(context.Context, *In) (*api.Answer[Out], error) {
	return func(ctx context.Context, in *In) (*api.Answer[Out], error) {
		account := auth.From(ctx).AccountID
		if wait := q.budget.Wait(ctx, account); wait > 0 {
			return nil, problem.New(problem.RateLimited,
				"Reports of this account have used up the processor time of this minute. Wait for the time that Retry-After "+
					"gives, in seconds, and ask for less: a shorter range, fewer metrics of distinct things.").RetryAfter(wait)
		}
		ctx, use := scope.WithUse(ctx)
		out, err := answer(ctx, in)
		_ = q.budget.Charge(ctx, account, int((use.Processor()+time.Millisecond-1)/time.Millisecond))
		return out, outOfMemory(err, less)
	}
}

// outOfMemory returns the problem of a report that takes more memory than a request may, else the
// error as it is.
func outOfMemory(err error, less problem.Field) error {
	if clickhouse.IsOutOfMemory(err) {
		return problem.Invalid(less)
	}
	return err
}

// askFor says in which parameter to ask for less, and how.
func askFor(parameter, how string) problem.Field {
	return problem.Field{Field: parameter, Message: "asks for more than a report may count: ask for " + how}
}
