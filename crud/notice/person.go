package notice

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/store"
)

const (
	weeklyPath = path + "weekly/"
	// forPerson is the purpose of grants by which one of an account's people ends the weekly report,
	// for no one else.
	forPerson = "weekly report"
)

func (n *Notices) personGrant(account, person uuid.UUID) string {
	return n.deps.Tokens.Grant(forPerson, nil, append(account[:], person[:]...), never)
}

func (n *Notices) showWeekly(w http.ResponseWriter, r *http.Request) error {
	return n.ofPerson(w, r, nil)
}

// changeWeekly sets what the form chooses. A mail program posts here as well when its user presses
// its button (RFC 8058); it names no choice and so ends the report.
func (n *Notices) changeWeekly(w http.ResponseWriter, r *http.Request) error {
	wants := r.PostFormValue("weekly") == "on"
	return n.ofPerson(w, r, &wants)
}

// ofPerson shows whether a person gets the weekly report, after it was set if wants is not nil.
func (n *Notices) ofPerson(w http.ResponseWriter, r *http.Request, wants *bool) error {
	missing := web.Error(web.NotFound, web.Brand{})
	body, err := n.deps.Tokens.OpenGrant(forPerson, nil, r.PathValue("token"), n.deps.Now())
	if err != nil || len(body) != 2*len(uuid.Nil) {
		return missing
	}
	account, person := uuid.UUID(body[:len(uuid.Nil)]), uuid.UUID(body[len(uuid.Nil):])
	var s state
	err = n.deps.Postgres.Account(r.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.GetWeeklyReport(r.Context(), person)
		if errors.Is(err, pgx.ErrNoRows) {
			return missing // the person left the account
		}
		if err != nil {
			return fmt.Errorf("read who gets the weekly report: %w", err)
		}
		s.To, s.Weekly = row.Email, row.Wants
		if s.Language, err = q.LanguageOfAccount(r.Context()); err != nil {
			return fmt.Errorf("read language of account: %w", err)
		}
		if wants == nil {
			return nil
		}
		s.Weekly, s.Done = *wants, true
		return q.SetWeeklyReport(r.Context(), store.SetWeeklyReportParams{UserID: person, Wants: *wants})
	})
	if err != nil {
		return err
	}
	return n.weekly.Write(w, r, http.StatusOK, n.page(r, "notice.weekly", s.Language, s))
}
