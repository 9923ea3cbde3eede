package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Webhook is an endpoint as the API shows it: without its secrets.
type Webhook struct {
	ID             uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Format         Format    `json:"format" doc:"What it receives: events as JSON, or the account's notices in the format of a chat program."`
	URL            string    `json:"url" doc:"URL that messages are sent to; for a chat program only its scheme and host, since anyone with the URL can post."`
	Description    *string   `json:"description" doc:"Purpose of the webhook."`
	Kinds          []Kind    `json:"kinds" nullable:"false" doc:"Kinds of events sent to it."`
	IsActive       bool      `json:"is_active" doc:"Whether messages are sent."`
	DisabledReason *string   `json:"disabled_reason" doc:"Why it was disabled."`
	DisabledAt     *api.Time `json:"disabled_at" doc:"When it was disabled."`
	FailingSince   *api.Time `json:"failing_since" doc:"When the first message after the last success failed; null if none has."`
	CreatedAt      api.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt      api.Time  `json:"updated_at" doc:"When it was last changed."`
}

// FullWebhook is an endpoint with the secret just created for it.
type FullWebhook struct {
	Webhook
	Secret *string `json:"secret" doc:"Secret that messages are signed with. It is shown only once. Null for a chat program, whose messages are not signed."`
}

const (
	path = "/api/v1/webhooks"
	tag  = "Webhooks"
)

type idInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the webhook."`
}

func (w *Webhooks) get(ctx context.Context, in *idInput) (*api.Answer[Webhook], error) {
	var row store.WebhookEndpoint
	err := w.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = read(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get webhook: %w", err)
	}
	return api.OK(w.shown(row)).At(row.Revision), nil
}

// read returns an endpoint, or the problem that there is none.
func read(ctx context.Context, tx pgx.Tx, id uuid.UUID) (store.WebhookEndpoint, error) {
	row, err := store.New(tx).GetWebhook(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("webhook")
	}
	if err != nil {
		return row, fmt.Errorf("read webhook: %w", err)
	}
	return row, nil
}

type listInput struct{ api.Paging }

func (w *Webhooks) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[Webhook]], error) {
	var total int64
	var hooks []Webhook
	err := w.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountWebhooks(ctx); err != nil {
			return err
		}
		rows, err := q.ListWebhooks(ctx, store.ListWebhooksParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		if err != nil {
			return err
		}
		for _, row := range rows {
			hooks = append(hooks, w.shown(row))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	return api.List(ctx, in.Paging, hooks, total), nil
}

// shown returns an endpoint as the API shows it. Of a URL whose key is missing it shows the hint.
func (w *Webhooks) shown(row store.WebhookEndpoint) Webhook {
	text := row.Url
	if Format(row.Format) == JSON {
		text, _ = w.url(row.ID, address{row.Url, row.UrlSealed}) // logged
	}
	kinds := make([]Kind, len(row.Kinds))
	for i, k := range row.Kinds {
		kinds[i] = Kind(k)
	}
	return Webhook{
		ID: row.ID, Format: Format(row.Format), URL: text, Description: row.Description, Kinds: kinds, IsActive: row.IsActive,
		DisabledReason: row.DisabledReason, DisabledAt: api.OptionalTime(row.DisabledAt),
		FailingSince: api.OptionalTime(row.FailingSince),
		CreatedAt:    api.TimeOf(row.CreatedAt), UpdatedAt: api.TimeOf(row.UpdatedAt),
	}
}

func (w *Webhooks) withSecret(row store.WebhookEndpoint, s secret) FullWebhook {
	full := FullWebhook{Webhook: w.shown(row)}
	if s != nil {
		full.Secret = new(s.reveal())
	}
	return full
}
