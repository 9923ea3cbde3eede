package person

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/session"
	"lodestone/crud/user"
	"lodestone/pkg/api"
	"lodestone/pkg/audit"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type exportInput struct {
	Body personAddress
}

type personAddress struct {
	Email string `json:"email" format:"email" maxLength:"254" doc:"Address of the person, case-insensitive."`
}

func (p *Persons) export(ctx context.Context, a http.Handler, in *exportInput) (*api.Answer[PersonDocument], error) {
	caller := auth.From(ctx)
	address, err := email.Parse(in.Body.Email)
	if err != nil {
		return nil, problem.Invalid(problem.Field{Field: "email", Message: err.Error()})
	}
	id, err := store.New(p.deps.Postgres.Unscoped()).PersonID(ctx, store.PersonIDParams{AccountID: caller.AccountID, EmailKey: address.Key})
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	audit.Created(ctx, id) // the audit log keeps no address
	if err := audit.Record(ctx, p.deps.Postgres); err != nil {
		return nil, err
	}
	kept, err := p.deps.Answers.Kept(ctx, caller.AccountID)
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	var d PersonDocument
	var links []uuid.UUID // also those that were deleted
	keys, err := p.deps.Answers.Named(ctx, caller.AccountID, named([]string{address.Key}))
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	err = p.deps.Postgres.AccountSnapshot(ctx, caller.AccountID, func(tx pgx.Tx) error {
		deleted, err := store.New(tx).DeletedLinksOfPerson(ctx, id)
		if err != nil {
			return fmt.Errorf("read deleted links: %w", err)
		}
		links = deleted
		if d, err = p.read(ctx, tx, address, deleted); err != nil {
			return err
		}
		for _, l := range d.AccessLinks {
			links = append(links, l.ID)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	d.Keys = keysOf(keys)
	d.Email, d.PersonID, d.ExportedAt = address.Text, id, api.TimeOf(time.Now())
	if d.Answers, err = mentions(kept, address, d.ids()); err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	size := 0
	for _, link := range links {
		if d.Events, err = events(ctx, a, link, d.Events, &size); err != nil {
			return nil, err
		}
	}
	return api.OK(d), nil
}

// ids returns the ids of the submissions and access links.
func (d *PersonDocument) ids() []uuid.UUID {
	var ids []uuid.UUID
	for _, s := range d.Submissions {
		ids = append(ids, s.ID)
	}
	for _, l := range d.AccessLinks {
		ids = append(ids, l.ID)
	}
	return ids
}

// readSubmissions returns the submissions of an address, with their counters.
func readSubmissions(ctx context.Context, q *store.Queries, address email.Address) ([]store.Submission, map[uuid.UUID]store.Counts, error) {
	submissions, err := q.SubmissionsOfPerson(ctx, address.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("read submissions: %w", err)
	}
	counts, err := q.SubmissionCounts(ctx, submissions)
	return submissions, counts, err
}

// readLinks returns the access links of an address, with their counters.
func readLinks(ctx context.Context, q *store.Queries, address email.Address) ([]store.AccessLink, map[uuid.UUID]store.Counts, error) {
	links, err := q.AccessLinksOfPerson(ctx, address.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("read access links: %w", err)
	}
	ids := make([]uuid.UUID, len(links))
	for i := range links {
		ids[i] = links[i].ID
	}
	counts, err := q.AccessLinkCounts(ctx, ids...)
	return links, counts, err
}

// read returns what Postgres has, from one state of the data.
func (p *Persons) read(ctx context.Context, tx pgx.Tx, address email.Address, deleted []uuid.UUID) (PersonDocument, error) {
	d := PersonDocument{
		Submissions: []PersonSubmission{}, Verifications: []PersonVerification{}, AccessLinks: []PersonAccessLink{}, Sessions: []PersonSession{},
		Downloads: []PersonDownload{}, Events: []PersonEvent{}, Reports: []PersonReport{}, AuditLog: []user.Entry{},
	}
	q := store.New(tx)
	submissions, counts, err := readSubmissions(ctx, q, address)
	if err != nil {
		return d, err
	}
	var submissionIDs, linkIDs, sessionIDs []uuid.UUID
	for _, row := range submissions {
		s, err := submissionOf(row, counts[row.ID])
		if err != nil {
			return d, err
		}
		d.Submissions, submissionIDs = append(d.Submissions, s), append(submissionIDs, row.ID)
	}
	links, counts, err := readLinks(ctx, q, address)
	if err != nil {
		return d, err
	}
	for _, row := range links {
		l, err := linkOf(row, counts[row.ID])
		if err != nil {
			return d, err
		}
		d.AccessLinks, linkIDs = append(d.AccessLinks, l), append(linkIDs, row.ID)
	}
	verifications, err := q.VerificationsOfPerson(ctx, submissionIDs)
	if err != nil {
		return d, fmt.Errorf("read verifications: %w", err)
	}
	for _, v := range verifications {
		d.Verifications = append(d.Verifications, PersonVerification{
			v.SubmissionID, v.Email, v.Language, api.TimeOf(v.SentAt), api.TimeOf(v.ExpiresAt), api.OptionalTime(v.UsedAt),
		})
	}
	sessions, err := q.SessionsOfPerson(ctx, linkIDs)
	if err != nil {
		return d, fmt.Errorf("read sessions: %w", err)
	}
	for _, s := range sessions {
		pages := s.Pages
		if pages == nil {
			pages = []int32{}
		}
		d.Sessions, sessionIDs = append(d.Sessions, PersonSession{
			s.ID, s.AccessLinkID, s.MagnetVersion, api.TimeOf(s.StartedAt), api.TimeOf(s.LastActiveAt), api.OptionalTime(s.EndedAt), pages, s.DurationMs,
		}), append(sessionIDs, s.ID)
	}
	downloads, err := q.DownloadsOfPerson(ctx, sessionIDs)
	if err != nil {
		return d, fmt.Errorf("read downloads: %w", err)
	}
	for _, row := range downloads {
		d.Downloads = append(d.Downloads, PersonDownload{row.ID, row.SessionID, api.TimeOf(row.StartedAt), api.OptionalTime(row.CompletedAt)})
	}
	reports, err := session.ReportsAbout(ctx, tx, slices.Concat(deleted, linkIDs))
	if err != nil {
		return d, err
	}
	for _, r := range reports {
		d.Reports = append(d.Reports, PersonReport{
			r.EventID, r.EventType, r.State, r.AccessLinkID, r.SessionID, api.TimeOf(r.At), orNull(r.UserAgent), orNull(r.Language), orNull(r.Country),
		})
	}
	if err := p.readWaiting(ctx, tx, address, linkIDs, &d); err != nil {
		return d, err
	}
	if d.Deliveries, err = p.deps.Deliveries.About(ctx, tx, linkIDs, submissionIDs); err != nil {
		return d, err
	}
	entries, err := q.AuditOfPerson(ctx, store.AuditOfPersonParams{ObjectIds: slices.Concat(deleted, linkIDs, submissionIDs), EmailKey: address.Key})
	if err != nil {
		return d, fmt.Errorf("read audit log: %w", err)
	}
	for _, e := range entries {
		d.AuditLog = append(d.AuditLog, user.Entry{
			ID: e.ID, At: api.TimeOf(e.At), Action: e.Action, ObjectID: e.ObjectID, Actor: e.Actor, UserID: e.UserID, SessionID: e.SessionID, KeyID: e.KeyID,
			RequestID: e.RequestID,
		})
	}
	return d, nil
}

func submissionOf(row store.Submission, counts store.Counts) (PersonSubmission, error) {
	utm, err := parameters(row.UTM)
	return PersonSubmission{
		row.ID, row.GenericLinkID, row.Email, row.Name, api.TimeOf(row.SubmittedAt), utm, row.Referrer, row.ConsentText, row.PrivacyURL,
		api.OptionalTime(row.ConsentedAt), api.OptionalTime(row.VerifiedAt), counts.Views, api.OptionalTime(counts.First), api.OptionalTime(counts.Last),
	}, err
}

func linkOf(row store.AccessLink, counts store.Counts) (PersonAccessLink, error) {
	utm, err := parameters(row.UTM)
	return PersonAccessLink{
		row.ID, row.LeadMagnetID, row.GenericLinkID, row.SubmissionID, row.Email, row.Source, utm, row.Referrer, row.OpenedCount, counts.Views,
		api.OptionalTime(counts.First), api.OptionalTime(counts.Last), row.MaxViews, api.OptionalTime(row.ExpiresAt), row.IsActive,
		api.TimeOf(row.CreatedAt), api.TimeOf(row.UpdatedAt),
	}, err
}

// parameters reads those of a landing page, as they are stored; nil for none.
func parameters(stored []byte) (*map[string]string, error) {
	if stored == nil {
		return nil, nil
	}
	var p map[string]string
	if err := json.Unmarshal(stored, &p); err != nil {
		return nil, fmt.Errorf("read parameters: %w", err)
	}
	return &p, nil
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// about returns whether a JSON text mentions one of the addresses, given by their keys, or one of the ids.
func about(keys []string, ids []uuid.UUID) func(text []byte) bool {
	return func(text []byte) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return email.MentionsJSON(text, key) }) ||
			slices.ContainsFunc(ids, func(id uuid.UUID) bool { return bytes.Contains(text, []byte(id.String())) })
	}
}

// named returns whether a client's key for a request has one of the addresses in it. Characters that may be of an address may stand before it, as in
// invite-ada@example.com.
func named(keys []string) func(text string) bool {
	return func(text string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(strings.ToLower(text), key) })
	}
}

// mentions returns the answers that mention a person, by address or by an id. Of a list, it keeps only the elements that do: the others
// are about other people.
func mentions(kept []idempotency.Kept, address email.Address, ids []uuid.UUID) ([]PersonAnswer, error) {
	about := about([]string{address.Key}, ids)
	list := []PersonAnswer{}
	for _, k := range kept {
		if !about(k.Body) {
			continue
		}
		var object map[string]jsontext.Value
		if err := json.Unmarshal(k.Body, &object); err != nil {
			return nil, fmt.Errorf("read kept answer: %w", err)
		}
		body := k.Body
		var elements []jsontext.Value
		if data, ok := object["data"]; ok && json.Unmarshal(data, &elements) == nil {
			own := []jsontext.Value{}
			for _, e := range elements {
				if about(e) {
					own = append(own, e)
				}
			}
			var err error
			if body, err = json.Marshal(map[string]any{"data": own}); err != nil {
				return nil, fmt.Errorf("encode kept answer: %w", err)
			}
		}
		list = append(list, PersonAnswer{k.Operation, api.TimeOf(k.At), body})
	}
	return list, nil
}
