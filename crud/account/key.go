package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// APIKey is a key as the API shows it: without its text.
type APIKey struct {
	ID         uuid.UUID    `json:"id" format:"uuid" doc:"Unique identifier."`
	Name       string       `json:"name" doc:"Purpose of the key."`
	Prefix     string       `json:"prefix" doc:"First characters of the key, to recognise it."`
	Scopes     []auth.Scope `json:"scopes" nullable:"false" doc:"Scopes of the key."`
	CreatedBy  *uuid.UUID   `json:"created_by" format:"uuid" doc:"Id of the key that created it; null if the operator or a person created it."`
	CreatedAt  api.Time     `json:"created_at" doc:"When it was created."`
	ExpiresAt  *api.Time    `json:"expires_at" doc:"When it expires; null for never."`
	LastUsedAt *api.Time    `json:"last_used_at" doc:"When it was last used, accurate to a few seconds."`
}

// NewAPIKey is a key just created, with its text.
type NewAPIKey struct {
	ID         uuid.UUID    `json:"id" format:"uuid" doc:"Unique identifier."`
	Key        string       `json:"key" doc:"The key itself. It is shown only once."`
	Name       string       `json:"name" doc:"Purpose of the key."`
	Prefix     string       `json:"prefix" doc:"First characters of the key, to recognise it."`
	Scopes     []auth.Scope `json:"scopes" nullable:"false" doc:"Scopes of the key."`
	CreatedBy  *uuid.UUID   `json:"created_by" format:"uuid" doc:"Id of the key that created it; null if a person created it."`
	CreatedAt  api.Time     `json:"created_at" doc:"When it was created."`
	ExpiresAt  *api.Time    `json:"expires_at" doc:"When it expires; null for never."`
	LastUsedAt *api.Time    `json:"last_used_at" doc:"When it was last used."`
}

// maxKeys bounds the working keys of an account, so that a stolen key cannot make keys without end.
const maxKeys = 100

// Deps are the dependencies of an account's operations on itself. All are required.
type Deps struct {
	Postgres  *postgres.Pool
	Confirmer Confirmer
}

// Self serves an account to the holder of one of its keys.
type Self struct {
	plans plan.Plans
	deps  Deps
}

// NewSelf returns the operations of accounts on themselves.
func NewSelf(plans plan.Plans, d Deps) *Self { return &Self{plans, d} }

const (
	keysPath = "/api/v1/keys"
	tag      = "Account"
)

// Register adds the operations.
func (s *Self) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-account", Method: "GET", Path: "/api/v1/account", Scope: auth.Read, Tag: tag,
		Summary: "Get the account that the key belongs to",
	}, s.get)
	api.Register(a, api.Operation{
		ID: "update-account", Method: "PATCH", Path: "/api/v1/account", Scope: auth.Write, Tag: tag,
		Summary:     "Change the account that the key belongs to",
		Description: "Omitted fields keep their values. Only the operator can change the plan.",
		NotHere:     map[string]string{"plan": "cannot be changed here"},
	}, s.update)
	api.Register(a, api.Operation{
		ID: "list-keys", Method: "GET", Path: keysPath, Scope: auth.Keys, Tag: tag,
		Summary: "List the working API keys, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, s.listKeys)
	api.Register(a, api.Operation{
		ID: "get-key", Method: "GET", Path: keysPath + "/{id}", Scope: auth.Keys, Tag: tag,
		Summary: "Get a working API key, without the key itself",
	}, s.getKey)
	api.Register(a, api.Operation{
		ID: "create-key", Method: "POST", Path: keysPath, Scope: auth.Keys, Tag: tag, Status: 201, Secret: true,
		Summary:     "Create an API key",
		Description: "The new key can only have scopes of the key that creates it, expires no later than that key, and is revoked with it.",
		Errors:      []problem.Code{problem.LimitReached},
	}, s.createKey)
	api.Register(a, api.Operation{
		ID: "revoke-key", Method: "DELETE", Path: keysPath + "/{id}", Scope: auth.Keys, Tag: tag, Status: 204,
		Summary:     "Revoke an API key",
		Description: "Within a second, every process refuses the key and all keys created with it, directly or indirectly.",
	}, s.revokeKey)
}

type listKeysInput struct{ api.Paging }

func (s *Self) listKeys(ctx context.Context, in *listKeysInput) (*api.Answer[api.Page[APIKey]], error) {
	var total int64
	var keys []APIKey
	err := s.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountKeys(ctx); err != nil {
			return err
		}
		rows, err := q.ListKeys(ctx, store.ListKeysParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			keys = append(keys, APIKey{
				ID: row.ID, Name: row.Name, Prefix: row.Prefix, Scopes: scopesOf(row.Scopes), CreatedBy: row.CreatedBy,
				CreatedAt: api.TimeOf(row.CreatedAt), ExpiresAt: api.OptionalTime(row.ExpiresAt),
				LastUsedAt: api.OptionalTime(row.LastUsedAt),
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
	Name      string       `json:"name" minLength:"1" maxLength:"100" pattern:"\\S" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Purpose of the key."`
	Scopes    []auth.Scope `json:"scopes" nullable:"false" minItems:"1" uniqueItems:"true" doc:"Scopes of the key: read, write, leads (reading personal data: submissions, access links, summaries of email addresses), webhooks (everything about webhooks), keys (listing, creating and revoking keys), people (managing people, invitations and sessions, and reading the audit log). No scope includes another: a key with read and write gets 403 for submissions and for summaries of email addresses. There is no default."`
	ExpiresAt *string      `json:"expires_at" required:"false" format:"date-time" doc:"When it expires (ISO 8601, in the future). If omitted or null, it expires together with the key that creates it, if that key expires."`
}

func (s *Self) createKey(ctx context.Context, in *createKeyInput) (*api.Answer[NewAPIKey], error) {
	caller := auth.From(ctx)
	scopes := in.Body.Scopes
	expiresAt, err := in.Body.check(time.Now())
	if err != nil {
		return nil, err
	}
	for _, s := range scopes {
		if !caller.Has(s) {
			return nil, problem.New(problem.Forbidden,
				"A key can create only keys with its own scopes, and this one lacks "+string(s)+".")
		}
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create key: %w", err)
	}
	auth.RecordCreated(ctx, id)
	key := auth.NewKey()
	var row store.GetKeyRow
	err = s.deps.Postgres.Account(ctx, caller.AccountID, func(tx pgx.Tx) error {
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
			return problem.New(problem.LimitReached,
				fmt.Sprintf("An account can have %d keys: revoke some that are not used.", maxKeys))
		}
		createdBy, until, err := hold(ctx, tx, caller, expiresAt)
		if err != nil {
			return err
		}
		err = q.InsertKey(ctx, store.InsertKeyParams{
			ID: id, AccountID: caller.AccountID, Name: in.Body.Name, Prefix: key.Prefix,
			Hash: key.Hash[:], Scopes: scopeNames(scopes),
			CreatedBy: createdBy, ExpiresAt: until,
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
		CreatedAt: api.TimeOf(row.CreatedAt), ExpiresAt: api.OptionalTime(row.ExpiresAt),
	}), nil
}

// hold returns the key that a new key is created with, nil for a person, and when the new one
// expires if that is wanted at a time. The caller may have been revoked or signed out just now:
// then it makes no key.
func hold(ctx context.Context, tx pgx.Tx, caller auth.Identity, wanted *time.Time) (createdBy *uuid.UUID,
	until *time.Time, err error) {
	refused := problem.New(problem.Unauthorized, "The API key has expired or was revoked.").WithHeader("WWW-Authenticate",
		"Bearer")
	if caller.SessionID != uuid.Nil {
		role, err := store.New(tx).HoldUserSession(ctx, caller.SessionID)
		if errors.Is(err, pgx.ErrNoRows) || err == nil && !slices.Contains(auth.Role(role).Scopes(), auth.Keys) {
			return nil, nil, refused
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read own session: %w", err)
		}
		return nil, wanted, nil
	}
	own, err := store.New(tx).HoldKey(ctx, caller.KeyID)
	if err != nil {
		return nil, nil, fmt.Errorf("read own key: %w", err)
	}
	if !own.Works {
		return nil, nil, refused
	}
	until = wanted
	if own.ExpiresAt != nil && until == nil {
		until = own.ExpiresAt
	}
	if own.ExpiresAt != nil && until.After(*own.ExpiresAt) {
		return nil, nil, problem.Invalid(problem.Field{Field: "expires_at", Message: "must not be later than " +
			own.ExpiresAt.UTC().Format(time.RFC3339) + ", when the key that makes it expires"})
	}
	return &caller.KeyID, until, nil
}

// check returns when the key expires, nil if the request names no time, or what the schema cannot
// tell.
func (b newKey) check(now time.Time) (expiresAt *time.Time, err error) {
	var wrong []problem.Field
	for i, s := range b.Scopes {
		if first := slices.Index(b.Scopes, s); first < i {
			wrong = append(wrong, problem.Field{Field: fmt.Sprintf("scopes[%d]", i),
				Message: fmt.Sprintf("is the same as scopes[%d]", first)})
		}
	}
	if b.ExpiresAt != nil {
		at, err := jsonschema.ParseTime(*b.ExpiresAt)
		switch {
		case err != nil: // the schema's check let it pass, so it does not come to this
			wrong = append(wrong, problem.Field{Field: "expires_at", Message: err.Error()})
		case !at.After(now):
			wrong = append(wrong, problem.Field{Field: "expires_at", Message: "must be in the future"})
		}
		expiresAt = &at
	}
	if wrong != nil {
		return nil, problem.Invalid(wrong...)
	}
	return expiresAt, nil
}

type keyInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the key."`
}

func (s *Self) revokeKey(ctx context.Context, in *keyInput) (*api.Answer[api.Empty], error) {
	err := s.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		worked, err := revoke(ctx, tx, in.ID)
		if err == nil && !worked {
			return problem.Missing("working key")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("revoke key: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

// revoke revokes a key of the account that a transaction is scoped to, and those that were created
// with it. It returns whether the key worked.
func revoke(ctx context.Context, tx pgx.Tx, key uuid.UUID) (worked bool, err error) {
	// No key is created while the tree of keys is read: one that is missed would go on working.
	if _, err := LockPlan(ctx, tx); err != nil {
		return false, err
	}
	q := store.New(tx)
	held, err := q.HoldKey(ctx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read key: %w", err)
	}
	if err := q.RevokeKey(ctx, key); err != nil {
		return false, fmt.Errorf("revoke key and those created with it: %w", err)
	}
	return held.Works, nil
}

// KeyInfo describes a key, without its text.
type KeyInfo struct {
	ID         uuid.UUID
	Name       string
	Prefix     string
	Scopes     []auth.Scope
	CreatedBy  *uuid.UUID // the key that it was created with, nil for none
	CreatedAt  time.Time
	LastUsedAt *time.Time
	ExpiresAt  *time.Time // nil for never
	RevokedAt  *time.Time
}

// Keys returns every key of an account, also the revoked ones, the oldest first. ErrUnknown says
// that there is no such account.
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
			CreatedAt: row.CreatedAt, LastUsedAt: row.LastUsedAt, ExpiresAt: row.ExpiresAt, RevokedAt: row.RevokedAt,
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
