package landing

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"lukechampine.com/blake3"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// previewTime is how long a preview works.
const previewTime = time.Hour

type previewInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
}

// Preview is the address of a preview as the API shows it.
type Preview struct {
	URL       string   `json:"url" doc:"Full URL, which shows the page to whoever has it, also while the link is not active. Nothing that happens there counts or is stored."`
	ExpiresAt api.Time `json:"expires_at" doc:"When the URL stops to work as a preview."`
}

func (l *Landing) registerPreview(a *api.API) {
	api.Register(a, api.Operation{
		ID: "preview-generic-link", Method: "POST", Path: "/api/v1/generic-links/{id}/preview", Scope: auth.Write, Tag: "Generic links",
		Summary:     "Make a URL that shows the page of a generic link without counting",
		Description: "For owners who look at their own page: views and forms are neither counted nor stored. It works for an hour.",
	}, l.makePreview)
}

func (l *Landing) makePreview(ctx context.Context, in *previewInput) (*api.Answer[Preview], error) {
	var link store.GenericLink
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		link, err = store.New(tx).GetLink(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("generic link")
	}
	if err != nil {
		return nil, fmt.Errorf("make preview: %w", err)
	}
	ends := l.deps.Now().Add(previewTime).Truncate(time.Second)
	sign := sign(&l.keys[0], link.ID, ends.Unix())
	return api.OK(Preview{
		URL:       l.deps.Site + pathOf(link.Slug) + "?" + url.Values{"preview": {sign}}.Encode(),
		ExpiresAt: api.TimeOf(ends),
	}), nil
}

// sign returns the end of a preview with a MAC of it and the link.
func sign(key *[token.KeyBytes]byte, link uuid.UUID, ends int64) string {
	text := strconv.FormatInt(ends, 36)
	h := blake3.New(16, key[:])
	_, _ = h.Write([]byte(link.String() + " " + text)) // documented never to fail
	return text + "." + base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// isPreview reports whether a parameter is a signature of a link that has not expired.
func (l *Landing) isPreview(given string, link uuid.UUID) bool {
	text, _, found := strings.Cut(given, ".")
	ends, err := strconv.ParseInt(text, 36, 64)
	if !found || err != nil {
		return false
	}
	return l.deps.Now().Unix() < ends && slices.ContainsFunc(l.keys, func(key [token.KeyBytes]byte) bool {
		return subtle.ConstantTimeCompare([]byte(given), []byte(sign(&key, link, ends))) == 1
	})
}
