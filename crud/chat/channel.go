// Package chat sends the notices of accounts to channels of Slack, Microsoft Teams and Discord, by
// incoming webhooks.
package chat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/audit"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Kind is a chat program.
type Kind string

// The kinds.
const (
	Slack   Kind = "slack"
	Teams   Kind = "teams"
	Discord Kind = "discord"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Slack, Teams, Discord} }

// EnumValues implements jsonschema.Enum.
func (Kind) EnumValues() []string { return jsonschema.Values(Kinds()) }

// Subject is what notices are about.
type Subject string

// The subjects.
const (
	Leads    Subject = "leads"    // new leads
	Readers  Subject = "readers"  // what readers do
	Weekly   Subject = "weekly"   // the weekly report
	Webhooks Subject = "webhooks" // webhooks that were disabled
)

// Subjects lists every subject.
func Subjects() []Subject { return []Subject{Leads, Readers, Weekly, Webhooks} }

// EnumValues implements jsonschema.Enum.
func (Subject) EnumValues() []string { return jsonschema.Values(Subjects()) }

// subjectOf returns what a mail is about, or "" for mails that are no notices.
func subjectOf(k mail.Kind) Subject {
	switch k {
	case mail.KindLead, mail.KindDigest:
		return Leads
	case mail.KindReading, mail.KindReadings:
		return Readers
	case mail.KindWeekly:
		return Weekly
	case mail.KindWebhook:
		return Webhooks
	default:
		return ""
	}
}

// Channel is a channel as the API shows it: without its URL, which lets anyone post.
type Channel struct {
	ID             uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Kind           Kind      `json:"kind" doc:"Chat program."`
	Name           string    `json:"name" doc:"Name of the channel."`
	About          []Subject `json:"about" nullable:"false" doc:"What it gets notices about."`
	URLHint        string    `json:"url_hint" doc:"Host and last characters of its URL, which is a secret."`
	IsActive       bool      `json:"is_active" doc:"Whether notices are sent."`
	DisabledReason *string   `json:"disabled_reason" doc:"Why it was disabled; null if it was not, or by hand."`
	LastSentAt     *api.Time `json:"last_sent_at" doc:"When a message was last taken by it."`
	LastFailedAt   *api.Time `json:"last_failed_at" doc:"When a message was last not taken."`
	LastError      *string   `json:"last_error" doc:"Why the last message was not taken; null if it was."`
	CreatedAt      api.Time  `json:"created_at" doc:"When it was created."`
}

func channelOf(row store.ChatChannel) Channel {
	c := Channel{
		ID: row.ID, Kind: Kind(row.Kind), Name: row.Name, URLHint: row.UrlHint, IsActive: row.IsActive, DisabledReason: row.DisabledReason,
		LastSentAt: api.OptionalTime(row.LastSentAt), LastFailedAt: api.OptionalTime(row.LastFailedAt), LastError: row.LastError, CreatedAt: api.TimeOf(row.CreatedAt),
	}
	for _, s := range row.About {
		c.About = append(c.About, Subject(s))
	}
	return c
}

// maxChannels is how many channels an account can have.
const maxChannels = 20

const (
	path    = "/api/v1/chat-channels"
	tag     = "Chat channels"
	sealing = "chat channels" // the context is the id of the channel
)

// Deps is what channels work with. All of it is required.
type Deps struct {
	Postgres   *postgres.Pool
	Queue      *queue.Queue
	Tokens     *token.Ring
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Channels serves the channels of accounts, and sends to them. It implements notice.Teller. It is
// safe for concurrent use once SendBy was called.
type Channels struct {
	deps     Deps
	webhooks *webhook.Webhooks
	messages *prometheus.CounterVec
}

// New returns the channels of an installation, whose messages its queue sends.
func New(d Deps) (*Channels, error) {
	c := &Channels{deps: d, messages: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_chat_attempts_total", Help: "Messages sent to chat channels, by kind and outcome: sent, failed (will be tried again), refused (for good).",
	}, []string{"kind", "outcome"})}
	for _, k := range Kinds() {
		for _, outcome := range []string{sent, failed, refused} {
			c.messages.WithLabelValues(string(k), outcome)
		}
	}
	d.Registerer.MustRegister(c.messages)
	if err := d.Queue.AddQueue(queueName, connections); err != nil {
		return nil, err
	}
	if err := queue.Register(d.Queue, &worker{Channels: c}); err != nil {
		return nil, err
	}
	return c, nil
}

// SendBy sets what messages are sent by, and which addresses may be sent to.
func (c *Channels) SendBy(w *webhook.Webhooks) { c.webhooks = w }

// Register adds the operations.
func (c *Channels) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-chat-channel", Method: "POST", Path: path, Scope: auth.Webhooks, Also: []auth.Scope{auth.Leads}, Tag: tag, Status: 201,
		Summary: "Add a chat channel", Description: "The account's notices are sent to it as well as by mail, when the account's settings say that they are sent.",
		Errors: []problem.Code{problem.LimitReached},
	}, c.create)
	api.Register(a, api.Operation{
		ID: "list-chat-channels", Method: "GET", Path: path, Scope: auth.Webhooks, Tag: tag,
		Summary: "List the chat channels, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, c.list)
	api.Register(a, api.Operation{
		ID: "get-chat-channel", Method: "GET", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Summary: "Get a chat channel",
	}, c.get)
	api.Register(a, api.Operation{
		ID: "update-chat-channel", Method: "PATCH", Path: path + "/{id}", Scope: auth.Webhooks, Also: []auth.Scope{auth.Leads}, Tag: tag,
		Summary: "Change a chat channel", Description: "Omitted fields keep their values.",
	}, c.update)
	api.Register(a, api.Operation{
		ID: "delete-chat-channel", Method: "DELETE", Path: path + "/{id}", Scope: auth.Webhooks, Tag: tag, Status: 204, Summary: "Delete a chat channel",
	}, c.delete)
	api.Register(a, api.Operation{
		ID: "test-chat-channel", Method: "POST", Path: path + "/{id}/test", Scope: auth.Webhooks, Tag: tag,
		Summary: "Send a test message to a chat channel", Description: "The answer says how it went.", Timeout: testTimeout,
	}, c.test)
}

type createInput struct {
	Body newChannel
}

type newChannel struct {
	Kind  Kind      `json:"kind" doc:"Chat program."`
	Name  string    `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the channel, for you."`
	URL   string    `json:"url" minLength:"1" maxLength:"2000" doc:"URL of its incoming webhook. It is not shown again."`
	About []Subject `json:"about" required:"false" nullable:"false" minItems:"1" uniqueItems:"true" doc:"What it gets notices about. Default: everything."`
}

// address is the sealed URL of a channel, and what is shown of it.
type address struct {
	sealed []byte
	hint   string
}

// seal checks a URL and seals it for a channel.
func (c *Channels) seal(id uuid.UUID, text string) (a address, err error) {
	if wrong := c.webhooks.CheckURL(text); wrong != "" {
		return a, problem.Invalid(problem.Field{Field: "url", Message: wrong})
	}
	u, err := url.Parse(text)
	if err != nil {
		return a, problem.Invalid(problem.Field{Field: "url", Message: "cannot be read"})
	}
	if a.sealed, err = c.deps.Tokens.Seal(sealing, []byte(text), id[:]); err != nil {
		return a, fmt.Errorf("seal URL of chat channel: %w", err)
	}
	const shown = 4
	a.hint = u.Host + "/…"
	if rest := u.RequestURI(); len(rest) > 4*shown { // else it would be most of it
		a.hint += rest[len(rest)-shown:]
	}
	return a, nil
}

// checkSubjects refuses a subject that is there twice.
func checkSubjects(about []Subject) error {
	for i, s := range about {
		if first := slices.Index(about, s); first < i {
			return problem.Invalid(problem.Field{Field: fmt.Sprintf("about[%d]", i), Message: fmt.Sprintf("is the same as about[%d]", first)})
		}
	}
	return nil
}

func (c *Channels) create(ctx context.Context, in *createInput) (*api.Answer[Channel], error) {
	owner := auth.From(ctx).AccountID
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("add chat channel: %w", err)
	}
	audit.Created(ctx, id)
	if err := checkSubjects(in.Body.About); err != nil {
		return nil, err
	}
	at, err := c.seal(id, in.Body.URL)
	if err != nil {
		return nil, err
	}
	about := in.Body.About
	if about == nil {
		about = Subjects()
	}
	var row store.ChatChannel
	err = c.deps.Postgres.Account(ctx, owner, func(tx pgx.Tx) error {
		q := store.New(tx)
		n, err := q.CountChatChannels(ctx)
		if err != nil {
			return fmt.Errorf("count chat channels: %w", err)
		}
		if n >= maxChannels {
			return problem.New(problem.LimitReached, fmt.Sprintf("An account can have %d chat channels: delete some that are not used.", maxChannels))
		}
		row, err = q.InsertChatChannel(ctx, store.InsertChatChannelParams{
			ID: id, AccountID: owner, Kind: string(in.Body.Kind), Name: in.Body.Name, About: jsonschema.Values(about), UrlSealed: at.sealed, UrlHint: at.hint,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("add chat channel: %w", err)
	}
	return api.Created(path+"/"+id.String(), channelOf(row)), nil
}

type idInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the chat channel."`
}

func read(ctx context.Context, tx pgx.Tx, id uuid.UUID) (store.ChatChannel, error) {
	row, err := store.New(tx).GetChatChannel(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("chat channel")
	}
	return row, err
}

func (c *Channels) get(ctx context.Context, in *idInput) (*api.Answer[Channel], error) {
	row, err := c.find(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("get chat channel: %w", err)
	}
	return api.OK(channelOf(row)), nil
}

func (c *Channels) find(ctx context.Context, id uuid.UUID) (row store.ChatChannel, err error) {
	err = c.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = read(ctx, tx, id)
		return err
	})
	return row, err
}

type listInput struct{ api.Paging }

func (c *Channels) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[Channel]], error) {
	var total int64
	var list []Channel
	err := c.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountChatChannels(ctx); err != nil {
			return err
		}
		rows, err := q.ListChatChannels(ctx, store.ListChatChannelsParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		list = nil
		for _, row := range rows {
			list = append(list, channelOf(row))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list chat channels: %w", err)
	}
	return api.List(ctx, in.Paging, list, total), nil
}

type updateInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the chat channel."`
	Body changedChannel
}

type changedChannel struct {
	Name     *string   `json:"name" required:"false" nullable:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the channel, for you."`
	URL      *string   `json:"url" required:"false" nullable:"false" minLength:"1" maxLength:"2000" doc:"URL of its incoming webhook."`
	About    []Subject `json:"about" required:"false" nullable:"false" minItems:"1" uniqueItems:"true" doc:"What it gets notices about."`
	IsActive *bool     `json:"is_active" required:"false" nullable:"false" doc:"Whether notices are sent."`
}

func (c *Channels) update(ctx context.Context, in *updateInput) (*api.Answer[Channel], error) {
	p := store.UpdateChatChannelParams{ID: in.ID, Name: in.Body.Name, IsActive: in.Body.IsActive}
	if err := checkSubjects(in.Body.About); err != nil {
		return nil, err
	}
	if in.Body.About != nil {
		p.About = jsonschema.Values(in.Body.About)
	}
	if in.Body.URL != nil {
		at, err := c.seal(in.ID, *in.Body.URL)
		if err != nil {
			return nil, err
		}
		p.UrlSealed, p.UrlHint = at.sealed, &at.hint
	}
	var row store.ChatChannel
	err := c.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).UpdateChatChannel(ctx, p)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("chat channel")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change chat channel: %w", err)
	}
	return api.OK(channelOf(row)), nil
}

func (c *Channels) delete(ctx context.Context, in *idInput) (*api.Answer[api.Empty], error) {
	err := c.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteChatChannel(ctx, in.ID)
		if err == nil && n == 0 {
			err = problem.Missing("chat channel")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete chat channel: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
