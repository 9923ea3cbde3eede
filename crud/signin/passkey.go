package signin

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

const (
	passkeyPath = signInPath + "/passkey"
	byPasskey   = "passkey"

	// passkeyLasts is how long someone may take at the authenticator.
	passkeyLasts = 5 * time.Minute
)

// errPasskey is the error of an authenticator's answer that is not accepted.
var errPasskey = errors.New("the passkey is not accepted")

// newParty returns the site as a relying party of WebAuthn; nil if browsers make no passkeys for
// its address: they ask for TLS, or this machine, and for a host with a name.
func newParty(site *url.URL) (*webauthn.WebAuthn, error) {
	origin := web.Origin(site.String())
	host, err := url.Parse(origin)
	if err != nil {
		return nil, fmt.Errorf("read the origin of the site: %w", err)
	}
	if !trustworthy(site) || origin == "" || net.ParseIP(host.Hostname()) != nil {
		return nil, nil
	}
	limit := webauthn.TimeoutConfig{Timeout: passkeyLasts}
	party, err := webauthn.New(&webauthn.Config{
		RPID: host.Hostname(), RPDisplayName: "Lodestone", RPOrigins: []string{origin},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: protocol.ResidentKeyRequired(), ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired,
		},
		Timeouts: webauthn.TimeoutsConfig{Login: limit, Registration: limit},
		// Some password managers send outputs that no one asked for.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("set up passkeys: %w", err)
	}
	return party, nil
}

// keyOwner is a user with passkeys. It implements webauthn.User.
type keyOwner struct {
	id    uuid.UUID
	email string
	keys  webauthn.Credentials
}

// WebAuthnID is what an authenticator returns to say whose the passkey is.
func (o keyOwner) WebAuthnID() []byte { return o.id[:] }

// WebAuthnName is shown by authenticators that have several passkeys for the site.
func (o keyOwner) WebAuthnName() string { return o.email }

// WebAuthnDisplayName is likewise.
func (o keyOwner) WebAuthnDisplayName() string { return o.email }

// WebAuthnCredentials are the passkeys.
func (o keyOwner) WebAuthnCredentials() []webauthn.Credential { return o.keys }

// offer stores the challenge of a ceremony for its holder, and answers a script with the options
// for the authenticator.
func (s *Service) offer(w http.ResponseWriter, r *http.Request, holder string, ceremony *webauthn.SessionData,
	options any) error {
	stored, err := json.Marshal(ceremony)
	if err != nil {
		return fmt.Errorf("encode challenge: %w", err)
	}
	answer, err := json.Marshal(options)
	if err != nil {
		return fmt.Errorf("encode options of a passkey: %w", err)
	}
	err = store.New(s.deps.Postgres.Unscoped()).InsertPasskeyChallenge(r.Context(), store.InsertPasskeyChallengeParams{
		ChallengeHash: proof.Hash(ceremony.Challenge), HolderHash: proof.Hash(holder), Ceremony: stored,
		Lasts: interval(passkeyLasts),
	})
	if err != nil {
		return fmt.Errorf("store challenge: %w", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(answer) // a browser that left needs no answer
	return nil
}

// takeChallenge returns the ceremony of a challenge, once, to its holder.
func (s *Service) takeChallenge(ctx context.Context, challenge, holder string) (ceremony webauthn.SessionData,
	err error) {
	row, err := store.New(s.deps.Postgres.Unscoped()).TakePasskeyChallenge(ctx, proof.Hash(challenge))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (row.Over ||
		subtle.ConstantTimeCompare(row.HolderHash, proof.Hash(holder)) != 1) {
		return ceremony, fmt.Errorf("%w: this browser has no such challenge, or it was used or is too old", errPasskey)
	}
	if err != nil {
		return ceremony, fmt.Errorf("find challenge: %w", err)
	}
	if err := json.Unmarshal(row.Ceremony, &ceremony); err != nil {
		return ceremony, fmt.Errorf("read challenge: %w", err)
	}
	return ceremony, nil
}

// takePasskey checks a request of the sign-in page and takes it from the limit of attempts. It
// returns the browser's secret.
func (s *Service) takePasskey(r *http.Request) (browser string, err error) {
	if browser, err = s.checkBrowser(r); err != nil {
		return "", err
	}
	if s.party == nil {
		return "", web.Error(web.NotFound, web.Brand{})
	}
	return browser, s.take(r)
}

// challenge answers the script of the sign-in page. It names no passkey: the authenticator offers
// those that it has for the site.
func (s *Service) challenge(w http.ResponseWriter, r *http.Request) error {
	browser, err := s.takePasskey(r)
	if err != nil {
		return err
	}
	options, ceremony, err := s.party.BeginDiscoverableLogin()
	if err != nil {
		return fmt.Errorf("make challenge: %w", err)
	}
	return s.offer(w, r, browser, ceremony, options)
}

// signInByPasskey takes the answer of an authenticator.
func (s *Service) signInByPasskey(w http.ResponseWriter, r *http.Request) error {
	browser, err := s.takePasskey(r)
	if err != nil {
		return err
	}
	next := nextOf(r.PostForm.Get("next"))
	in, err := s.checkPasskey(r, browser)
	if errors.Is(err, errPasskey) {
		s.deps.Log.Warn("refused a sign-in by passkey", "error", err)
		return s.writeAsk(w, r, http.StatusUnprocessableEntity, askData{Next: next, Alert: s.say(r, "signin.passkey.failed")})
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, in, next)
}

// checkPasskey begins the session of the user whose passkey has signed this browser's challenge.
func (s *Service) checkPasskey(r *http.Request, browser string) (in newSession, err error) {
	answer, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.PostForm.Get("credential")))
	if err != nil {
		return in, fmt.Errorf("%w: %w", errPasskey, err)
	}
	ctx := r.Context()
	ceremony, err := s.takeChallenge(ctx, answer.Response.CollectedClientData.Challenge, browser)
	if err != nil {
		return in, err
	}
	err = s.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.PasskeyByCredential(ctx, answer.RawID)
		if errors.Is(err, pgx.ErrNoRows) {
			return fmt.Errorf("%w: it was removed, or is of another installation", errPasskey)
		}
		if err != nil {
			return fmt.Errorf("find passkey: %w", err)
		}
		used, err := s.verify(row, ceremony, answer)
		if err != nil {
			return err
		}
		if err := q.NotePasskeyUse(ctx, store.NotePasskeyUseParams{ID: row.ID, Credential: used}); err != nil {
			return fmt.Errorf("note use of passkey: %w", err)
		}
		account, err := q.AccountToEnter(ctx, row.UserID)
		if err != nil {
			return fmt.Errorf("find account: %w", err)
		}
		if in, err = makeSession(r, holder{account: account, user: &row.UserID}, byPasskey); err != nil {
			return err
		}
		return in.begin(ctx, tx, auth.SignIn)
	})
	return in, err
}

// verify returns the record of a passkey after an answer that is right: signed by its key, for this
// origin and challenge, by a verified user, with a counter above the stored one.
func (s *Service) verify(row store.PasskeyByCredentialRow, ceremony webauthn.SessionData,
	answer *protocol.ParsedCredentialAssertionData) (used []byte, err error) {
	var key webauthn.Credential
	if err := json.Unmarshal(row.Credential, &key); err != nil {
		return nil, fmt.Errorf("read passkey: %w", err)
	}
	owner := keyOwner{id: row.UserID, keys: webauthn.Credentials{key}}
	_, checked, err := s.party.ValidatePasskeyLogin(
		func([]byte, []byte) (webauthn.User, error) { return owner, nil }, ceremony, answer)
	if err != nil {
		return nil, fmt.Errorf("%w: passkey %s: %w", errPasskey, row.ID, err)
	}
	if checked.Authenticator.CloneWarning {
		return nil, fmt.Errorf("%w: passkey %s: its counter went back, so it may have been copied", errPasskey, row.ID)
	}
	if used, err = json.Marshal(checked); err != nil {
		return nil, fmt.Errorf("encode passkey: %w", err)
	}
	return used, nil
}
