// Package account makes accounts and their API keys, and shows them to whoever has a key.
package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Plan is the paid plan of an account.
type Plan string

// The plans.
const (
	Free Plan = "free"
	Pro  Plan = "pro"
	Team Plan = "team"
)

// Plans lists every plan.
func Plans() []Plan { return []Plan{Free, Pro, Team} }

// EnumValues implements jsonschema.Enum.
func (Plan) EnumValues() []string { return jsonschema.Values(Plans()) }

// ErrUnknown says that there is no such account or key.
var ErrUnknown = errors.New("there is no such account or key")

// Accounts makes accounts and keys in Postgres. It is for whoever runs the installation: it acts
// on any account. It is safe for concurrent use.
type Accounts struct{ db *postgres.Pool }

// New returns the accounts of a database.
func New(db *postgres.Pool) *Accounts { return &Accounts{db} }

// Create makes an account and returns its id.
func (a *Accounts) Create(ctx context.Context, name string, plan Plan) (uuid.UUID, error) {
	if !slices.Contains(Plans(), plan) {
		return uuid.Nil, fmt.Errorf("create account: there is no plan %q, only %v", plan, Plans())
	}
	if name = strings.TrimSpace(name); name == "" {
		return uuid.Nil, errors.New("create account: it needs a name")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return uuid.Nil, fmt.Errorf("create account: %w", err)
	}
	err = store.New(a.db.Unscoped()).InsertAccount(ctx, store.InsertAccountParams{ID: id, Name: name, Plan: string(plan)})
	if err != nil {
		return uuid.Nil, fmt.Errorf("create account: %w", err)
	}
	return id, nil
}

// Change sets the name and the plan of an account, each if it is given. A smaller plan takes
// nothing away: the account keeps what it has, and can add nothing above the limits. ErrUnknown
// says that there is no such account.
func (a *Accounts) Change(ctx context.Context, account uuid.UUID, name *string, plan *Plan) error {
	p := store.ChangeAccountParams{ID: account}
	if name != nil {
		p.Name = new(strings.TrimSpace(*name))
		if *p.Name == "" {
			return errors.New("change account: it needs a name")
		}
	}
	if plan != nil {
		if !slices.Contains(Plans(), *plan) {
			return fmt.Errorf("change account: there is no plan %q, only %v", *plan, Plans())
		}
		p.Plan = new(string(*plan))
	}
	changed, err := store.New(a.db.Unscoped()).ChangeAccount(ctx, p)
	if err == nil && changed == 0 {
		err = ErrUnknown
	}
	if err != nil {
		return fmt.Errorf("change account: %w", err)
	}
	return nil
}

// NotifyAt sets where an account's mails about new leads go, on the word of whoever runs the
// installation: the address counts as confirmed. ErrUnknown says that there is no such account.
func (a *Accounts) NotifyAt(ctx context.Context, account uuid.UUID, address string) error {
	to, err := email.Parse(address)
	if err != nil {
		return fmt.Errorf("set address for notices: it %w", err)
	}
	err = a.db.Account(ctx, account, func(tx pgx.Tx) error {
		_, err := store.New(tx).UpdateAccount(ctx, store.UpdateAccountParams{SetNotifyEmail: true,
			NotifyEmail: &to.Text, NotifyConfirmed: true})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrUnknown
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("set address for notices: %w", err)
	}
	return nil
}

// Info describes an account.
type Info struct {
	ID        uuid.UUID
	Name      string
	Plan      Plan
	CreatedAt time.Time
}

// List returns every account, the oldest first.
func (a *Accounts) List(ctx context.Context) ([]Info, error) {
	rows, err := store.New(a.db.Unscoped()).ListAccounts(ctx)
	if err != nil {
		return nil, fmt.Errorf("list accounts: %w", err)
	}
	accounts := make([]Info, len(rows))
	for i, row := range rows {
		accounts[i] = Info{row.ID, row.Name, Plan(row.Plan), row.CreatedAt}
	}
	return accounts, nil
}

// Key is a key that was just created. Its text is returned this once: what is stored cannot be
// turned back.
type Key struct {
	ID   uuid.UUID
	Text string // secret
}

// CreateKey makes a key of an account that does not expire, as CreateExpiringKey does.
func (a *Accounts) CreateKey(ctx context.Context, account uuid.UUID, name string, scopes ...auth.Scope) (Key, error) {
	return a.CreateExpiringKey(ctx, account, name, nil, scopes...)
}

// CreateExpiringKey makes a key of an account that works until a time; nil stands for no end.
// ErrUnknown says that there is no such account.
func (a *Accounts) CreateExpiringKey(ctx context.Context, account uuid.UUID, name string, expiresAt *time.Time,
	scopes ...auth.Scope) (Key, error) {
	if len(scopes) == 0 {
		return Key{}, errors.New("create key: it needs a scope")
	}
	for _, s := range scopes {
		if !slices.Contains(auth.Scopes(), s) {
			return Key{}, fmt.Errorf("create key: there is no scope %q, only %v", s, auth.Scopes())
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Key{}, fmt.Errorf("create key: %w", err)
	}
	key := auth.NewKey()
	err = store.New(a.db.Unscoped()).InsertKey(ctx, store.InsertKeyParams{
		ID: id, AccountID: account, Name: name, Prefix: key.Prefix, Hash: key.Hash[:],
		Scopes: scopeNames(scopes), ExpiresAt: expiresAt,
	})
	if postgres.IsForeignKeyViolation(err) {
		return Key{}, fmt.Errorf("create key: %w", ErrUnknown)
	}
	if err != nil {
		return Key{}, fmt.Errorf("create key: %w", err)
	}
	return Key{id, key.Text}, nil
}

// RevokeKey revokes a key, and every key that was created with it, within a second everywhere.
// Revoking twice is harmless. ErrUnknown says that there is no such key.
func (a *Accounts) RevokeKey(ctx context.Context, key uuid.UUID) error {
	account, err := store.New(a.db.Unscoped()).AccountOfKey(ctx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("revoke key: %w", ErrUnknown)
	}
	if err == nil {
		err = a.db.Account(ctx, account, func(tx pgx.Tx) error {
			_, err := revoke(ctx, tx, key)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("revoke key: %w", err)
	}
	return nil
}

// LockPlan returns the plan of the account that a transaction is scoped to, and keeps others from
// adding what the plan counts until it ends.
func LockPlan(ctx context.Context, tx pgx.Tx) (Plan, error) {
	plan, err := store.New(tx).LockPlan(ctx)
	if err != nil {
		return "", fmt.Errorf("lock account: %w", err)
	}
	return Plan(plan), nil
}
