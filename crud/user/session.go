package user

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const sessionsPath = "/api/v1/sessions"

// method is how someone signed in.
type method string

// EnumValues implements jsonschema.Enum.
func (method) EnumValues() []string {
	return jsonschema.Values([]method{"mail", "key", "link", "invitation", "openid", "passkey"})
}

// Session is one of the dashboard that has not ended.
type Session struct {
	ID           uuid.UUID  `json:"id" format:"uuid" doc:"Unique identifier."`
	UserID       *uuid.UUID `json:"user_id" format:"uuid" doc:"Id of the person; null if an API key signed in."`
	Email        *string    `json:"email" doc:"Address of the person; null if an API key signed in."`
	KeyID        *uuid.UUID `json:"key_id" format:"uuid" doc:"Id of the API key that signed in. The session ends with the key. Null for a person."`
	Method       method     `json:"method" doc:"How they signed in: by a mailed link or code, by an API key, by the link that lodestone up prints, by an invitation, by OpenID Connect, or by a passkey."`
	UserAgent    string     `json:"user_agent" doc:"User agent of the browser."`
	Current      bool       `json:"current" doc:"Whether it is the session of this request."`
	StartedAt    api.Time   `json:"started_at" doc:"When they signed in."`
	LastActiveAt api.Time   `json:"last_active_at" doc:"When the last page was opened, accurate to a minute."`
	EndsAt       api.Time   `json:"ends_at" doc:"When it ends if no page is opened: 12 hours after the last page, and at most 30 days after it began."`
}

func (p *People) registerSessions(a *api.API) {
	const whose = "A person sees their own sessions in the account, an API key the sessions that it signed in. With the scope people, everyone's sessions are included."
	api.Register(a, api.Operation{
		ID: "list-sessions", Method: "GET", Path: sessionsPath, Scope: auth.Read, Tag: tag,
		Summary: "List the sessions of the dashboard, newest first", Description: whose,
		PerPage: api.PageSize{Default: 20, Max: 100},
	}, p.listSessions)
	api.Register(a, api.Operation{
		ID: "end-session", Method: "DELETE", Path: sessionsPath + "/{id}", Scope: auth.Read, Tag: tag, Status: 204,
		Summary:     "End a session of the dashboard",
		Description: whose + " Within a second, every process refuses the session.",
	}, p.endSession)
}

// visibleTo returns whose sessions a caller may see and end: everyone's if both are nil.
func visibleTo(caller auth.Identity) (user, key *uuid.UUID) {
	switch {
	case caller.Has(auth.People):
		return nil, nil
	case caller.UserID != uuid.Nil:
		return &caller.UserID, nil
	default:
		return nil, &caller.KeyID
	}
}

func (p *People) listSessions(ctx context.Context, in *listInput) (*api.Answer[api.Page[Session]], error) {
	caller := auth.From(ctx)
	user, key := visibleTo(caller)
	var total int64
	var sessions []Session
	err := p.deps.Postgres.AccountSnapshot(ctx, caller.AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountUserSessions(ctx, store.CountUserSessionsParams{UserID: user, KeyID: key}); err != nil {
			return err
		}
		rows, err := q.ListUserSessions(ctx, store.ListUserSessionsParams{UserID: user, KeyID: key,
			RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			sessions = append(sessions, Session{
				ID: row.ID, UserID: row.UserID, Email: row.Email, KeyID: row.KeyID,
				Method: method(row.Method), UserAgent: row.UserAgent,
				Current: row.ID == caller.SessionID, StartedAt: api.TimeOf(row.StartedAt),
				LastActiveAt: api.TimeOf(row.LastActiveAt), EndsAt: api.TimeOf(row.EndsAt),
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return api.List(ctx, in.Paging, sessions, total), nil
}

type sessionInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the session."`
}

func (p *People) endSession(ctx context.Context, in *sessionInput) (*api.Answer[api.Empty], error) {
	user, key := visibleTo(auth.From(ctx))
	err := p.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		ended, err := store.New(tx).EndUserSession(ctx, store.EndUserSessionParams{ID: in.ID, UserID: user, KeyID: key})
		if err == nil && ended == 0 {
			return problem.Missing("session")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("end session: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
