package auth

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// AuditAction is the recorded action: the id of an operation of the API, or one of these.
type AuditAction string

// What is done outside the API.
const (
	SignIn           AuditAction = "sign-in"
	SignOut          AuditAction = "sign-out"
	AcceptInvitation AuditAction = "accept-invitation"
	AddPasskey       AuditAction = "add-passkey"
	RemovePasskey    AuditAction = "remove-passkey"
)

// AuditEntry is one line of the audit log, which has what people and keys do to an account. It is
// written in the transaction that does it, so there is an entry if and only if there was an effect.
// Package api opens an entry for every operation that changes something.
type AuditEntry struct {
	Action    AuditAction
	Object    uuid.UUID // what it is done to; zero: the account, or several objects
	Caller    Identity
	RequestID string
}

// WriteAudit adds an entry in a transaction of the account, or in one that is not scoped.
func WriteAudit(ctx context.Context, tx pgx.Tx, e AuditEntry) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	err = store.New(tx).InsertAudit(ctx, store.InsertAuditParams{
		ID: id, AccountID: e.Caller.AccountID, Action: string(e.Action), ObjectID: nilIfZero(e.Object),
		UserID:    nilIfZero(e.Caller.UserID),
		SessionID: nilIfZero(e.Caller.SessionID), KeyID: nilIfZero(e.Caller.KeyID), RequestID: e.RequestID,
	})
	if err != nil {
		return fmt.Errorf("write audit log: %w", err)
	}
	return nil
}

func nilIfZero(id uuid.UUID) *uuid.UUID {
	if id == uuid.Nil {
		return nil
	}
	return &id
}

// pendingAudit is the entry of a request. It belongs to one goroutine.
type pendingAudit struct{ AuditEntry }

type auditKey struct{}

// WithAudit returns a context under which every transaction of an account that writes ends with
// the entry.
func WithAudit(ctx context.Context, e AuditEntry) context.Context {
	p := &pendingAudit{e}
	return postgres.WithLast(context.WithValue(ctx, auditKey{}, p),
		func(ctx context.Context, tx pgx.Tx) error { return WriteAudit(ctx, tx, p.AuditEntry) })
}

// RecordRead writes the entry of a request that only reads: an export, before it begins.
func RecordRead(ctx context.Context, db *postgres.Pool) error {
	p, ok := ctx.Value(auditKey{}).(*pendingAudit)
	if !ok {
		return nil // outside of the API
	}
	if err := db.Account(ctx, p.Caller.AccountID, func(pgx.Tx) error { return nil }); err != nil {
		return fmt.Errorf("record export: %w", err)
	}
	return nil
}

// RecordCreated says which object the request that a context belongs to creates, or changes if the
// first id in its path is another's. Call it in the transaction, or before.
func RecordCreated(ctx context.Context, object uuid.UUID) {
	if p, ok := ctx.Value(auditKey{}).(*pendingAudit); ok {
		p.Object = object
	}
}
