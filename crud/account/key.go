package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/store"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// APIKey is a key as the API shows it: without its text.
type APIKey struct {
	ID         uuid.UUID    `json:"id" format:"uuid" doc:"Unique identifier."`
	Name       string       `json:"name" doc:"What the key is for."`
	Prefix     string       `json:"prefix" doc:"First characters of the key, to recognise it by."`
	Scopes     []auth.Scope `json:"scopes" nullable:"false" enum:"read,write" doc:"What the key allows."`
	CreatedBy  *uuid.UUID   `json:"created_by" format:"uuid" doc:"Id of the key that it was made with; null if whoever runs the installation made it."`
	CreatedAt  api.Time     `json:"created_at" doc:"When it was created."`
	LastUsedAt *api.Time    `json:"last_used_at" doc:"When it was last used, give or take some seconds."`
}

// NewAPIKey is a key just made.
type NewAPIKey struct {
	ID         uuid.UUID    `json:"id" format:"uuid" doc:"Unique identifier."`
	Key        string       `json:"key" doc:"The key itself. It is shown this once."`
	Name       string       `json:"name" doc:"What the key is for."`
	Prefix     string       `json:"prefix" doc:"First characters of the key, to recognise it by."`
	Scopes     []auth.Scope `json:"scopes" nullable:"false" enum:"read,write" doc:"What the key allows."`
	CreatedBy  *uuid.UUID   `json:"created_by" format:"uuid" doc:"Id of the key that it was made with."`
	CreatedAt  api.Time     `json:"created_at" doc:"When it was created."`
	LastUsedAt *api.Time    `json:"last_used_at" doc:"When it was last used."`
}

// maxKeys bounds the working keys of an account, so that a stolen key cannot make keys without end.
const maxKeys = 100

// Own serves an account to whoever has a key of it.
type Own struct {
	db     *postgres.Pool
	limits Limits
}

// NewOwn returns the operations of accounts on themselves.
func NewOwn(db *postgres.Pool, limits Limits) *Own { return &Own{db, limits} }

const (
	keysPath = "/api/v1/keys"
	tag      = "Account"
)

// Register adds the operations.
func (o *Own) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-account", Method: "GET", Path: "/api/v1/account", Scope: auth.Read, Tag: tag,
		Summary: "Get the account that the key belongs to",
	}, o.get)
	api.Register(a, api.Operation{
		ID: "update-account", Method: "PATCH", Path: "/api/v1/account", Scope: auth.Write, Tag: tag,
		Summary:     "Change the account that the key belongs to",
		Description: "Fields that are left out stay as they are. Its name and plan are changed by whoever runs the installation.",
		NotHere:     map[string]string{"name": "cannot be changed here", "plan": "cannot be changed here"},
	}, o.update)
	api.Register(a, api.Operation{
		ID: "list-keys", Method: "GET", Path: keysPath, Scope: auth.Read, Tag: tag,
		Summary: "List the working API keys, the newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, o.listKeys)
	api.Register(a, api.Operation{
		ID: "create-key", Method: "POST", Path: keysPath, Scope: auth.Write, Tag: tag, Status: 201, Secret: true,
		Summary:     "Create an API key",
		Description: "The key can have the scopes of the key that makes it, and no others.",
		Errors:      []problem.Code{problem.LimitReached},
	}, o.createKey)
	api.Register(a, api.Operation{
		ID: "revoke-key", Method: "DELETE", Path: keysPath + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Summary:     "Revoke an API key",
		Description: "Within a second the key is refused everywhere. Keys that were made with it go on working.",
	}, o.revokeKey)
}

type listKeysInput struct{ api.Paging }

func (o *Own) listKeys(ctx context.Context, in *listKeysInput) (*api.Answer[api.Page[APIKey]], error) {
	var total int64
	var keys []APIKey
	err := o.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountKeys(ctx); err != nil {
			return err
		}
		rows, err := q.ListKeys(ctx, store.ListKeysParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			keys = append(keys, APIKey{
				ID: row.ID, Name: row.Name, Prefix: row.Prefix, Scopes: scopesOf(row.Scopes), CreatedBy: row.CreatedBy,
				CreatedAt: api.TimeOf(row.CreatedAt), LastUsedAt: api.OptionalTime(row.LastUsedAt),
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	return api.List(ctx, in.Paging, keys, total), nil
}

type createKeyInput struct {
	Body newKey
}

type newKey struct {
	Name   string       `json:"name" minLength:"1" maxLength:"100" pattern:"\\S" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"What the key is for."`
	Scopes []auth.Scope `json:"scopes" nullable:"false" minItems:"1" maxItems:"2" uniqueItems:"true" enum:"read,write" doc:"What the key allows: read, write or both."`
}

func (o *Own) createKey(ctx context.Context, in *createKeyInput) (*api.Answer[NewAPIKey], error) {
	caller := auth.From(ctx)
	scopes := in.Body.Scopes
	if len(scopes) == 2 && scopes[0] == scopes[1] {
		return nil, problem.Invalid(problem.Field{Field: "scopes[1]", Message: "is the same as scopes[0]"})
	}
	for _, s := range scopes {
		if !caller.Has(s) {
			return nil, problem.New(problem.Forbidden, "A key can make keys with its own scopes only, and this one lacks "+string(s)+".")
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	key := auth.NewKey()
	var row store.GetKeyRow
	err = o.db.Account(ctx, caller.AccountID, func(tx pgx.Tx) error {
		// One at a time, so that two at once cannot pass the limit.
		if _, err := LockPlan(ctx, tx); err != nil {
			return err
		}
		q := store.New(tx)
		count, err := q.CountKeys(ctx)
		if err != nil {
			return err
		}
		if count >= maxKeys {
			return problem.New(problem.LimitReached, fmt.Sprintf("An account can have %d keys: revoke some that are not used.", maxKeys))
		}
		// The key that asks may have been revoked just now: then it makes no other.
		if works, err := q.HoldKey(ctx, caller.KeyID); err != nil {
			return fmt.Errorf("read own key: %w", err)
		} else if !works {
			return problem.New(problem.Unauthorized, "The API key was revoked.").WithHeader("WWW-Authenticate", "Bearer")
		}
		err = q.InsertKey(ctx, store.InsertKeyParams{
			ID: id, AccountID: caller.AccountID, Name: in.Body.Name, Prefix: key.Prefix, Hash: key.Hash[:], Scopes: scopeNames(scopes), CreatedBy: &caller.KeyID,
		})
		if err != nil {
			return err
		}
		row, err = q.GetKey(ctx, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	return api.Created(keysPath+"/"+id.String(), NewAPIKey{
		ID: id, Key: key.Text, Name: row.Name, Prefix: row.Prefix, Scopes: scopesOf(row.Scopes), CreatedBy: row.CreatedBy,
		CreatedAt: api.TimeOf(row.CreatedAt),
	}), nil
}

type keyInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the key."`
}

func (o *Own) revokeKey(ctx context.Context, in *keyInput) (*api.Answer[api.Empty], error) {
	err := o.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).RevokeWorkingKey(ctx, in.ID)
		if err == nil && n == 0 {
			return problem.Missing("working key")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

// KeyInfo is what is known about a key besides its text.
type KeyInfo struct {
	ID         uuid.UUID
	Name       string
	Prefix     string
	Scopes     []auth.Scope
	CreatedBy  *uuid.UUID // the key that it was made with, nil for none
	CreatedAt  time.Time
	LastUsedAt *time.Time
	RevokedAt  *time.Time
}

// Keys returns every key of an account, also the revoked ones, the oldest first. ErrUnknown says that
// there is no such account.
func (a *Accounts) Keys(ctx context.Context, account uuid.UUID) ([]KeyInfo, error) {
	q := store.New(a.db.Unscoped())
	if _, err := q.GetAccount(ctx, account); errors.Is(err, pgx.ErrNoRows) {
		return nil, fmt.Errorf("list keys: %w", ErrUnknown)
	} else if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	rows, err := q.KeysOfAccount(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("list keys: %w", err)
	}
	keys := make([]KeyInfo, len(rows))
	for i, row := range rows {
		keys[i] = KeyInfo{
			ID: row.ID, Name: row.Name, Prefix: row.Prefix, Scopes: scopesOf(row.Scopes), CreatedBy: row.CreatedBy,
			CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, RevokedAt: row.RevokedAt,
		}
	}
	return keys, nil
}

// scopesOf returns scopes in the order of auth.Scopes.
func scopesOf(names []string) []auth.Scope {
	scopes := []auth.Scope{}
	for _, s := range auth.Scopes() {
		if slices.Contains(names, string(s)) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

func scopeNames(scopes []auth.Scope) []string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return names
}
