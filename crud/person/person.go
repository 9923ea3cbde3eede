// Package person does what people whose data an account has may ask it for: it exports everything
// that is stored about an address, in one document, and erases it. A person is an address in an
// account, in whatever case it was typed.
package person

import (
	"context"
	"net/http"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// Deps are the dependencies of persons. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Eraser   *Eraser
}

// Persons serves the operations on persons. It is safe for concurrent use.
type Persons struct{ deps Deps }

// New returns the persons of an installation.
func New(d Deps) *Persons { return &Persons{d} }

const (
	path     = "/api/v1/people"
	erasures = "/api/v1/erasures"
	tag      = "People"

	// exportTimeout is long enough for the events of a person with hundreds of access links, which are
	// read link by link.
	exportTimeout = 5 * time.Minute
	eraseTimeout  = 2 * time.Minute

	// KeysPath is where anyone gets the keys that verify receipts.
	KeysPath = "/.well-known/lodestone-receipt-keys.json"
)

// Register adds the operations. Events are asked of the API itself, since another process may serve
// them.
func (p *Persons) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "export-person", Method: "POST", Path: path + "/export", Scope: auth.Privacy, Also: []auth.Scope{auth.Read},
		Tag: tag, Safe: true, Audited: true, Timeout: exportTimeout,
		Summary: "Export everything stored about an address",
		Description: "One document with everything the account stores about an address: submissions, access links with their sessions, downloads " +
			"and events, and entries of the audit log. It omits secrets that open documents or confirm addresses. It also omits queued " +
			"data, which is kept for at most seven days and concerns the same submissions and links: mails, notices, webhook messages, " +
			"downloads to be reported, and answers to repeated requests.",
		BodyExample: map[string]any{"email": "ada@example.com"},
		Errors:      []problem.Code{problem.ValidationError, problem.RateLimited, problem.Conflict},
	}, func(ctx context.Context, in *exportInput) (*api.Answer[PersonDocument], error) {
		return p.export(ctx, a, in)
	})
	api.Register(a, api.Operation{
		ID: "erase-person", Method: "POST", Path: path + "/erase", Scope: auth.Privacy, Tag: tag,
		Status: http.StatusCreated, Timeout: eraseTimeout,
		Summary: "Erase everything stored about an address",
		Description: "Removes the submissions, access links and sessions of the address. Queues (mails, webhook messages, answers to repeated requests) contain none of its data from queues_until on. Events stay, " +
			"with their page and time, and lose everything else within seven days. Records in Kafka expire with its retention. Data " +
			"delivered to webhooks and chat programs stays with the recipients. The answer has a receipt; get-erasure returns a new one " +
			"when the events are blank. It is not an error if nothing is stored about the address. An erasure cannot be undone.",
		BodyExample: map[string]any{"email": "ada@example.com"},
		Errors:      []problem.Code{problem.ValidationError, problem.Conflict},
	}, p.erase)
	api.Register(a, api.Operation{
		ID: "get-erasure", Method: "GET", Path: erasures + "/{id}", Scope: auth.Privacy, Tag: tag,
		Summary: "Get an erasure",
		Description: "What was erased, when, and until when records and backups contain it, with a receipt: a JSON Web Signature (EdDSA) of the other fields. The public keys to verify it are at " +
			KeysPath + ".",
	}, p.erasure)
	api.Register(a, api.Operation{
		ID: "get-person", Method: "GET", Path: path + "/{access_link_id}", Scope: auth.Leads, Tag: tag, Tagged: true,
		Summary: "Get a person",
		Description: "Who the person behind an access link is: name, company, status and note. All access links of an address are one person. " +
			"get-reader has what the person read.",
	}, p.get)
	api.Register(a, api.Operation{
		ID: "update-person", Method: "PATCH", Path: path + "/{access_link_id}", Scope: auth.Write,
		Also: []auth.Scope{auth.Leads}, Tag: tag, Tagged: true,
		Summary:     "Change the name, status or note of a person",
		Description: "Omitted fields keep their values. The words for a status are open_statuses and closed_statuses of the account.",
		BodyExample: map[string]any{"status": "In touch", "note": "Wants the numbers for 40 seats by Friday."},
	}, p.update)
	a.Handle("GET "+KeysPath, http.HandlerFunc(p.deps.Eraser.serveKeys))
}
