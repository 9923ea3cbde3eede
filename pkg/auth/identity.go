// Package auth creates and verifies API keys and sessions of the dashboard, and gives a request's
// handler the identity of its caller. It writes the audit log.
package auth

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// Identity is the caller of a request: an API key, or a session of the dashboard.
type Identity struct {
	AccountID uuid.UUID
	KeyID     uuid.UUID // of the API key, also of one that a session was signed in by; zero for a user's session
	SessionID uuid.UUID // zero for an API key
	UserID    uuid.UUID // zero for an API key, and for a session that was signed in by one
	ReportID  uuid.UUID // of the page of a share, or of a report by mail, which read reports for no person; else zero
	Scopes    []Scope
}

// Caller returns the id that the caller's requests are counted under: that of its session, its
// share or report, or its key.
func (i Identity) Caller() uuid.UUID {
	if i.ReportID != uuid.Nil {
		return i.ReportID
	}
	if i.SessionID != uuid.Nil {
		return i.SessionID
	}
	return i.KeyID
}

// Has reports whether the key has the scope.
func (i Identity) Has(s Scope) bool { return slices.Contains(i.Scopes, s) }

// Require returns nil if the key has the scope, else a problem that names the missing scope.
func (i Identity) Require(s Scope) error {
	if i.Has(s) {
		return nil
	}
	return problem.New(problem.Forbidden, "This needs a key with the scope "+string(s)+".")
}

// MayGive returns nil if the caller has every scope of a role, else a problem that names those that
// it lacks: whoever lets people into an account gives them no more than it has.
func (i Identity) MayGive(r Role) error {
	var missing []string
	for _, s := range r.Scopes() {
		if !i.Has(s) {
			missing = append(missing, string(s))
		}
	}
	if missing == nil {
		return nil
	}
	return problem.New(problem.Forbidden,
		fmt.Sprintf("The role %s has scopes that this key lacks: %s. A key can give only roles whose scopes it has.", r,
			strings.Join(missing, ", ")))
}

var errInvalid = errors.New("the key is not one of ours, has expired or is revoked")

// IsInvalid reports whether err means that the key was refused. Other errors of Verify mean that it
// could not be looked up.
func IsInvalid(err error) bool { return errors.Is(err, errInvalid) }

type contextKey struct{}

// NewContext returns a context that carries an identity.
func NewContext(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, i)
}

// From returns the identity of the request that a context belongs to. It panics if there is none:
// an operation without authentication must not touch an account.
func From(ctx context.Context) Identity {
	return ctx.Value(contextKey{}).(Identity)
}

type clientKey struct{}

// NewClientContext returns a context that carries the address of a request's client. Unknown keys
// are counted by this address. The zero address means that the address is unknown; it is not
// counted.
func NewClientContext(ctx context.Context, client netip.Addr) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

func clientOf(ctx context.Context) netip.Addr {
	client, _ := ctx.Value(clientKey{}).(netip.Addr)
	return client
}
