package signin

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// AccountsPath is the page on which a person goes to another of their accounts.
const AccountsPath = signInPath + "/account"

type accountsData struct {
	CSRF, Here, Back string
	Current          uuid.UUID
	Accounts         []store.AccountsOfUserRow
}

// chooseAccount shows the accounts of a person.
func (s *Service) chooseAccount(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	d := accountsData{CSRF: session.CSRF, Here: s.deps.Pages.Path(AccountsPath),
		Back: s.deps.Pages.Path(dashboardPath), Current: session.AccountID}
	var err error
	if session.UserID != uuid.Nil {
		if d.Accounts, err = store.New(s.deps.Postgres.Unscoped()).AccountsOfUser(r.Context(), session.UserID); err != nil {
			return fmt.Errorf("list accounts: %w", err)
		}
	}
	return s.write(w, r, http.StatusOK, "accounts.html", web.Page{Title: s.say(r, "signin.accounts"), Data: d})
}

// changeAccount ends the session and begins one of the same person in another account.
func (s *Service) changeAccount(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	to, err := uuid.Parse(r.PostForm.Get("account"))
	if err != nil || session.UserID == uuid.Nil {
		return web.Error(web.Unreadable, web.Brand{})
	}
	in, err := makeSession(r, holder{account: to, user: &session.UserID}, session.Method)
	if err != nil {
		return err
	}
	// The session refers to the person's membership: Postgres refuses one of an account that is not
	// theirs.
	if err := s.deps.Postgres.Account(r.Context(), to,
		func(tx pgx.Tx) error { return in.begin(r.Context(), tx, auth.SignIn) }); err != nil {
		if postgres.IsForeignKeyViolation(err) {
			return web.Error(web.NotFound, web.Brand{}).Because(err)
		}
		return err
	}
	return s.enter(w, r, in, dashboardPath)
}
