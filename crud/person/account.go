package person

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// ErrNoAccount says that there is no such account.
var ErrNoAccount = errors.New("there is no such account")

// DeleteAccount deletes an account with everything that it has, once that is in the log; people who
// are in no other account go with it. Consumers blank its events and views of landing pages. It is
// for whoever runs the installation. ErrNoAccount says that there is none. After another error it
// may be called again: the entry has the id of the account, so the log has one, however often it is
// called.
func DeleteAccount(ctx context.Context, db *postgres.Pool, log *Log, account uuid.UUID) error {
	if _, err := store.New(db.Unscoped()).GetAccount(ctx, account); errors.Is(err, pgx.ErrNoRows) {
		return ErrNoAccount
	} else if err != nil {
		return fmt.Errorf("delete account: %w", err)
	}
	now, err := store.New(db.Unscoped()).PersonNow(ctx, store.PersonNowParams{AccountID: account})
	if err != nil {
		return fmt.Errorf("read the time of Postgres: %w", err)
	}
	// of no person: the account whole
	entry := Entry{Version: entryVersion, ID: account, AccountID: account, ErasedAt: now.Now.UTC()}
	if err := log.Append(ctx, entry); err != nil {
		return err
	}
	if err := deleteAccount(ctx, db, entry); err != nil {
		return err
	}
	return vacuumAll(ctx, db)
}

// vacuumAll removes deleted rows from the files of Postgres, and renews its statistics, which hold
// values of rows.
func vacuumAll(ctx context.Context, db *postgres.Pool) error {
	if err := store.New(db.Unscoped()).VacuumAll(ctx); err != nil {
		return fmt.Errorf("the account is deleted, and the files of Postgres still have its rows (run VACUUM (ANALYZE) in its database): %w", err)
	}
	return nil
}

func deleteAccount(ctx context.Context, db *postgres.Pool, entry Entry) error {
	err := db.RetryTransaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.RemoveJobsOfAccount(ctx, entry.AccountID); err != nil {
			return err
		}
		if err := q.RemoveUsersOfAccountOnly(ctx, entry.AccountID); err != nil {
			return err
		}
		if _, err := q.DeleteAccount(ctx, entry.AccountID); err != nil {
			return err
		}
		if err := q.RecordAccountErasure(ctx, store.RecordAccountErasureParams{ID: entry.ID, AccountID: entry.AccountID,
			ErasedAt: entry.ErasedAt}); err != nil {
			return err
		}
		return q.InsertErasedLinks(ctx, store.InsertErasedLinksParams{IDs: []uuid.UUID{entry.AccountID},
			AccountID: entry.AccountID, ErasureID: entry.ID})
	})
	if err != nil {
		return fmt.Errorf("delete account: %w", err)
	}
	return nil
}
