package user

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Users adds people to accounts. It is for whoever runs the installation: it acts on any account.
// It is safe for concurrent use.
type Users struct{ db *postgres.Pool }

// NewUsers returns the users of a database.
func NewUsers(db *postgres.Pool) *Users { return &Users{db} }

// Add makes an address one of an account's people, and returns the id of its user. Someone who is
// in the account has the role from now on. account.ErrUnknown says that there is no such account.
func (u *Users) Add(ctx context.Context, to uuid.UUID, address string, role auth.Role) (user uuid.UUID, err error) {
	parsed, err := email.Parse(address)
	if err != nil {
		return user, fmt.Errorf("add user: the address %w", err)
	}
	if !slices.Contains(auth.Roles(), role) {
		return user, fmt.Errorf("add user: there is no role %q, only %v", role, auth.Roles())
	}
	err = u.db.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := q.GetAccount(ctx, to); errors.Is(err, pgx.ErrNoRows) {
			return account.ErrUnknown
		} else if err != nil {
			return err
		}
		if user, err = Join(ctx, tx, parsed); err != nil {
			return err
		}
		return q.AddMembership(ctx, store.AddMembershipParams{AccountID: to, UserID: user, Role: string(role)})
	})
	if err != nil {
		return user, fmt.Errorf("add user: %w", err)
	}
	return user, nil
}

// Join returns the id of the user of an address, who is added if there is none. The transaction
// must add a membership: a user is one of some account's people. It is not scoped to an account.
func Join(ctx context.Context, tx pgx.Tx, address email.Address) (uuid.UUID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return id, fmt.Errorf("make id: %w", err)
	}
	if id, err = store.New(tx).AddUser(ctx, store.AddUserParams{ID: id, Email: address.Text,
		EmailKey: address.Key}); err != nil {
		return id, fmt.Errorf("add user: %w", err)
	}
	return id, nil
}
