package query

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/export"
)

// exportAgain is after what time an export that was refused can be tried again.
const exportAgain = 10 * time.Second

func (q *Query) registerExports(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "export-analytics-events", Method: http.MethodGet, Path: "/api/v1/analytics/export", Scope: auth.Read, Tag: tag,
		Summary: "Export analytics events",
		Description: "Every event that matches all given filters, as a file, from one state of the data. The order is that of the storage. Events of bots are " +
			"included unless bot=false; bot is the name of the rule that recognised one. If an error occurs after the file has begun, the connection is broken, so that a part of a file " +
			"does not look complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets an apostrophe before it, so that no spreadsheet takes it for a formula.",
		Answers: attachment.Describe(),
		Timeout: q.config.ExportTimeout, Errors: []problem.Code{problem.RateLimited},
	}, q.exportEvents)
}

type exportEventsInput struct {
	Format attachment.Format `query:"format" default:"csv" doc:"Format of the file."`
	EventFilter
}

func (q *Query) exportEvents(w http.ResponseWriter, r *http.Request, in *exportEventsInput) error {
	filter, err := in.filter()
	if err != nil {
		return err
	}
	out, err := attachment.Create(w, r, "events", in.Format)
	if err != nil {
		return err
	}
	if r.Method == http.MethodHead {
		_, err := out.Write(nil)
		return err //nolint:wrapcheck // of the connection
	}
	file, err := q.exports.Events(r.Context(), auth.From(r.Context()).AccountID, filter, in.Format)
	if err != nil {
		return exportProblem(err)
	}
	_, err = file.WriteTo(out)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("export events: %w", err)
	}
	return nil
}

// exportProblem returns the problem of an export that did not begin.
func exportProblem(err error) error {
	switch {
	case errors.Is(err, export.ErrNoAddress):
		return problem.New(problem.Unavailable, "This installation has no exports: its operator can set --clickhouse-http-url.").RetryAfter(time.Hour)
	case errors.Is(err, export.ErrAccount):
		return problem.New(problem.RateLimited, "Your account runs as many exports as it can at a time. Wait until one is complete.").RetryAfter(exportAgain)
	case errors.Is(err, export.ErrFull):
		return problem.New(problem.Unavailable, "As many exports run as can at a time. Try again.").RetryAfter(exportAgain)
	}
	return fmt.Errorf("export events: %w", err)
}
