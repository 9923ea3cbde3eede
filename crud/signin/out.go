package signin

import (
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"lodestone/pkg/store"
)

// signOut ends the session, or with the field "everywhere" every session of the person, in whatever account.
func (s *Service) signOut(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	if err := s.endBefore(r); err != nil {
		return err
	}
	if r.PostForm.Get("everywhere") != "" && session.UserID != uuid.Nil {
		if err := store.New(s.deps.Postgres.Unscoped()).EndUserSessions(r.Context(), session.UserID); err != nil {
			return fmt.Errorf("end sessions: %w", err)
		}
	}
	setCookie(w, s.cookie, "", 0)
	return s.redirect(w, r, signInPath+"?ended=out")
}
