package webhook

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Delivery is one message to one endpoint, as the API shows it.
type Delivery struct {
	ID            uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	MessageID     string    `json:"message_id" doc:"Value of the header webhook-id: the same for every attempt, and for every webhook that receives the event."`
	Kind          sentKind  `json:"kind" doc:"Kind of the event."`
	State         state     `json:"state" doc:"Whether it was delivered, has failed, or is pending."`
	Reason        *string   `json:"reason" doc:"Why it failed."`
	Body          body      `json:"body" doc:"Body of the message; null if the token key that encrypted it is missing."`
	Attempts      []Attempt `json:"attempts" nullable:"false" doc:"The last 20 attempts, oldest first."`
	NextAttemptAt *api.Time `json:"next_attempt_at" doc:"Time of the next attempt."`
	CreatedAt     api.Time  `json:"created_at" doc:"When it was created."`
	SettledAt     *api.Time `json:"settled_at" doc:"When it was delivered or given up."`
}

// sentKind is the kind of a message: one that an endpoint can ask for, or the test.
type sentKind Kind

// EnumValues implements jsonschema.Enum.
func (sentKind) EnumValues() []string { return jsonschema.Values(append(Kinds(), kindTest)) }

// state is how far the delivery of a message is.
type state string

// EnumValues implements jsonschema.Enum.
func (state) EnumValues() []string { return []string{"pending", "delivered", "failed"} }

// body is the text of a message, empty if no one can read it.
type body string

// MarshalJSON implements json.Marshaler.
func (b body) MarshalJSON() ([]byte, error) {
	if b == "" {
		return []byte("null"), nil
	}
	return jsontext.Value(b), nil
}

// JSONSchema implements jsonschema.Provider.
func (body) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	s := jsonschema.AnyObject()
	s.Nullable = true
	return s
}

// show returns a delivery as the API shows it, without a body if its key is missing.
func (w *Webhooks) show(d store.WebhookDelivery) (shown Delivery, err error) {
	text, err := w.body(d)
	if err != nil && !errors.Is(err, token.ErrSealed) {
		return shown, err
	}
	shown = Delivery{
		ID: d.ID, MessageID: messageID(d.EventID), Kind: sentKind(d.Kind), State: state(d.State),
		Reason: d.Reason, Body: body(text),
		NextAttemptAt: api.OptionalTime(d.NextAttemptAt), CreatedAt: api.TimeOf(d.CreatedAt),
		SettledAt: api.OptionalTime(d.SettledAt),
	}
	shown.Attempts, err = w.attempts(d)
	return shown, err
}

type deliveriesInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the webhook."`
	api.CursorPaging
	State *state `query:"state" doc:"Only messages in this state."`
}

func (w *Webhooks) deliveries(ctx context.Context, in *deliveriesInput) (*api.Answer[api.CursorPage[Delivery]], error) {
	// One more than the page has tells whether another one follows.
	query := store.ListWebhookDeliveriesParams{EndpointID: in.ID, State: (*string)(in.State),
		RowOffset: in.Offset(), RowLimit: in.Limit() + 1}
	var err error
	if query.BeforeAt, query.BeforeID, err = in.Place(in.ID, in.State); err != nil {
		return nil, err
	}
	var total int64
	var rows []store.WebhookDelivery
	err = w.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		if _, err := read(ctx, tx, in.ID); err != nil {
			return err
		}
		q := store.New(tx)
		if total, err = q.CountWebhookDeliveries(ctx, store.CountWebhookDeliveriesParams{EndpointID: in.ID,
			State: (*string)(in.State)}); err != nil {
			return err
		}
		rows, err = q.ListWebhookDeliveries(ctx, query)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list deliveries: %w", err)
	}
	next := ""
	if int64(len(rows)) > in.Limit() {
		rows = rows[:in.Limit()]
		last := rows[len(rows)-1]
		if next, err = api.NextPlace(last.CreatedAt, last.ID, in.ID, in.State); err != nil {
			return nil, err
		}
	}
	list := make([]Delivery, len(rows))
	for i, row := range rows {
		if list[i], err = w.show(row); err != nil {
			return nil, err
		}
	}
	return api.ListCursor(ctx, in.CursorPaging, list, total, next), nil
}

type deliveryInput struct {
	ID         uuid.UUID `path:"id" doc:"Id of the webhook."`
	DeliveryID uuid.UUID `path:"delivery_id" doc:"Id of the message in the log."`
}

func (w *Webhooks) delivery(ctx context.Context, in *deliveryInput) (*api.Answer[Delivery], error) {
	var row store.WebhookDelivery
	err := w.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetWebhookDelivery(ctx, store.GetWebhookDeliveryParams{EndpointID: in.ID, ID: in.DeliveryID})
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("message")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get delivery: %w", err)
	}
	shown, err := w.show(row)
	if err != nil {
		return nil, err
	}
	return api.OK(shown), nil
}

func (w *Webhooks) replay(ctx context.Context, in *deliveryInput) (*api.Answer[Delivery], error) {
	var row store.WebhookDelivery
	err := w.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		endpoint, err := read(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		q := store.New(tx)
		row, err = q.ReplayWebhookDelivery(ctx, store.ReplayWebhookDeliveryParams{EndpointID: in.ID, ID: in.DeliveryID})
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("message")
		}
		if err == nil && !endpoint.IsActive {
			return problem.New(problem.Conflict, "The webhook is not active: activate it before sending messages again.")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("replay delivery: %w", err)
	}
	shown, err := w.show(row)
	if err != nil {
		return nil, err
	}
	return api.OK(shown), nil
}
