package submission

import (
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/limit"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// Exports that run at a time in a process, each with a connection to Postgres, and how long one may
// take.
const (
	maxExports        = 4
	maxAccountExports = 2
	exportTimeout     = 15 * time.Minute
)

// Submissions serves the submissions.
type Submissions struct {
	db      *postgres.Pool
	exports *limit.Slots[uuid.UUID]
}

// New returns the submissions of a database.
func New(db *postgres.Pool) *Submissions {
	return &Submissions{db, limit.NewSlots[uuid.UUID](maxExports, maxAccountExports)}
}

const path = "/api/v1/generic-links/{id}/submissions"

// Register adds the operations on submissions.
func (s *Submissions) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-submissions", Method: "GET", Path: path, Scope: auth.Leads, Tag: "Submissions",
		Summary: "List the submissions of a generic link, newest or oldest first",
		PerPage: api.PageSize{Default: 50, Max: 100},
	}, s.list)
	api.RegisterRaw(a, api.Operation{
		ID: "export-submissions", Method: "GET", Path: path + "/export", Scope: auth.Leads, Tag: "Submissions",
		Summary: "Export the submissions of a generic link",
		Description: "All submissions of the period as a file, newest first, from one snapshot. If an error occurs after the file has begun, the connection is closed early, so that an incomplete file does not look " +
			"complete. In CSV, a text that begins with =, +, -, @, a tab or a carriage return gets a leading apostrophe, so that " +
			"spreadsheets do not read it as a formula.",
		Answers: attachment.Describe(), Audited: true, Timeout: exportTimeout, Errors: []problem.Code{problem.RateLimited},
	}, s.export)
	api.Register(a, api.Operation{
		ID: "delete-submission", Method: "DELETE", Path: "/api/v1/submissions/{id}", Scope: auth.Write,
		Tag: "Submissions", Status: 204,
		Summary: "Delete a submission",
		Description: "The link's submission_count goes down by one, and webhook messages about the submission lose their bodies. Access links " +
			"created for it stay, without a submission_id. The same address can submit again.",
	}, s.delete)
}
