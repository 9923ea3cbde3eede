package signin

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/proof"
	"lodestone/crud/user"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/store"
)

type invitationData struct {
	Here, Account, Email, Role string
}

// invited is where an invitation's mail leads. As for other mails, nothing happens until a person
// presses the button.
func (s *Service) invited(w http.ResponseWriter, r *http.Request) error {
	row, err := s.invitation(r)
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "invitation.html",
		web.Page{Title: s.say(r, "signin.invitation", "account", row.AccountName), Data: invitationData{
			Here: s.deps.Pages.Path(user.InvitationPath + r.PathValue("secret")), Account: row.AccountName,
			Email: row.Email, Role: row.Role,
		}})
}

func (s *Service) invitation(r *http.Request) (row store.InvitationBySecretRow, err error) {
	gone := web.Error(web.InvitationGone, web.Brand{})
	secret := r.PathValue("secret")
	if !secretForm.MatchString(secret) {
		return row, gone
	}
	row, err = store.New(s.deps.Postgres.Unscoped()).InvitationBySecret(r.Context(), proof.Hash(secret))
	if errors.Is(err, pgx.ErrNoRows) {
		return row, gone
	}
	if err != nil {
		return row, fmt.Errorf("find invitation: %w", err)
	}
	return row, nil
}

// join accepts an invitation, and signs the person in: the link proves that they read the mails of
// the address.
func (s *Service) join(w http.ResponseWriter, r *http.Request) error {
	row, err := s.invitation(r)
	if err != nil {
		return err
	}
	address, err := email.Parse(row.Email)
	if err != nil {
		return fmt.Errorf("read stored address: %w", err)
	}
	var in newSession
	err = s.deps.Postgres.Transaction(r.Context(), func(tx pgx.Tx) error {
		q := store.New(tx)
		taken, err := q.TakeInvitation(r.Context(), store.TakeInvitationParams{ID: row.ID,
			SecretHash: proof.Hash(r.PathValue("secret"))})
		if errors.Is(err, pgx.ErrNoRows) {
			return web.Error(web.InvitationGone, web.Brand{})
		}
		if err != nil {
			return fmt.Errorf("use invitation: %w", err)
		}
		id, err := user.Join(r.Context(), tx, address)
		if err != nil {
			return err
		}
		if err := q.JoinAccount(r.Context(), store.JoinAccountParams{AccountID: taken.AccountID, UserID: id,
			Role: taken.Role}); err != nil {
			return fmt.Errorf("join account: %w", err)
		}
		if in, err = makeSession(r, holder{account: taken.AccountID, user: &id}, byInvitation); err != nil {
			return err
		}
		return in.begin(r.Context(), tx, auth.AcceptInvitation)
	})
	if err != nil {
		return err
	}
	return s.enter(w, r, in, dashboardPath)
}
