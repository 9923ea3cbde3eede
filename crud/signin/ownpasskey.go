package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const (
	// PasskeysPath is the screen of a person's passkeys. Its forms are served here.
	PasskeysPath = dashboardPath + "/settings/passkeys"

	maxPasskeys = 20 // of a person
	// MaxPasskeyName is the maximum length of a passkey's name, in characters.
	MaxPasskeyName = 60
)

// Passkey is one of a person.
type Passkey struct {
	ID        uuid.UUID
	Name      string
	CreatedAt time.Time
	UsedAt    *time.Time // nil: never
}

// HasPasskeys reports whether browsers make passkeys for the address of the site.
func (s *Service) HasPasskeys() bool { return s.party != nil }

// Passkeys returns those of a session's person, newest first.
func (s *Service) Passkeys(ctx context.Context, of Session) (list []Passkey, err error) {
	rows, err := store.New(s.deps.Postgres.Unscoped()).PasskeysOfUser(ctx, of.UserID)
	if err != nil {
		return nil, fmt.Errorf("list passkeys: %w", err)
	}
	for _, row := range rows {
		list = append(list, Passkey{row.ID, row.Name, row.CreatedAt, row.LastUsedAt})
	}
	return list, nil
}

// newPasskey answers the script of the screen with what the authenticator needs to make a passkey.
// An authenticator that has one makes no second one.
func (s *Service) newPasskey(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	if s.party == nil || session.UserID == uuid.Nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	rows, err := store.New(s.deps.Postgres.Unscoped()).PasskeysOfUser(r.Context(), session.UserID)
	if err != nil {
		return fmt.Errorf("list passkeys: %w", err)
	}
	owner := keyOwner{id: session.UserID, email: session.Email}
	for _, row := range rows {
		var key webauthn.Credential
		if err := json.Unmarshal(row.Credential, &key); err != nil {
			return fmt.Errorf("read passkey: %w", err)
		}
		owner.keys = append(owner.keys, key)
	}
	options, ceremony, err := s.party.BeginRegistration(owner, webauthn.WithExclusions(owner.keys.CredentialDescriptors()))
	if err != nil {
		return fmt.Errorf("make challenge: %w", err)
	}
	return s.offer(w, r, session.ID.String(), ceremony, options)
}

// addPasskey stores a passkey that an authenticator made.
func (s *Service) addPasskey(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	if s.party == nil || session.UserID == uuid.Nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	row, err := s.checkNew(r, session)
	if err == nil {
		err = s.deps.Postgres.Transaction(r.Context(), func(tx pgx.Tx) error { return insertPasskey(r.Context(), tx, row) })
	}
	if errors.Is(err, errPasskey) {
		s.deps.Log.Warn("a passkey cannot be added", "error", err)
		return s.toPasskeys(w, r, "failed", "passkey")
	}
	if errors.Is(err, errTooMany) {
		return s.toPasskeys(w, r, "failed", "many")
	}
	if err != nil {
		return err
	}
	return s.toPasskeys(w, r, "done", "passkey")
}

func (s *Service) toPasskeys(w http.ResponseWriter, r *http.Request, name, value string) error {
	return s.redirect(w, r, PasskeysPath+"?"+url.Values{name: {value}}.Encode())
}

// checkNew returns the passkey that was made for the challenge of a session.
func (s *Service) checkNew(r *http.Request, session Session) (row store.InsertPasskeyParams, err error) {
	answer, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.PostForm.Get("credential")))
	if err != nil {
		return row, fmt.Errorf("%w: %w", errPasskey, err)
	}
	ceremony, err := s.takeChallenge(r.Context(), answer.Response.CollectedClientData.Challenge, session.ID.String())
	if err != nil {
		return row, err
	}
	made, err := s.party.CreateCredential(keyOwner{id: session.UserID}, ceremony, answer)
	if err != nil {
		return row, fmt.Errorf("%w: %w", errPasskey, err)
	}
	row = store.InsertPasskeyParams{UserID: session.UserID, CredentialID: made.ID, Name: s.passkeyName(r)}
	if row.Credential, err = json.Marshal(made); err != nil {
		return row, fmt.Errorf("encode passkey: %w", err)
	}
	if row.ID, err = uuid.NewV7(); err != nil {
		return row, fmt.Errorf("make id: %w", err)
	}
	return row, nil
}

// passkeyName returns the name that was typed, cut to its maximum.
func (s *Service) passkeyName(r *http.Request) string {
	name := []rune(strings.ToValidUTF8(strings.Join(strings.Fields(r.PostForm.Get("name")), " "), ""))
	if len(name) == 0 {
		return s.say(r, "signin.passkey.unnamed")
	}
	return string(name[:min(len(name), MaxPasskeyName)])
}

// errTooMany is the error of someone who has as many passkeys as are kept.
var errTooMany = errors.New("the person has too many passkeys")

func insertPasskey(ctx context.Context, tx pgx.Tx, row store.InsertPasskeyParams) error {
	q := store.New(tx)
	if err := q.LockUser(ctx, row.UserID); err != nil { // so that two at once cannot pass the limit
		return fmt.Errorf("lock user: %w", err)
	}
	own, err := q.PasskeysOfUser(ctx, row.UserID)
	if err != nil {
		return fmt.Errorf("list passkeys: %w", err)
	}
	if len(own) >= maxPasskeys {
		return errTooMany
	}
	err = q.InsertPasskey(ctx, row)
	if postgres.IsUniqueViolation(err, "passkeys_credential") {
		return fmt.Errorf("%w: it is there already", errPasskey)
	}
	if err != nil {
		return fmt.Errorf("add passkey: %w", err)
	}
	return auditPasskey(ctx, tx, auth.AddPasskey)
}

// removePasskey ends a passkey. Sessions that it began go on.
func (s *Service) removePasskey(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	id, err := uuid.Parse(r.PostForm.Get("id"))
	if err != nil || session.UserID == uuid.Nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	err = s.deps.Postgres.Transaction(r.Context(), func(tx pgx.Tx) error {
		removed, err := store.New(tx).DeletePasskey(r.Context(), store.DeletePasskeyParams{ID: id, UserID: session.UserID})
		if err != nil {
			return fmt.Errorf("remove passkey: %w", err)
		}
		if removed == 0 {
			return web.Error(web.NotFound, web.Brand{})
		}
		return auditPasskey(r.Context(), tx, auth.RemovePasskey)
	})
	if err != nil {
		return err
	}
	return s.toPasskeys(w, r, "done", "removed")
}

// auditPasskey writes what was done to the passkeys of a session's person.
func auditPasskey(ctx context.Context, tx pgx.Tx, action auth.AuditAction) error {
	session := From(ctx)
	return auth.WriteAudit(ctx, tx, auth.AuditEntry{Action: action, Object: session.UserID, RequestID: api.RequestID(ctx),
		Caller: auth.Identity{AccountID: session.AccountID, SessionID: session.ID, UserID: session.UserID}})
}
