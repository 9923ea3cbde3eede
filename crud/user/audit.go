package user

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/store"
)

// Entry is one of the audit log.
type Entry struct {
	ID        uuid.UUID  `json:"id" format:"uuid" doc:"Unique identifier. Later entries have greater ones."`
	At        api.Time   `json:"at" doc:"When it was done."`
	Action    string     `json:"action" doc:"What was done: the operation's operationId in this description, or sign-in, sign-out, accept-invitation, add-passkey or remove-passkey."`
	ObjectID  *uuid.UUID `json:"object_id" format:"uuid" doc:"Id of the affected object; null for the account itself and for several objects."`
	Object    *Object    `json:"object" nullable:"true" doc:"The object's current state; null if it was deleted, or if object_id is null."`
	Actor     string     `json:"actor" doc:"Address of the person, or name of the API key, at that time."`
	UserID    *uuid.UUID `json:"user_id" format:"uuid" doc:"Id of the person; null for an API key."`
	SessionID *uuid.UUID `json:"session_id" format:"uuid" doc:"Id of the dashboard session; null for a request with an API key."`
	KeyID     *uuid.UUID `json:"key_id" format:"uuid" doc:"Id of the API key, or of the key with which the session was signed in; null for a person."`
	RequestID string     `json:"request_id" doc:"X-Request-Id of the request."`
}

// Object is the object of an entry in the audit log.
type Object struct {
	Type     objectType `json:"type" doc:"What kind of object it is."`
	Name     *string    `json:"name" doc:"Its title, slug, address or name, or the prefix of an API key; null if it has none, or if the API key lacks the scope to read such objects."`
	ParentID *uuid.UUID `json:"parent_id" format:"uuid" doc:"Id of the lead magnet of a link or a share, or of the generic link of a submission; null for all others."`
}

// objectType is a kind of object.
type objectType string

// readBy are the kinds of objects, and the scope that reads them: who reads the log learns no name
// by it that the rest of the API would withhold.
var readBy = map[objectType]auth.Scope{
	"lead_magnet": auth.Read, "generic_link": auth.Read, "access_link": auth.Leads, "submission": auth.Leads,
	"share": auth.Read, "utm_template": auth.Read, "alert_rule": auth.Read,
	"webhook": auth.Webhooks, "key": auth.Keys, "user": auth.People, "invitation": auth.People, "session": auth.People,
}

// EnumValues implements jsonschema.Enum.
func (objectType) EnumValues() []string { return jsonschema.Values(slices.Sorted(maps.Keys(readBy))) }

func (p *People) registerAudit(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-audit-log", Method: "GET", Path: "/api/v1/audit-log", Scope: auth.People, Tag: tag,
		Summary:     "List the audit log, newest first",
		Description: "Every change, every export of personal data and every sign-in, and who did it. Entries cannot be changed or deleted.",
		PerPage:     api.PageSize{Default: 50, Max: 100},
	}, p.listAudit)
}

type auditInput struct {
	api.Paging
	UserID   *uuid.UUID `query:"user_id" doc:"Only actions of this person."`
	ObjectID *uuid.UUID `query:"object_id" doc:"Only actions on this object."`
	Action   *string    `query:"action" maxLength:"100" doc:"Only this action."`
}

func (p *People) listAudit(ctx context.Context, in *auditInput) (*api.Answer[api.Page[Entry]], error) {
	var total int64
	var entries []Entry
	err := p.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountAudit(ctx, store.CountAuditParams{UserID: in.UserID, ObjectID: in.ObjectID,
			Action: in.Action}); err != nil {
			return err
		}
		rows, err := q.ListAudit(ctx, store.ListAuditParams{
			UserID: in.UserID, ObjectID: in.ObjectID, Action: in.Action, RowOffset: in.Offset(), RowLimit: in.Limit(),
		})
		for _, row := range rows {
			entries = append(entries, Entry{
				ID: row.ID, At: api.TimeOf(row.At), Action: row.Action, ObjectID: row.ObjectID,
				Actor: row.Actor, UserID: row.UserID,
				SessionID: row.SessionID, KeyID: row.KeyID, RequestID: row.RequestID,
			})
		}
		if err != nil {
			return err
		}
		return name(ctx, q, entries)
	})
	if err != nil {
		return nil, fmt.Errorf("list audit log: %w", err)
	}
	return api.List(ctx, in.Paging, entries, total), nil
}

// name finds the objects of entries, all at once.
func name(ctx context.Context, q *store.Queries, entries []Entry) error {
	var ids []uuid.UUID
	for _, e := range entries {
		if e.ObjectID != nil {
			ids = append(ids, *e.ObjectID)
		}
	}
	rows, err := q.NameObjects(ctx, ids)
	if err != nil {
		return err
	}
	caller, found := auth.From(ctx), map[uuid.UUID]*Object{}
	for _, row := range rows {
		o := &Object{Type: objectType(row.Type), ParentID: row.ParentID}
		if row.Name != "" && caller.Has(readBy[o.Type]) {
			o.Name = &row.Name
		}
		found[row.ID] = o
	}
	for i, e := range entries {
		if e.ObjectID != nil {
			entries[i].Object = found[*e.ObjectID]
		}
	}
	return nil
}
