package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// byOwner is the reason of an endpoint that its owner disabled.
const byOwner = "It was disabled by a request."

type createInput struct {
	Body newWebhook
}

type newWebhook struct {
	Format      Format  `json:"format" required:"false" default:"json" doc:"What it receives: json for events, which your program reads; slack, teams or discord for the account's notices in a channel."`
	URL         string  `json:"url" minLength:"1" maxLength:"2048" doc:"https URL that messages are sent to. The URL of a chat program is not shown again."`
	Description *string `json:"description" required:"false" maxLength:"500" doc:"Purpose of the webhook."`
	Kinds       []Kind  `json:"kinds" nullable:"false" minItems:"1" uniqueItems:"true" doc:"Kinds of messages to send: of events for the format json, of notices for the others."`
}

type updateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the webhook."`
	api.Precondition
	Body changedWebhook
}

type changedWebhook struct {
	URL         *string            `json:"url" required:"false" nullable:"false" minLength:"1" maxLength:"2048" doc:"https URL that messages are sent to, including pending ones."`
	Description api.Change[string] `json:"description" required:"false" maxLength:"500" doc:"Purpose of the webhook; null clears it."`
	Kinds       []Kind             `json:"kinds" required:"false" nullable:"false" minItems:"1" uniqueItems:"true" doc:"Kinds of events to send from now on."`
	IsActive    *bool              `json:"is_active" required:"false" nullable:"false" doc:"Whether messages are sent."`
}

// check returns what the schema cannot tell.
func (w *Webhooks) check(f Format, address *string, kinds []Kind) error {
	wrong := f.check(kinds)
	if address != nil {
		if message := w.checkURL(*address); message != "" {
			wrong = append(wrong, problem.Field{Field: "url", Message: message})
		}
	}
	if wrong != nil {
		return problem.Invalid(wrong...)
	}
	return nil
}

// checkURL returns what is wrong with the URL of an endpoint, or "". What its host resolves to is
// judged each time that it is dialled; an address in the URL is judged now as well, to spare its
// owner the search.
func (w *Webhooks) checkURL(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Opaque != "" {
		return "must be a full https URL, such as https://example.com/hooks"
	}
	switch port := web.CheckPort(u); {
	case port != "":
		return port
	case u.User != nil:
		return "must not hold a user name or password: check the signature of messages instead"
	case u.Fragment != "":
		return "must not have a fragment"
	case u.Scheme == "http" && !w.plain:
		return "must begin with https"
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return ""
	}
	switch {
	case w.guard.Check(a) != nil:
		return "must be on the public internet"
	case u.Scheme == "http" && !w.guard.Allows(a):
		return "must begin with https"
	}
	return ""
}

func (w *Webhooks) create(ctx context.Context, in *createInput) (*api.Answer[FullWebhook], error) {
	b := in.Body
	b.Format = cmp.Or(b.Format, JSON)
	if err := w.check(b.Format, &b.URL, b.Kinds); err != nil {
		return nil, err
	}
	owner := auth.From(ctx).AccountID
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create webhook: %w", err)
	}
	auth.RecordCreated(ctx, id)
	to, err := w.seal(id, b.URL)
	if err != nil {
		return nil, fmt.Errorf("create webhook: %w", err)
	}
	var row store.WebhookEndpoint
	var created secret
	err = w.db.Account(ctx, owner, func(tx pgx.Tx) (err error) {
		// One at a time, so that two at once cannot pass the limit.
		if _, err := account.LockPlan(ctx, tx); err != nil {
			return err
		}
		q := store.New(tx)
		n, err := q.CountWebhooks(ctx)
		if err != nil {
			return fmt.Errorf("count webhooks: %w", err)
		}
		if n >= int64(w.config.MaxEndpoints) {
			return problem.New(problem.LimitReached,
				fmt.Sprintf("An account can have %d webhooks: delete some that are not used.", w.config.MaxEndpoints))
		}
		row, err = q.InsertWebhook(ctx, store.InsertWebhookParams{
			ID: id, AccountID: owner, Format: string(b.Format), Url: to.hint, UrlSealed: to.sealed,
			Description: b.Description, Kinds: names(b.Kinds),
		})
		if err != nil {
			return fmt.Errorf("insert webhook: %w", err)
		}
		if b.Format != JSON {
			return nil
		}
		created, err = w.addSecret(ctx, q, owner, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create webhook: %w", err)
	}
	return api.Created(path+"/"+id.String(), w.withSecret(row, created)).At(row.Revision).Of(w.shown(row)), nil
}

func (w *Webhooks) update(ctx context.Context, in *updateInput) (*api.Answer[Webhook], error) {
	b := in.Body
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	var to struct {
		hint   *string
		sealed []byte
	}
	if b.URL != nil {
		a, err := w.seal(in.ID, *b.URL)
		if err != nil {
			return nil, fmt.Errorf("update webhook: %w", err)
		}
		to.hint, to.sealed = &a.hint, a.sealed
	}
	var row store.WebhookEndpoint
	err = w.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		if row, err = read(ctx, tx, in.ID); err != nil {
			return err
		}
		if err := w.check(Format(row.Format), b.URL, b.Kinds); err != nil {
			return err
		}
		if b.URL == nil && b.Kinds == nil && b.IsActive == nil && !b.Description.Given {
			if !api.Matches(row.Revision, revisions) {
				err = problem.Stale("webhook")
			}
			return err
		}
		row, err = store.New(tx).UpdateWebhook(ctx, store.UpdateWebhookParams{
			ID: in.ID, Revisions: revisions, Url: to.hint, UrlSealed: to.sealed, SetDescription: b.Description.Given,
			Description: b.Description.Value,
			Kinds:       names(b.Kinds), IsActive: b.IsActive, Reason: byOwner,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return conflictOf(ctx, tx, in.ID)
		}
		if err != nil || row.IsActive {
			return err
		}
		return w.drop(ctx, tx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("update webhook: %w", err)
	}
	return api.OK(w.shown(row)).At(row.Revision), nil
}

// conflictOf says why a statement that compares revisions found nothing to change.
func conflictOf(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := read(ctx, tx, id); err != nil {
		return err
	}
	return problem.Stale("webhook")
}

// names returns kinds as they are stored, nil for nil.
func names(kinds []Kind) []string {
	var texts []string
	for _, k := range kinds {
		texts = append(texts, string(k))
	}
	return texts
}

type deleteInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the webhook."`
	api.Precondition
}

func (w *Webhooks) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	err = w.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteWebhook(ctx, store.DeleteWebhookParams{ID: in.ID, Revisions: revisions})
		if err != nil || n > 0 {
			return err
		}
		return conflictOf(ctx, tx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("delete webhook: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

type rotateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the webhook."`
	// A body would have to be sent even where it would be empty.
	KeepHours int `query:"keep_previous_hours" default:"24" minimum:"0" maximum:"168" doc:"Hours during which messages are also signed with the previous secrets."`
}

func (w *Webhooks) rotate(ctx context.Context, in *rotateInput) (*api.Answer[FullWebhook], error) {
	account := auth.From(ctx).AccountID
	var row store.WebhookEndpoint
	var created secret
	err := w.db.Account(ctx, account, func(tx pgx.Tx) (err error) {
		if row, err = read(ctx, tx, in.ID); err != nil {
			return err
		}
		if Format(row.Format) != JSON {
			return problem.New(problem.Conflict, "The webhook has no secret: messages to a chat program are not signed.")
		}
		q := store.New(tx)
		if row, err = q.TouchWebhook(ctx, in.ID); err != nil { // one rotation at a time
			return fmt.Errorf("take webhook: %w", err)
		}
		until := time.Now().Add(time.Duration(in.KeepHours) * time.Hour)
		if err := q.ExpireWebhookSecrets(ctx, store.ExpireWebhookSecretsParams{EndpointID: in.ID, Until: until}); err != nil {
			return fmt.Errorf("expire webhook secrets: %w", err)
		}
		n, err := q.CountWebhookSecrets(ctx, in.ID)
		if err != nil {
			return fmt.Errorf("count webhook secrets: %w", err)
		}
		if in.KeepHours > 0 && n >= maxSecrets {
			return problem.New(problem.Conflict,
				fmt.Sprintf("%d secrets sign the messages of this webhook at present: wait until some expire, or end them all with keep_previous_hours=0.", n))
		}
		created, err = w.addSecret(ctx, q, account, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rotate webhook secret: %w", err)
	}
	return api.OK(w.withSecret(row, created)).At(row.Revision).Of(w.shown(row)), nil
}
