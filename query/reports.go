package query

import (
	"net/http"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
)

// registerReports adds the reports for which a question of metrics is too clumsy.
func (q *Query) registerReports(a *api.API) {
	operation := func(name, path, summary, description string) api.Operation {
		return api.Operation{
			ID: name, Method: http.MethodGet, Path: "/api/v1/analytics/" + path, Scope: auth.Read, Tag: tag, Report: true,
			Summary: summary, Description: description, Timeout: q.config.Timeout,
		}
	}
	api.Register(a, operation("get-funnel", "funnel", "Report how many get how far",
		"From views of landing pages to the end of the document. Views and submissions of the period count, and what the people who submitted did until "+
			"as_of. Bots are excluded. The ETag stays the same as long as the numbers do."), budgeted(q, q.funnelReport))
	api.Register(a, operation("get-retention", "retention", "Report which readers return",
		"Readers of a lead magnet by when they first read, and how many of them read again in each interval after. Bots are excluded."), budgeted(q, q.retentionReport))
	api.Register(a, operation("get-current-readers", "now", "List who reads now",
		"Readers who were on a page in the last minutes. The page tells of a visit when it ends, so the page is the one that they just left. Bots are excluded."), budgeted(q, q.nowReport))
	api.Register(a, operation("get-analytics-schema", "schema", "Describe metrics and dimensions",
		"What POST /api/v1/analytics/query can be asked, and what can be combined, for tools that build questions."), q.questionSchema)
}
