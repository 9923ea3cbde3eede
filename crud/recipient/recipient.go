// Package recipient is the recipients of generic links: people whom an owner invites to a document,
// each by a link of their own. A recipient is added to the list once, gets one mail and one
// reminder in the owner's words, and no more after unsubscribing.
package recipient

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/accesslink"
	"lodestone/crud/link"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/contact"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/limit"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

//go:embed web
var webFiles embed.FS

// Deps are the dependencies of recipients. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Links    *accesslink.Links
	Mail     *mail.Queue
	Queue    *queue.Queue
	Tokens   *token.Ring
	Pages    *web.Site
	Log      *slog.Logger
}

// Recipients serves the recipients. It is safe for concurrent use.
type Recipients struct {
	deps    Deps
	exports *limit.Slots[uuid.UUID]
	page    *web.Template // where people unsubscribe
}

// New returns the recipients of an installation, and has the queue send reminders by rules.
func New(d Deps) (*Recipients, error) {
	r := &Recipients{deps: d, exports: limit.NewSlots[uuid.UUID](maxExports, maxAccountExports)}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the page to unsubscribe: %w", err)
	}
	if r.page, err = d.Pages.Parse(files, "unsubscribe.html"); err != nil {
		return nil, err
	}
	err = queue.Register(d.Queue,
		river.WorkFunc(func(ctx context.Context, _ *river.Job[reminders]) error { return r.sendReminders(ctx) }))
	if err != nil {
		return nil, err
	}
	d.Queue.AddPeriodic("recipient-reminders", river.PeriodicInterval(time.Hour), reminders{})
	return r, nil
}

const (
	path = "/api/v1/generic-links/{id}/recipients"
	tag  = "Recipients"

	// importTimeout bounds an import, and sending to a long list.
	importTimeout = 5 * time.Minute
	maxFile       = 16 << 20 // bytes
)

// Register adds the operations, and the page to unsubscribe.
func (r *Recipients) Register(a *api.API) {
	person := []auth.Scope{auth.Leads}
	api.Register(a, api.Operation{
		ID: "list-recipients", Method: "GET", Path: path, Scope: auth.Leads, Tag: tag,
		Summary: "List the recipients of a generic link, newest first", PerPage: api.PageSize{Default: 50, Max: 100},
	}, r.list)
	api.Register(a, api.Operation{
		ID: "count-recipients", Method: "GET", Path: path + "/counts", Scope: auth.Read, Tag: tag,
		Summary: "Count the recipients of a generic link by state",
	}, r.count)
	api.Register(a, api.Operation{
		ID: "add-recipients", Method: "POST", Path: path, Scope: auth.Write, Also: person, Tag: tag,
		Summary: "Add recipients to a generic link",
		Description: "Creates a personal link for each address. Sends no mail. Addresses that are on the list, unsubscribed, were erased or " +
			"are invalid are left out; the answer says which. With dry_run, nothing is added.",
		BodyExample: map[string]any{"recipients": []any{map[string]any{"email": "ada@example.com", "name": "Ada Byron"}}},
		Errors:      []problem.Code{problem.Conflict, problem.LimitReached},
	}, r.add)
	api.RegisterRaw(a, api.Operation{
		ID: "import-recipients", Method: "POST", Path: path + "/import", Scope: auth.Write, Also: person, Tag: tag,
		Summary: "Import recipients of a generic link from a list",
		Description: fmt.Sprintf("As add-recipients, from a CSV file or a pasted list: with or without heads, parted by commas, semicolons or "+
			"tabs, in UTF-8, UTF-16, Windows-1252 or Latin-1. Names such as Jo <jo@example.com> are read. A list has at most %d rows and %d MiB, and "+
			"one import adds at most %d recipients, all or none.", contact.MaxRows, maxFile>>20, maxAdded),
		Body: map[string]*jsonschema.Schema{"text/csv": {Type: jsonschema.String}},
		Answers: map[string]*jsonschema.Schema{
			"application/json": api.SchemaOf[Import](a),
		},
		MaxBody: maxFile, Timeout: importTimeout,
		Errors: []problem.Code{problem.ValidationError, problem.PayloadTooLarge, problem.Conflict, problem.LimitReached},
	}, r.importFile)
	api.RegisterRaw(a, api.Operation{
		ID: "export-recipients", Method: "GET", Path: path + "/export", Scope: auth.Leads, Tag: tag,
		Summary: "Export the recipients of a generic link",
		Description: "All recipients that the filter chooses, newest first, with their personal links. In CSV, a text that a spreadsheet may " +
			"read as a formula gets a leading apostrophe.",
		Answers: attachment.Describe(), Audited: true, Timeout: exportTimeout, Errors: []problem.Code{problem.RateLimited},
	}, r.export)
	r.registerMails(a)
	r.registerPage(a)
}

// State is how far a recipient is.
type State string

// The states. A recipient who read the document is opened or finished, whatever became of mails.
const (
	Added        State = "added"
	Queued       State = "queued" // a mail waits in the queue
	Sent         State = "sent"   // it was handed to the SMTP server
	Bounced      State = "bounced"
	Unsubscribed State = "unsubscribed"
	Opened       State = "opened"
	Finished     State = "finished" // the last page was viewed
)

var states = []State{Added, Queued, Sent, Bounced, Unsubscribed, Opened, Finished}

// EnumValues implements jsonschema.Enum.
func (State) EnumValues() []string { return jsonschema.Values(states) }

// Recipient is a recipient as the API shows it.
type Recipient struct {
	ID             uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier. The recipient's access link has the same."`
	GenericLinkID  uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Generic link whose list has the recipient."`
	Email          string    `json:"email" doc:"Email address."`
	Name           *string   `json:"name" doc:"Name; null if the list had none."`
	State          State     `json:"state" doc:"How far the recipient is: added, queued (a mail waits), sent (it was handed to the mail server), bounced (the server refused it), unsubscribed, opened, finished (the last page was viewed)."`
	URL            *string   `json:"url" doc:"Personal link. Anyone with it can open the document. Null if its encryption key is lost."`
	FurthestPage   *int32    `json:"furthest_page" doc:"Last page that was viewed; null before."`
	Failure        *string   `json:"failure" doc:"Why the last mail was not delivered, or has not been so far."`
	AddedAt        api.Time  `json:"added_at" doc:"When the recipient was added."`
	SentAt         *api.Time `json:"sent_at" doc:"When the mail was handed to the mail server."`
	BouncedAt      *api.Time `json:"bounced_at" doc:"When the mail server refused a mail for good."`
	OpenedAt       *api.Time `json:"opened_at" doc:"When the document was first viewed."`
	RemindedAt     *api.Time `json:"reminded_at" doc:"When the reminder was handed to the mail server."`
	UnsubscribedAt *api.Time `json:"unsubscribed_at" doc:"When the recipient unsubscribed from the account's mails."`
}

// Filter says which recipients are listed or exported.
type Filter struct {
	ID    uuid.UUID `path:"id" doc:"Id of the generic link."`
	State *State    `query:"state" doc:"Only recipients in this state."`
	Q     *string   `query:"q" maxLength:"254" format:"text" doc:"Only recipients whose address or name contains this text, case-insensitive."`
}

func (f *Filter) state() *string {
	if f.State == nil {
		return nil
	}
	return new(string(*f.State))
}

type listInput struct {
	Filter
	api.Paging
}

func (r *Recipients) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[Recipient]], error) {
	var total int64
	list := []Recipient{}
	err := r.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if _, err := link.Get(ctx, tx, in.ID); err != nil {
			return err
		}
		if total, err = q.CountRecipients(ctx, store.CountRecipientsParams{GenericLinkID: in.ID, State: in.state(),
			Containing: in.Q}); err != nil {
			return err
		}
		rows, err := q.ListRecipients(ctx, store.ListRecipientsParams{GenericLinkID: in.ID, State: in.state(),
			Containing: in.Q, RowOffset: in.Offset(), RowLimit: in.Limit()})
		for i := range rows {
			list = append(list, r.fromRow(&rows[i]))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list recipients: %w", err)
	}
	return api.List(ctx, in.Paging, list, total), nil
}

func (r *Recipients) fromRow(row *store.ListRecipientsRow) Recipient {
	one := Recipient{
		ID: row.Recipient.ID, GenericLinkID: row.Recipient.GenericLinkID, Email: row.Email, Name: row.Recipient.Name,
		State: State(row.State), FurthestPage: row.FurthestPage, Failure: row.Recipient.Failure,
		AddedAt: api.TimeOf(row.Recipient.AddedAt), SentAt: api.OptionalTime(row.Recipient.SentAt),
		BouncedAt: api.OptionalTime(row.Recipient.BouncedAt), OpenedAt: api.OptionalTime(row.OpenedAt),
		RemindedAt: api.OptionalTime(row.Recipient.RemindedAt), UnsubscribedAt: api.OptionalTime(row.UnsubscribedAt),
	}
	if url, err := r.urlOf(row.Recipient.ID, row.TokenSealed); err == nil {
		one.URL = &url
	} else {
		r.deps.Log.Error("cannot show the link of a recipient: add the token key that sealed it", "error", err)
	}
	return one
}

// urlOf returns the personal link of a recipient.
func (r *Recipients) urlOf(id uuid.UUID, sealed []byte) (string, error) {
	text, err := accesslink.OpenToken(r.deps.Tokens, store.AccessLink{ID: id, TokenSealed: sealed})
	if err != nil {
		return "", err
	}
	return r.deps.Pages.URL(web.ReadingPath(text)), nil
}

type linkInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
}

// Counts are how many recipients are in each state.
type Counts struct {
	Total  int64            `json:"total" doc:"Recipients in all."`
	States map[string]int64 `json:"states" nullable:"false" doc:"Recipients in each state."`
}

func (r *Recipients) count(ctx context.Context, in *linkInput) (*api.Answer[Counts], error) {
	c := Counts{States: map[string]int64{}}
	for _, s := range states {
		c.States[string(s)] = 0
	}
	err := r.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := link.Get(ctx, tx, in.ID); err != nil {
			return err
		}
		rows, err := q.CountRecipientStates(ctx, in.ID)
		for _, row := range rows {
			c.States[row.State] = row.Count
			c.Total += row.Count
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count recipients: %w", err)
	}
	return api.OK(c), nil
}
