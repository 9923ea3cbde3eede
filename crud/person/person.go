// Package person does what people whose data an account has may ask it for: it exports everything that is stored about an address, in one
// document, and erases it. A person is an address in an account, in whatever case it was typed.
package person

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/chat"
	"lodestone/crud/mail"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// Mails is what the queue of mails holds; it is implemented by mail.Queue.
type Mails interface {
	About(ctx context.Context, tx pgx.Tx, key string) ([]mail.Kept, error)
}

// Chats is what the queue of messages to chat channels holds; it is implemented by chat.Channels.
type Chats interface {
	About(ctx context.Context, tx pgx.Tx, key string) ([]chat.Kept, error)
}

// Deliveries is the log of webhooks; it is implemented by webhook.Webhooks.
type Deliveries interface {
	About(ctx context.Context, tx pgx.Tx, links, submissions []uuid.UUID) ([]webhook.Delivery, error)
}

// Answers is what is kept for repeated requests; it is implemented by idempotency.Store.
type Answers interface {
	Kept(ctx context.Context, account uuid.UUID) ([]idempotency.Kept, error)
	Named(ctx context.Context, account uuid.UUID, meant func(key string) bool) ([]idempotency.Named, error)
	Forget(ctx context.Context, account uuid.UUID, until time.Time, meant idempotency.Meant) error
}

// Deps is what persons work with. All of it is required.
type Deps struct {
	Postgres   *postgres.Pool
	Mails      Mails
	Chats      Chats
	Deliveries Deliveries
	Answers    Answers
	Eraser     *Eraser
}

// Persons serves the operations on persons. It is safe for concurrent use.
type Persons struct{ deps Deps }

// New returns the persons of an installation.
func New(d Deps) *Persons { return &Persons{d} }

const (
	path     = "/api/v1/people"
	erasures = "/api/v1/erasures"
	tag      = "People"

	// exportTimeout is long enough for the events of a person with hundreds of access links, which are read link by link.
	exportTimeout = 5 * time.Minute
	eraseTimeout  = 2 * time.Minute

	// KeysPath is where anyone gets the keys that verify receipts.
	KeysPath = "/.well-known/lodestone-receipt-keys.json"
)

// Register adds the operations. Events are asked of the API itself, since another process may serve them.
func (p *Persons) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "export-person", Method: "POST", Path: path + "/export", Scope: auth.Privacy, Also: []auth.Scope{auth.Read}, Tag: tag, Safe: true, Audited: true, Timeout: exportTimeout,
		Summary: "Export everything that is stored about an address",
		Description: "One document with what the account stores about an address: submissions, access links with their sessions, downloads and events, mails, notices, messages to " +
			"chat channels and webhooks, forms of the dashboard that wait, answers and keys that are kept for repeated requests, and entries of the audit log. Secrets that open documents or confirm addresses are left out, except " +
			"where messages to webhooks have them. Nothing is stored about an address of which all lists are empty.",
		BodyExample: map[string]any{"email": "ada@example.com"},
		Errors:      []problem.Code{problem.ValidationError, problem.RateLimited, problem.Conflict},
	}, func(ctx context.Context, in *exportInput) (*api.Answer[PersonDocument], error) {
		return p.export(ctx, a, in)
	})
	api.Register(a, api.Operation{
		ID: "erase-person", Method: "POST", Path: path + "/erase", Scope: auth.Privacy, Tag: tag, Status: http.StatusCreated, Timeout: eraseTimeout,
		Summary: "Erase everything that is stored about an address",
		Description: "Removes the submissions, access links, sessions and mails of the address, what messages to webhooks say about it, and answers that are kept for " +
			"repeated requests. Events stay, with their page and time, and lose everything else within seven days; records in Kafka go with their retention time. " +
			"What was delivered to webhooks and chat channels is with its receiver. The answer has a receipt, and get-erasure has one again when the events are blank. " +
			"An address about which nothing is stored is no error. It cannot be undone.",
		BodyExample: map[string]any{"email": "ada@example.com"},
		Errors:      []problem.Code{problem.ValidationError, problem.Conflict},
	}, p.erase)
	api.Register(a, api.Operation{
		ID: "get-erasure", Method: "GET", Path: erasures + "/{id}", Scope: auth.Privacy, Tag: tag,
		Summary: "Get an erasure",
		Description: "What was erased, when, and until when records and backups hold it, with a receipt: a JSON Web Signature (EdDSA) of the other fields. The keys that verify it are at " +
			KeysPath + ", for everyone.",
	}, p.erasure)
	a.Handle("GET "+KeysPath, http.HandlerFunc(p.deps.Eraser.serveKeys))
}
