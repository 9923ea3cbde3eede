package signin

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

// signOut ends the session, or with the field "everywhere" every session of the person, in whatever
// account.
func (s *Service) signOut(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	err := s.deps.Postgres.Transaction(r.Context(), func(tx pgx.Tx) error {
		return endSessions(r.Context(), tx, session, r.PostForm.Get("everywhere") != "" && session.UserID != uuid.Nil)
	})
	if err != nil {
		return err
	}
	setCookie(w, s.cookie, "", 0)
	return s.redirect(w, r, signInPath+"?ended=out")
}

func endSessions(ctx context.Context, tx pgx.Tx, session Session, everywhere bool) error {
	q := store.New(tx)
	ended := []store.EndSessionsOfUserRow{{ID: session.ID, AccountID: session.AccountID}}
	var err error
	if everywhere {
		ended, err = q.EndSessionsOfUser(ctx, &session.UserID)
	} else {
		err = q.EndSessionByID(ctx, session.ID)
	}
	if err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	for _, one := range ended {
		caller := auth.Identity{AccountID: one.AccountID, SessionID: session.ID, UserID: session.UserID, KeyID: session.KeyID}
		if err := auth.WriteAudit(ctx, tx, auth.AuditEntry{Action: auth.SignOut, Object: one.ID, Caller: caller,
			RequestID: api.RequestID(ctx)}); err != nil {
			return err
		}
	}
	return nil
}
