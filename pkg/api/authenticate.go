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
	identity, err := a.verifier.Verify(auth.NewClientContext(ctx, a.addresses.Client(r)), strings.TrimLeft(key, " "))
	if auth.IsInvalid(err) {
		return auth.Identity{}, refuse("The API key is unknown, mistyped, expired or revoked.")
	}
	if err != nil {
		return auth.Identity{}, err
	}
	q := requestOf(ctx)
	q.account, q.key = identity.AccountID, identity.KeyID
	return identity, nil
}

// Screen returns nil for a request that can be passed on to a process that checks keys itself: it has a good key, or none.
// That process sees the address of this one, and so cannot tell who guesses.
func (a *API) Screen(r *http.Request) error {
	if r.Header.Get("Authorization") == "" {
		return nil
	}
	_, err := a.authenticate(r.Context(), r)
	return err
}
