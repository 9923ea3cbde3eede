package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	// sealing is the purpose that secrets are sealed for. The context is the id of their endpoint.
	sealing = "webhook secrets"
	// sealingMessages is that of bodies and answers. The context is the id of their delivery.
	sealingMessages = "webhook messages"
)

// secrets returns what the deliveries of an endpoint are signed with. Those that cannot be opened
// are left out, and counted as errors.
func (w *Webhooks) secrets(ctx context.Context, endpoint uuid.UUID) ([][]byte, error) {
	rows, err := store.New(w.db.Unscoped()).WebhookSecrets(ctx,
		store.WebhookSecretsParams{EndpointID: endpoint, At: w.now()})
	if err != nil {
		return nil, fmt.Errorf("read secrets: %w", err)
	}
	secrets := make([][]byte, 0, len(rows))
	for _, row := range rows {
		s, err := w.tokens.Open(sealing, row.Sealed, endpoint[:])
		if err != nil {
			w.cannotOpen(endpoint, err)
			continue
		}
		secrets = append(secrets, s)
	}
	return secrets, nil
}

// Seal seals the secrets and URLs that are sealed under another key than the first.
func (w *Webhooks) Seal(ctx context.Context) error {
	q := store.New(w.db.Unscoped())
	_, err := token.SealRows(ctx, func(ctx context.Context, after uuid.UUID,
		limit int64) ([]store.SealedOfWebhooksRow, error) {
		return q.SealedOfWebhooks(ctx, store.SealedOfWebhooksParams{After: after, RowLimit: limit})
	}, func(ctx context.Context, row store.SealedOfWebhooksRow) (uuid.UUID, error) {
		purpose := sealing
		if row.IsUrl {
			purpose = sealingURLs
		}
		sealed, err := w.tokens.Reseal(purpose, row.Sealed, row.EndpointID[:])
		if errors.Is(err, token.ErrSealed) {
			w.cannotOpen(row.EndpointID, err)
		}
		if err != nil || bytes.Equal(sealed, row.Sealed) {
			return row.ID, err
		}
		return row.ID, q.ResealWebhook(ctx, store.ResealWebhookParams{ID: row.ID, Sealed: sealed, Was: row.Sealed})
	})
	if err != nil {
		return fmt.Errorf("seal secrets and URLs of webhooks: %w", err)
	}
	return nil
}

// body returns what is sent. Its error is token.ErrSealed if the key is missing.
func (w *Webhooks) body(d store.WebhookDelivery) (string, error) {
	text, err := w.tokens.Open(sealingMessages, d.BodySealed, d.ID[:])
	if err != nil {
		w.metrics.errors.Inc()
		w.log.Error("cannot open a message to a webhook: add the token key that sealed it",
			"delivery_id", d.ID, "error", err)
		return "", fmt.Errorf("open body: %w", err)
	}
	return string(text), nil
}

// keptAttempt is an attempt as the database has it, with the URL and the answer sealed: many
// endpoints repeat what they got.
type keptAttempt struct {
	Attempt
	SealedURL      []byte `json:"sealed_url,omitzero"`
	SealedResponse []byte `json:"sealed_response,omitzero"`
}

func (a *keptAttempt) seal(keys *token.Ring, delivery uuid.UUID) (err error) {
	if a.SealedURL, err = keys.Seal(sealingMessages, []byte(a.URL), delivery[:]); err != nil {
		return fmt.Errorf("seal URL: %w", err)
	}
	a.URL = hint(a.URL)
	if a.Response == nil {
		return nil
	}
	if a.SealedResponse, err = keys.Seal(sealingMessages, []byte(*a.Response), delivery[:]); err != nil {
		return fmt.Errorf("seal answer: %w", err)
	}
	a.Response = nil
	return nil
}

// attempts returns the attempts of a delivery. Answers whose key is missing are left out, and of
// such URLs there is the hint.
func (w *Webhooks) attempts(d store.WebhookDelivery) ([]Attempt, error) {
	var rows []keptAttempt
	if err := json.Unmarshal(d.Attempts, &rows); err != nil {
		return nil, fmt.Errorf("read attempts: %w", err)
	}
	attempts := make([]Attempt, len(rows))
	for i, a := range rows {
		attempts[i] = a.Attempt
		if text, err := w.tokens.Open(sealingMessages, a.SealedURL, d.ID[:]); err == nil {
			attempts[i].URL = string(text)
		}
		if a.SealedResponse == nil {
			continue
		}
		if text, err := w.tokens.Open(sealingMessages, a.SealedResponse, d.ID[:]); err == nil {
			response := string(text)
			attempts[i].Response = &response
		}
	}
	return attempts, nil
}
