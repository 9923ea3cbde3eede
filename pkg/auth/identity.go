// Package auth makes and verifies API keys and tells a request's handler who its caller is.
package auth

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"
)

// Scope is what a key allows.
type Scope string

// The scopes. A key has one or both; neither includes the other.
const (
	Read  Scope = "read"
	Write Scope = "write"
)

// Scopes lists every scope.
func Scopes() []Scope { return []Scope{Read, Write} }

// Identity is who sent a request.
type Identity struct {
	AccountID uuid.UUID
	KeyID     uuid.UUID
	Scopes    []Scope
}

// Has reports whether the key allows what the scope stands for.
func (i Identity) Has(s Scope) bool { return slices.Contains(i.Scopes, s) }

var errInvalid = errors.New("the key is not one of ours, or is revoked")

// IsInvalid reports whether a key was refused, as against one that could not be looked up.
func IsInvalid(err error) bool { return errors.Is(err, errInvalid) }

type contextKey struct{}

// NewContext returns a context that carries an identity.
func NewContext(ctx context.Context, i Identity) context.Context {
	return context.WithValue(ctx, contextKey{}, i)
}

// From returns the identity of the request that a context belongs to. It panics if there is none:
// an operation without authentication has no business with an account.
func From(ctx context.Context) Identity {
	return ctx.Value(contextKey{}).(Identity)
}
