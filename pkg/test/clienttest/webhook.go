package clienttest

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/client"
)

const webhooksPath = "/api/v1/webhooks"

// Webhook is an endpoint of the account's own that receives events.
type Webhook struct {
	ID             string     `json:"id"`
	URL            string     `json:"url"`
	Description    *string    `json:"description"`
	Kinds          []string   `json:"kinds"`  // link.created, form.submitted, …
	Secret         string     `json:"secret"` // set only in the answer that created it; secret
	IsActive       bool       `json:"is_active"`
	DisabledReason *string    `json:"disabled_reason"`
	DisabledAt     *time.Time `json:"disabled_at"`
	FailingSince   *time.Time `json:"failing_since"`
	CreatedAt      time.Time  `json:"created_at"`
	UpdatedAt      time.Time  `json:"updated_at"`
	ETag           string     `json:"-"` // of this state, for a change that must not undo another; "" in a list
}

// SetETag implements client.Tagged.
func (w *Webhook) SetETag(tag string) { w.ETag = tag }

// NewWebhook describes the webhook to create. URL and Kinds are required.
type NewWebhook struct {
	URL         string   `json:"url"`
	Description *string  `json:"description,omitzero"`
	Kinds       []string `json:"kinds"`
}

// CreateWebhook creates a webhook, and returns it with its secret.
func (c Client) CreateWebhook(ctx context.Context, n NewWebhook) (Webhook, error) {
	return client.Post[Webhook](ctx, c.Client, webhooksPath, n)
}

// Webhook returns one webhook.
func (c Client) Webhook(ctx context.Context, id string) (Webhook, error) {
	return client.Get[Webhook](ctx, c.Client, webhookPath(id), nil)
}

// Webhooks returns a page of the webhooks, the newest first.
func (c Client) Webhooks(ctx context.Context, p client.Paging) (client.Page[Webhook], error) {
	return client.Get[client.Page[Webhook]](ctx, c.Client, webhooksPath, p.Query())
}

// WebhookChanges are the changes of a webhook; nil fields stay unchanged.
type WebhookChanges struct {
	URL         *string        `json:"url,omitzero"`
	Description Change[string] `json:"description,omitzero"`
	Kinds       []string       `json:"kinds,omitzero"`
	IsActive    *bool          `json:"is_active,omitzero"`
}

// UpdateWebhook changes a webhook, if it is in one of the states named by entity tags, or in any
// without.
func (c Client) UpdateWebhook(ctx context.Context, id string, n WebhookChanges, ifMatch ...string) (Webhook, error) {
	return patch[Webhook](ctx, c, webhookPath(id), n, ifMatch)
}

// DeleteWebhook deletes a webhook with its log, under the same condition.
func (c Client) DeleteWebhook(ctx context.Context, id string, ifMatch ...string) error {
	return c.remove(ctx, webhookPath(id), ifMatch)
}

// RotateWebhookSecret creates a new secret and returns the webhook with it. Earlier secrets keep
// signing for keepHours hours, at most 168.
func (c Client) RotateWebhookSecret(ctx context.Context, id string, keepHours int) (Webhook, error) {
	return client.Post[Webhook](ctx, c.Client, webhookPath(id)+"/rotate-secret?keep_previous_hours="+
		strconv.Itoa(keepHours), nil)
}

// Delivery is one message to a webhook.
type Delivery struct {
	ID            string            `json:"id"`
	MessageID     string            `json:"message_id"`
	Kind          string            `json:"kind"`
	State         string            `json:"state"` // pending, delivered or failed
	Reason        *string           `json:"reason"`
	Body          jsontext.Value    `json:"body"`
	Attempts      []DeliveryAttempt `json:"attempts"`
	NextAttemptAt *time.Time        `json:"next_attempt_at"`
	CreatedAt     time.Time         `json:"created_at"`
	SettledAt     *time.Time        `json:"settled_at"`
}

// DeliveryAttempt is one try to deliver a message.
type DeliveryAttempt struct {
	AttemptedAt time.Time `json:"attempted_at"`
	URL         string    `json:"url"`
	StatusCode  *int      `json:"status_code"`
	LatencyMS   int64     `json:"latency_ms"`
	Error       *string   `json:"error"`
	Response    *string   `json:"response"`
}

// TestWebhook sends a test message at once, and returns how it went.
func (c Client) TestWebhook(ctx context.Context, id string) (Delivery, error) {
	return client.Post[Delivery](ctx, c.Client, webhookPath(id)+"/test", nil)
}

// DeliveryFilter limits a list of messages. State is pending, delivered, failed, or "" for all.
type DeliveryFilter struct {
	client.Paging
	State string
}

// Deliveries returns a page of what was sent to a webhook, the newest first.
func (c Client) Deliveries(ctx context.Context, webhook string, f DeliveryFilter) (client.Page[Delivery], error) {
	q := f.Query()
	set(q, "state", f.State)
	return client.Get[client.Page[Delivery]](ctx, c.Client, webhookPath(webhook)+"/deliveries", q)
}

// Delivery returns one message to a webhook.
func (c Client) Delivery(ctx context.Context, webhook, id string) (Delivery, error) {
	return client.Get[Delivery](ctx, c.Client, deliveryPath(webhook, id), nil)
}

// ReplayDelivery sends a message again.
func (c Client) ReplayDelivery(ctx context.Context, webhook, id string) (Delivery, error) {
	return client.Post[Delivery](ctx, c.Client, deliveryPath(webhook, id)+"/replay", nil)
}

func webhookPath(id string) string { return webhooksPath + "/" + url.PathEscape(id) }

func deliveryPath(webhook, id string) string {
	return webhookPath(webhook) + "/deliveries/" + url.PathEscape(id)
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}
