package person

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/user"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
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
	id, err := store.New(p.deps.Postgres.Unscoped()).PersonID(ctx,
		store.PersonIDParams{AccountID: caller.AccountID, EmailKey: address.Key})
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	auth.RecordCreated(ctx, id) // the audit log keeps no address
	if err := auth.RecordRead(ctx, p.deps.Postgres); err != nil {
		return nil, err
	}
	var d PersonDocument
	var links []uuid.UUID // also those that were deleted
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
		d.Recipients, d.Unsubscribed, err = readRecipients(ctx, store.New(tx), address, id)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("export person: %w", err)
	}
	d.Email, d.PersonID, d.ExportedAt = address.Text, id, api.TimeOf(time.Now())
	size := 0
	for _, link := range links {
		if d.Events, err = events(ctx, a, link, d.Events, &size); err != nil {
			return nil, err
		}
	}
	return api.OK(d), nil
}

// readSubmissions returns the submissions of an address, with their counters.
func readSubmissions(ctx context.Context, q *store.Queries, address email.Address) ([]store.Submission,
	map[uuid.UUID]store.Counts, error) {
	submissions, err := q.SubmissionsOfPerson(ctx, address.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("read submissions: %w", err)
	}
	counts, err := q.SubmissionCounts(ctx, submissions)
	return submissions, counts, err
}

// readLinks returns the access links of an address, with their counters.
func readLinks(ctx context.Context, q *store.Queries, address email.Address) ([]store.AccessLink,
	map[uuid.UUID]store.Counts, error) {
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

// readRecipients returns the lists that an address is on, and when the person unsubscribed.
func readRecipients(ctx context.Context, q *store.Queries, address email.Address,
	person uuid.UUID) (list []PersonRecipient, unsubscribed *api.Time, err error) {
	rows, err := q.RecipientsOfPerson(ctx, address.Key)
	if err != nil {
		return nil, nil, fmt.Errorf("read recipients: %w", err)
	}
	list = []PersonRecipient{}
	for _, row := range rows {
		r := row.Recipient
		list = append(list, PersonRecipient{r.ID, r.GenericLinkID, row.Email, r.Name, api.TimeOf(r.AddedAt),
			api.OptionalTime(r.SentAt), api.OptionalTime(r.RemindedAt), api.OptionalTime(r.BouncedAt), r.Failure})
	}
	at, err := q.UnsubscribedAt(ctx, person)
	if errors.Is(err, pgx.ErrNoRows) {
		return list, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read unsubscribing: %w", err)
	}
	return list, api.OptionalTime(&at), nil
}

// read returns what Postgres has, from one state of the data.
func (p *Persons) read(ctx context.Context, tx pgx.Tx, address email.Address,
	deleted []uuid.UUID) (PersonDocument, error) {
	d := PersonDocument{
		Submissions: []PersonSubmission{}, Verifications: []PersonVerification{}, AccessLinks: []PersonAccessLink{},
		Sessions:  []PersonSession{},
		Downloads: []PersonDownload{}, Events: []PersonEvent{}, AuditLog: []user.Entry{},
	}
	q := store.New(tx)
	profiles, err := q.ProfileOfPerson(ctx, address.Key)
	if err != nil {
		return d, fmt.Errorf("read profile: %w", err)
	}
	for _, row := range profiles {
		d.Profile = &PersonProfile{row.Name, row.Status, row.Note, api.TimeOf(row.CreatedAt), api.TimeOf(row.UpdatedAt)}
	}
	submissions, counts, err := readSubmissions(ctx, q, address)
	if err != nil {
		return d, err
	}
	var submissionIDs, linkIDs, sessionIDs []uuid.UUID
	accepted, err := gate.Accepted(ctx, q, submissions)
	if err != nil {
		return d, err
	}
	for _, row := range submissions {
		s, err := submissionOf(row, counts[row.ID], accepted[row.ID])
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
			s.ID, s.AccessLinkID, s.MagnetVersion, api.TimeOf(s.StartedAt), api.TimeOf(s.LastActiveAt),
			api.OptionalTime(s.EndedAt), pages, s.DurationMs,
		}), append(sessionIDs, s.ID)
	}
	downloads, err := q.DownloadsOfPerson(ctx, sessionIDs)
	if err != nil {
		return d, fmt.Errorf("read downloads: %w", err)
	}
	for _, row := range downloads {
		d.Downloads = append(d.Downloads, PersonDownload{row.ID, row.SessionID, api.TimeOf(row.StartedAt),
			api.OptionalTime(row.CompletedAt)})
	}
	entries, err := q.AuditOfPerson(ctx,
		store.AuditOfPersonParams{ObjectIds: slices.Concat(deleted, linkIDs, submissionIDs), EmailKey: address.Key})
	if err != nil {
		return d, fmt.Errorf("read audit log: %w", err)
	}
	for _, e := range entries {
		d.AuditLog = append(d.AuditLog, user.Entry{
			ID: e.ID, At: api.TimeOf(e.At), Action: e.Action, ObjectID: e.ObjectID, Actor: e.Actor, UserID: e.UserID,
			SessionID: e.SessionID, KeyID: e.KeyID,
			RequestID: e.RequestID,
		})
	}
	return d, nil
}

func submissionOf(row store.Submission, counts store.Counts,
	accepted []gate.AcceptedAgreement) (PersonSubmission, error) {
	utm, err := parameters(row.UTM)
	answers, unread := field.Stored(row.Answers)
	return PersonSubmission{
		row.ID, row.GenericLinkID, row.Email, row.Name, answers, api.TimeOf(row.SubmittedAt), utm, row.Referrer,
		row.ConsentText, row.PrivacyURL,
		api.OptionalTime(row.ConsentedAt), accepted, api.OptionalTime(row.VerifiedAt), counts.Views,
		api.OptionalTime(counts.First),
		api.OptionalTime(counts.Last),
	}, errors.Join(err, unread)
}

func linkOf(row store.AccessLink, counts store.Counts) (PersonAccessLink, error) {
	utm, err := parameters(row.UTM)
	return PersonAccessLink{
		row.ID, row.LeadMagnetID, row.GenericLinkID, row.SubmissionID, row.Email, row.Source, utm, row.Referrer,
		row.OpenedCount, counts.Views,
		api.OptionalTime(counts.First), api.OptionalTime(counts.Last), row.MaxViews,
		api.OptionalTime(row.ExpiresAt), row.IsActive,
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
