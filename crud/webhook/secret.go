package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
)

// secret is a key that messages are signed with. It does not show itself in a log or an error.
type secret []byte

const (
	secretBytes = 32
	// maxSecrets bounds those that sign at a time, and so the length of a header.
	maxSecrets = 5
)

func newSecret() secret {
	s := make(secret, secretBytes)
	_, _ = rand.Read(s) // never fails
	return s
}

// String implements fmt.Stringer.
func (secret) String() string { return "(secret)" }

// GoString implements fmt.GoStringer.
func (secret) GoString() string { return "(secret)" }

// LogValue implements slog.LogValuer.
func (secret) LogValue() slog.Value { return slog.StringValue("(secret)") }

// reveal returns the secret in the form that receivers are given.
func (s secret) reveal() string { return "whsec_" + base64.StdEncoding.EncodeToString(s) }

// sign returns the header webhook-signature: one signature for each secret.
func sign(secrets [][]byte, id string, at time.Time, body string) string {
	signatures := make([]string, len(secrets))
	for i, s := range secrets {
		h := hmac.New(sha256.New, s)
		h.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "." + body))
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil))
	}
	return strings.Join(signatures, " ")
}

// addSecret gives an endpoint a new secret.
func (w *Webhooks) addSecret(ctx context.Context, q *store.Queries, account, endpoint uuid.UUID) (secret, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make id: %w", err)
	}
	s := newSecret()
	sealed, err := w.tokens.Seal(sealing, s, endpoint[:])
	if err != nil {
		return nil, fmt.Errorf("seal webhook secret: %w", err)
	}
	if err := q.InsertWebhookSecret(ctx, store.InsertWebhookSecretParams{ID: id, AccountID: account, EndpointID: endpoint,
		Sealed: sealed}); err != nil {
		return nil, fmt.Errorf("insert webhook secret: %w", err)
	}
	return s, nil
}
