package signin

import (
	"errors"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// byAPIKey signs in by an API key. The session has the key's scopes but those of managing people
// and keys, and ends with the key.
func (s *Service) byAPIKey(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.checkBrowser(r); err != nil {
		return err
	}
	if err := s.take(r); err != nil {
		return err
	}
	next := nextOf(r.PostForm.Get("next"))
	ctx := auth.NewClientContext(r.Context(), s.deps.Addresses.Client(r))
	identity, err := s.verifier.Verify(ctx, strings.TrimSpace(r.PostForm.Get("key")))
	if limit, ok := errors.AsType[*problem.Problem](err); ok && limit.Code == problem.RateLimited {
		return limited(mailPause)
	}
	if auth.IsInvalid(err) || err == nil && identity.SessionID != uuid.Nil {
		return s.writeAsk(w, r, http.StatusUnprocessableEntity, askData{Next: next, WrongKey: s.say(r, "signin.key.wrong")})
	}
	if err != nil {
		return err
	}
	in, err := makeSession(r, holder{account: identity.AccountID, key: &identity.KeyID}, byKey)
	if err != nil {
		return err
	}
	err = s.deps.Postgres.Account(ctx, identity.AccountID, func(tx pgx.Tx) error { return in.begin(ctx, tx, auth.SignIn) })
	if err != nil {
		return err
	}
	return s.enter(w, r, in, next)
}
