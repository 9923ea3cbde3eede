package signin

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

var secretForm = regexp.MustCompile(`^[a-z2-7]{26,40}$`)

// State is how far a try to sign in is.
type state string

const (
	stateOpen    state = "open"
	stateUsed    state = "used"
	stateOver    state = "over"
	stateGuessed state = "guessed" // too many wrong codes: only the link still works
)

func stateOf(used *time.Time, over bool, attempts int32) state {
	switch {
	case used != nil:
		return stateUsed
	case over:
		return stateOver
	case attempts >= maxAttempts:
		return stateGuessed
	default:
		return stateOpen
	}
}

type waitData struct {
	CSRF, Here, Again, Back string
	Email                   string
	State                   state
	Resent, MayResend       bool
	Wrong, Typed            string
}

// waiting is the page that waits for the code or the link. Its address is the browser's alone.
func (s *Service) waiting(w http.ResponseWriter, r *http.Request) error {
	row, _, err := s.byPage(r)
	if err != nil {
		return err
	}
	return s.writeWaiting(w, r, http.StatusOK, row, waitData{Resent: r.URL.Query().Has("again")})
}

func (s *Service) writeWaiting(w http.ResponseWriter, r *http.Request, status int,
	row store.SignInByPageRow, d waitData) error {
	path := waitingPath(r.PathValue("page"))
	d.CSRF, d.Email, d.State = auth.SessionOf(s.browserOf(r)).CSRF, row.Email, stateOf(row.UsedAt, row.Over, row.Attempts)
	d.Here, d.Again, d.Back = s.deps.Pages.Path(path), s.deps.Pages.Path(path+"/again"), s.deps.Pages.Path(signInPath)
	d.MayResend = (d.State == stateOpen || d.State == stateGuessed) && row.Mails < maxMails
	title := s.say(r, "signin.wait")
	if d.Wrong != "" {
		title = s.say(r, "signin.check", "title", title)
	}
	return s.write(w, r, status, "wait.html", web.Page{Title: title, Data: d})
}

// byPage returns the try of a waiting page, to the browser that asked, and the secret of the page.
func (s *Service) byPage(r *http.Request) (row store.SignInByPageRow, secret string, err error) {
	missing := web.Error(web.NotFound, web.Brand{})
	secret = r.PathValue("page")
	if !secretForm.MatchString(secret) {
		return row, "", missing
	}
	row, err = store.New(s.deps.Postgres.Unscoped()).SignInByPage(r.Context(), proof.Hash(secret))
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !s.asked(r, row.BrowserHash) {
		return row, "", missing
	}
	if err != nil {
		return row, "", fmt.Errorf("find sign-in: %w", err)
	}
	return row, secret, nil
}

// asked reports whether a request comes from the browser that has asked.
func (s *Service) asked(r *http.Request, hash []byte) bool {
	browser := s.browserOf(r)
	return browser != "" && subtle.ConstantTimeCompare(proof.Hash(browser), hash) == 1
}

// tryCode takes a code from the mail.
func (s *Service) tryCode(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.checkBrowser(r); err != nil {
		return err
	}
	row, secret, err := s.byPage(r)
	if err != nil {
		return err
	}
	typed := strings.TrimSpace(r.PostForm.Get("code"))
	if !proof.IsCode(typed) { // costs none of the tries
		return s.writeWaiting(w, r, http.StatusUnprocessableEntity, row,
			waitData{Wrong: s.say(r, "signin.wait.code.form"), Typed: typed})
	}
	if err := s.take(r); err != nil {
		return err
	}
	given := proof.CodeHash(secret, proof.Digits(typed))
	// The try is counted whatever comes of it.
	hash, err := store.New(s.deps.Postgres.Unscoped()).TrySignInCode(r.Context(),
		store.TrySignInCodeParams{ID: row.ID, MaxAttempts: maxAttempts})
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("count code: %w", err)
	}
	if err != nil || subtle.ConstantTimeCompare(hash, given) != 1 {
		if row, _, err = s.byPage(r); err != nil {
			return err
		}
		return s.writeWaiting(w, r, http.StatusUnprocessableEntity, row,
			waitData{Wrong: s.say(r, "signin.wait.code.wrong"), Typed: typed})
	}
	in, err := s.complete(r, row.ID, byMail)
	if errors.Is(err, errUsed) {
		return s.waiting(w, r)
	}
	if err != nil {
		return err
	}
	return s.enter(w, r, in, row.Next)
}

// again sends the mail again, with the same link and code.
func (s *Service) again(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.checkBrowser(r); err != nil {
		return err
	}
	row, secret, err := s.byPage(r)
	if err != nil {
		return err
	}
	if err := s.take(r); err != nil {
		return err
	}
	to := recipient{typed: row.Email}
	err = s.deps.Postgres.Transaction(r.Context(), func(tx pgx.Tx) error {
		q := store.New(tx)
		counted, err := q.ResendSignIn(r.Context(), store.ResendSignInParams{ID: row.ID, MaxMails: maxMails,
			Pause: interval(mailPause)})
		if err != nil {
			return fmt.Errorf("count mail: %w", err)
		}
		if counted == 0 {
			return limited(mailPause)
		}
		if row.UserID != nil {
			u, err := q.UserByID(r.Context(), *row.UserID)
			if err != nil {
				return fmt.Errorf("find user: %w", err)
			}
			to.account, to.user, to.stored = u.AccountID, *row.UserID, u.Email
		}
		return s.mail(r.Context(), tx, to, proof.Again(s.keys(), secret, row.LinkHash), row.ExpiresAt)
	})
	if err != nil {
		return err
	}
	return s.redirect(w, r, waitingPath(secret)+"?again")
}

// errUsed is the error of a link or a code that does not work any more.
var errUsed = errors.New("the link or code was used, is too old, or its user is gone")

// complete uses a try up, once, and begins the session of its user.
func (s *Service) complete(r *http.Request, id uuid.UUID, method string) (in newSession, err error) {
	ctx := r.Context()
	user, account, err := s.userOf(ctx, id)
	if err != nil {
		return in, err
	}
	if in, err = makeSession(r, holder{account: account, user: &user}, method); err != nil {
		return in, err
	}
	return in, s.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) error {
		if _, err := store.New(tx).UseSignIn(ctx, id); errors.Is(err, pgx.ErrNoRows) {
			return errUsed
		} else if err != nil {
			return fmt.Errorf("use sign-in: %w", err)
		}
		return in.begin(ctx, tx, auth.SignIn)
	})
}

// userOf returns the user of a try, and the account that the session will be of: the one that was
// used last.
func (s *Service) userOf(ctx context.Context, id uuid.UUID) (user, account uuid.UUID, err error) {
	row, err := store.New(s.deps.Postgres.Unscoped()).UserOfSignIn(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return user, account, errUsed
	}
	if err != nil {
		return user, account, fmt.Errorf("find user: %w", err)
	}
	return row.ID, row.AccountID, nil
}
