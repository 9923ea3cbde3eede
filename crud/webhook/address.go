package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// sealingURLs is the purpose that URLs of endpoints are sealed for: many have a token in them. The
// context is the id of the endpoint.
const sealingURLs = "webhook addresses"

// address is the URL of an endpoint as it is stored.
type address struct {
	hint   string // what may be shown to whoever manages no webhooks
	sealed []byte
}

// seal seals a URL for an endpoint.
func (w *Webhooks) seal(endpoint uuid.UUID, text string) (a address, err error) {
	a.hint = hint(text)
	if a.sealed, err = w.tokens.Seal(sealingURLs, []byte(text), endpoint[:]); err != nil {
		return a, fmt.Errorf("seal URL: %w", err)
	}
	return a, nil
}

// hint returns what tells URLs apart without what may be secret in them: the scheme and the host.
func hint(text string) string {
	u, err := url.Parse(text)
	if err != nil { // it was checked when it was given
		return "…"
	}
	shown := u.Scheme + "://" + u.Host + "/"
	if u.RequestURI() != "/" {
		shown += "…"
	}
	return shown
}

// url returns the URL of an endpoint. Without the token key that sealed it, it is the hint, and the
// error is token.ErrSealed.
func (w *Webhooks) url(endpoint uuid.UUID, a address) (string, error) {
	text, err := w.tokens.Open(sealingURLs, a.sealed, endpoint[:])
	if err != nil {
		w.metrics.errors.Inc()
		w.log.Error("cannot open the URL of a webhook: give the token key that sealed it, or set the URL again", "webhook_id", endpoint, "error", err)
		return a.hint, fmt.Errorf("open URL: %w", err)
	}
	return string(text), nil
}

// sealURLs seals the URLs that are sealed under another key than the first.
func (w *Webhooks) sealURLs(ctx context.Context) error {
	q := store.New(w.db.Unscoped())
	_, err := token.SealRows(ctx, func(ctx context.Context, after uuid.UUID, limit int64) ([]store.SomeWebhookURLsRow, error) {
		return q.SomeWebhookURLs(ctx, store.SomeWebhookURLsParams{After: after, RowLimit: limit})
	}, func(ctx context.Context, row store.SomeWebhookURLsRow) (uuid.UUID, error) {
		sealed, err := w.tokens.Reseal(sealingURLs, row.UrlSealed, row.ID[:])
		if errors.Is(err, token.ErrSealed) {
			w.log.Error("cannot open the URL of a webhook: give the token key that sealed it, or set the URL again", "webhook_id", row.ID, "error", err)
		}
		if err != nil || bytes.Equal(sealed, row.UrlSealed) {
			return row.ID, err
		}
		return row.ID, q.ResealWebhookURL(ctx, store.ResealWebhookURLParams{ID: row.ID, Sealed: sealed, Was: row.UrlSealed})
	})
	if err != nil {
		return fmt.Errorf("seal URLs of webhooks: %w", err)
	}
	return nil
}
