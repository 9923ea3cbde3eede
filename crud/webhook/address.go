package webhook

import (
	"fmt"
	"net/url"

	"github.com/google/uuid"
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
		w.cannotOpen(endpoint, err)
		return a.hint, fmt.Errorf("open URL: %w", err)
	}
	return string(text), nil
}

func (w *Webhooks) cannotOpen(endpoint uuid.UUID, err error) {
	w.metrics.errors.Inc()
	w.log.Error("cannot open the URL or a secret of a webhook: add the token key that sealed it, or set the URL again and rotate the secret", "webhook_id", endpoint, "error", err)
}
