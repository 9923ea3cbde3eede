// Package audit writes down what people and keys do to an account, in the transaction that does it:
// so there is an entry if and only if there was an effect. Package api opens an entry for every
// operation that changes something.
package audit

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Action is the recorded action: the id of an operation of the API, or one of these.
type Action string

// What is done outside the API.
const (
	SignIn           Action = "sign-in"
	SignOut          Action = "sign-out"
	AcceptInvitation Action = "accept-invitation"
)

// Entry is one line of the log.
type Entry struct {
	Action    Action
	Object    uuid.UUID // what it is done to; zero: the account, or several objects
	Caller    auth.Identity
	RequestID string
}

// Write adds an entry in a transaction of the account, or in one that is not scoped.
func Write(ctx context.Context, tx pgx.Tx, e Entry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	err = store.New(tx).InsertAudit(ctx, store.InsertAuditParams{
		ID: id, AccountID: e.Caller.AccountID, Action: string(e.Action), ObjectID: optional(e.Object), UserID: optional(e.Caller.UserID),
		SessionID: optional(e.Caller.SessionID), KeyID: optional(e.Caller.KeyID), RequestID: e.RequestID,
	})
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func optional(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// pending is the entry of a request. It belongs to one goroutine.
type pending struct{ Entry }

type contextKey struct{}

// NewContext returns a context under which every transaction of an account that writes ends with
// the entry.
func NewContext(ctx context.Context, e Entry) context.Context {
	p := &pending{e}
	return postgres.WithLast(context.WithValue(ctx, contextKey{}, p), func(ctx context.Context, tx pgx.Tx) error { return Write(ctx, tx, p.Entry) })
}

// Record writes the entry of a request that only reads: an export, before it begins.
func Record(ctx context.Context, db *postgres.Pool) error {
	p, ok := ctx.Value(contextKey{}).(*pending)
	if !ok {
		return nil // outside of the API
	}
	if err := db.Account(ctx, p.Caller.AccountID, func(pgx.Tx) error { return nil }); err != nil {
		return fmt.Errorf("record export: %w", err)
	}
	return nil
}

// Created says which object the request that a context belongs to creates, or changes if the
// first id in its path is another's. Call it in the transaction, or before.
func Created(ctx context.Context, object uuid.UUID) {
	if p, ok := ctx.Value(contextKey{}).(*pending); ok {
		p.Object = object
	}
}
