package api

import (
	"context"
	"net/http"
	"strings"

	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// authenticate returns who sent a request, if the key is good.
func (a *API) authenticate(ctx context.Context, r *http.Request) (auth.Identity, error) {
	refuse := func(detail string) error {
		return problem.New(problem.Unauthorized, detail).WithHeader("WWW-Authenticate", "Bearer")
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return auth.Identity{}, refuse("Send one header Authorization: Bearer <key>.")
	}
	scheme, key, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return auth.Identity{}, refuse("Send the key as Authorization: Bearer <key>.")
	}
	identity, err := a.verifier.Verify(ctx, strings.TrimLeft(key, " "))
	if auth.IsInvalid(err) {
		return auth.Identity{}, refuse("The API key is unknown, mistyped or revoked.")
	}
	if err != nil {
		return auth.Identity{}, err
	}
	q := requestOf(ctx)
	q.account, q.key = identity.AccountID, identity.KeyID
	return identity, nil
}
