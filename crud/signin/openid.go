package signin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/oauth2"

	"lodestone/crud/proof"
	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/store"
)

const (
	openIDPath   = signInPath + "/openid"
	callbackPath = openIDPath + "/callback"
	byOpenID     = "openid"

	// openIDLasts is how long someone may take at the provider.
	openIDLasts = 15 * time.Minute
	// openIDSealing is the purpose that the secrets of a request are sealed for. The context is the
	// hash of its state.
	openIDSealing = "openid requests"
)

// requestSecrets are those of one way to the provider and back.
type requestSecrets struct {
	Nonce    string `json:"nonce"`    // stands in the ID token
	Verifier string `json:"verifier"` // of the code (PKCE)
}

// toProvider leads to the provider. The state comes back once, to this browser.
func (s *Service) toProvider(w http.ResponseWriter, r *http.Request) error {
	if s.provider == nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	found, err := s.provider.discover(r.Context())
	if err != nil {
		return s.providerFailed(w, r, nextOf(r.URL.Query().Get("next")), err)
	}
	state, secrets := rand.Text(), requestSecrets{Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	text, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("encode request: %w", err)
	}
	hash := proof.Hash(state)
	sealed, err := s.deps.Tokens.Seal(openIDSealing, text, hash)
	if err != nil {
		return fmt.Errorf("seal request: %w", err)
	}
	err = store.New(s.deps.Postgres.Unscoped()).InsertOpenIDRequest(r.Context(), store.InsertOpenIDRequestParams{
		StateHash: hash, BrowserHash: proof.Hash(s.ensureBrowser(w, r)), SecretsSealed: sealed,
		Next: nextOf(r.URL.Query().Get("next")), Lasts: interval(openIDLasts),
	})
	if err != nil {
		return fmt.Errorf("store request: %w", err)
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, found.oauth.AuthCodeURL(state, oidc.Nonce(secrets.Nonce),
		oauth2.S256ChallengeOption(secrets.Verifier)), http.StatusSeeOther)
	return nil
}

// fromProvider is where the provider leads back to.
func (s *Service) fromProvider(w http.ResponseWriter, r *http.Request) error {
	if s.provider == nil {
		return web.Error(web.NotFound, web.Brand{})
	}
	if err := s.take(r); err != nil {
		return err
	}
	request, secrets, err := s.takeRequest(r)
	if err != nil {
		return s.providerFailed(w, r, dashboardPath, err)
	}
	query := r.URL.Query()
	found, err := s.provider.discover(r.Context())
	if err != nil {
		return s.providerFailed(w, r, request.Next, err)
	}
	// A provider that says who it is cannot be taken for another one (mix-up, RFC 9207).
	if iss := query.Get("iss"); iss != s.provider.config.OpenIDIssuer && (iss != "" || found.named) {
		return s.providerFailed(w, r, request.Next, fmt.Errorf("%w: another issuer leads back", errProvider))
	}
	if query.Has("error") {
		return s.providerFailed(w, r, request.Next, fmt.Errorf("%w: it refuses: %.100q", errProvider, query.Get("error")))
	}
	who, err := s.provider.redeem(r.Context(), query.Get("code"), secrets)
	if err != nil {
		return s.providerFailed(w, r, request.Next, err)
	}
	id, account, err := s.recognise(r.Context(), who)
	if errors.Is(err, errStranger) {
		s.deps.Log.Warn("refused a sign-in by OpenID Connect", "error", err, "remedy", who.doubt.remedy())
		return s.writeAsk(w, r, http.StatusForbidden, askData{
			Next: request.Next, Alert: s.say(r, who.doubt.text(), "provider", s.provider.config.OpenIDName),
		})
	}
	if err != nil {
		return err
	}
	in, err := makeSession(r, holder{account: account, user: &id}, byOpenID)
	if err != nil {
		return err
	}
	err = s.deps.Postgres.Account(r.Context(), account,
		func(tx pgx.Tx) error { return in.begin(r.Context(), tx, auth.SignIn) })
	if err != nil {
		return err
	}
	return s.enter(w, r, in, request.Next)
}

// takeRequest returns the request that a state belongs to, once, to the browser that made it.
func (s *Service) takeRequest(r *http.Request) (row store.TakeOpenIDRequestRow, secrets requestSecrets, err error) {
	unknown := fmt.Errorf("%w: no request of this browser has this state", errProvider)
	hash := proof.Hash(r.URL.Query().Get("state"))
	row, err = store.New(s.deps.Postgres.Unscoped()).TakeOpenIDRequest(r.Context(), hash)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (row.Over || !s.asked(r, row.BrowserHash)) {
		return row, secrets, unknown
	}
	if err != nil {
		return row, secrets, fmt.Errorf("find request: %w", err)
	}
	text, err := s.deps.Tokens.Open(openIDSealing, row.SecretsSealed, hash)
	if err != nil {
		return row, secrets, unknown // the token key is another one since
	}
	if err := json.Unmarshal(text, &secrets); err != nil {
		return row, secrets, fmt.Errorf("read request: %w", err)
	}
	return row, secrets, nil
}

// providerFailed offers to sign in again after something went wrong at the provider, on the way to
// a screen, and passes other errors on.
func (s *Service) providerFailed(w http.ResponseWriter, r *http.Request, next string, err error) error {
	if !errors.Is(err, errProvider) {
		return err
	}
	s.deps.Log.Warn("signing in by OpenID Connect failed", "error", err)
	return s.writeAsk(w, r, http.StatusBadRequest,
		askData{Next: next, Alert: s.say(r, "signin.openid.failed", "provider", s.provider.config.OpenIDName)})
}

// errStranger is the error of someone who is in no account, and is not invited.
var errStranger = errors.New("the person is in no account")

// recognise returns the user of an identity, and the account to enter. An identity that is new is
// linked to the user who has its address, if that is beyond doubt; else invitations to the address
// are accepted, or everyone may join one account, as an analyst.
func (s *Service) recognise(ctx context.Context, who person) (id, account uuid.UUID, err error) {
	err = s.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		known, err := q.UserOfIdentity(ctx, store.UserOfIdentityParams{Issuer: who.issuer, Subject: who.subject})
		switch {
		case err == nil:
			id = known
		case errors.Is(err, pgx.ErrNoRows):
			if id, err = s.link(ctx, tx, who); err != nil {
				return err
			}
		default:
			return fmt.Errorf("find identity: %w", err)
		}
		account, err = q.AccountToEnter(ctx, id)
		if errors.Is(err, pgx.ErrNoRows) {
			return errStranger
		}
		return err
	})
	return id, account, err
}

// link returns the user that an identity will stand for.
func (s *Service) link(ctx context.Context, tx pgx.Tx, who person) (id uuid.UUID, err error) {
	if who.doubt != "" {
		return id, fmt.Errorf("%w: %s", errStranger, who.doubt)
	}
	address, err := email.Parse(who.email)
	if err != nil {
		return id, fmt.Errorf("%w: the claim email %w", errStranger, err)
	}
	q := store.New(tx)
	invitations, err := q.TakeInvitationsOf(ctx, address.Key)
	if err != nil {
		return id, fmt.Errorf("find invitations: %w", err)
	}
	id, err = q.UserOfEmail(ctx, address.Key)
	isNew := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !isNew {
		return id, fmt.Errorf("find user: %w", err)
	}
	joins := make([]store.JoinAccountParams, 0, 1)
	for _, i := range invitations {
		joins = append(joins, store.JoinAccountParams{AccountID: i.AccountID, Role: i.Role})
	}
	if isNew && len(joins) == 0 && s.provider.config.OpenIDAccount != "" {
		joins = append(joins, store.JoinAccountParams{AccountID: uuid.MustParse(s.provider.config.OpenIDAccount),
			Role: string(auth.Analyst)})
	}
	if isNew && len(joins) == 0 {
		return id, errStranger
	}
	if isNew {
		if id, err = user.Join(ctx, tx, address); err != nil {
			return id, err
		}
	}
	for _, j := range joins {
		j.UserID = id
		if err := q.JoinAccount(ctx, j); err != nil {
			return id, fmt.Errorf("join account: %w", err)
		}
		joined := auth.AuditEntry{Action: auth.AcceptInvitation, Object: id, Caller: auth.Identity{AccountID: j.AccountID,
			UserID: id}, RequestID: api.RequestID(ctx)}
		if err := auth.WriteAudit(ctx, tx, joined); err != nil {
			return id, err
		}
	}
	if err := q.LinkIdentity(ctx, store.LinkIdentityParams{Issuer: who.issuer,
		Subject: who.subject, UserID: id}); err != nil {
		return id, fmt.Errorf("link identity: %w", err)
	}
	return id, nil
}
