// Package submission is the submissions of generic links: the addresses that their pages captured.
package submission

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/link"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Submission is a submission as the API shows it.
type Submission struct {
	ID            uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	GenericLinkID uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Generic link that it was submitted through."`
	Email         string    `json:"email" doc:"Email address, as typed."`
	Name          Name      `json:"name,omitzero" doc:"Name; only if the link collects names."`
	State         State     `json:"state" doc:"State: the address must be verified first, the document can be read, or the document was read."`
	Verified      bool      `json:"verified" doc:"Whether the address was verified."`
	Viewed        bool      `json:"viewed" doc:"Whether the document was viewed."`
	ViewCount     int64     `json:"view_count" doc:"Views so far."`
	SubmittedAt   api.Time  `json:"submitted_at" doc:"When it was created."`
	FirstViewedAt *api.Time `json:"first_viewed_at" doc:"When the document was first viewed."`
	LastViewedAt  *api.Time `json:"last_viewed_at" doc:"When the document was last viewed."`

	Answers     map[string]string  `json:"answers" nullable:"false" doc:"Answers in the fields of the form, by their keys. A number has a point before its decimals."`
	UTM         *map[string]string `json:"utm" doc:"Parameters of the landing page's URL, such as utm_source; null if there were none."`
	ConsentedAt *api.Time          `json:"consented_at" doc:"When the visitor agreed to the link's consent_text; null if there was none."`

	VerificationEndsAt *api.Time `json:"verification_ends_at" doc:"Until when an address that is not verified can be; null if it is verified or need not be, and from a week after that time on."`

	Agreements []gate.AcceptedAgreement `json:"agreements" nullable:"false" doc:"Agreements that the visitor accepted, oldest first: one for each text that the link has had."`
}

// State is how far a submission is.
type State string

// The states, in their order.
const (
	AwaitingVerification State = "awaiting_verification" // there is no access to the document yet
	Ready                State = "ready"                 // verified, or that was not asked for
	Viewed               State = "viewed"
)

// EnumValues implements jsonschema.Enum.
func (State) EnumValues() []string {
	return jsonschema.Values([]State{AwaitingVerification, Ready, Viewed})
}

func stateOf(row store.Submission, viewed bool) State {
	switch {
	case viewed:
		return Viewed
	case row.VerificationRequired && !row.Verified:
		return AwaitingVerification
	default:
		return Ready
	}
}

// Name is a field that an object has only if names are collected, and that is null if none was
// given. Its zero value is the field that is left out.
type Name struct {
	collected bool
	text      *string
}

// IsZero reports whether the field is left out.
func (n Name) IsZero() bool { return !n.collected }

// MarshalJSON implements json.Marshaler.
func (n Name) MarshalJSON() ([]byte, error) { return json.Marshal(n.text) }

// JSONSchema implements jsonschema.Provider.
func (Name) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return &jsonschema.Schema{Type: jsonschema.String, Nullable: true}
}

// Filter says which submissions are listed or exported.
type Filter struct {
	ID    uuid.UUID  `path:"id" doc:"Id of the generic link."`
	Only  *uuid.UUID `query:"submission_id" doc:"Only the submission with this id."`
	Since *time.Time `query:"since" doc:"Only submissions after this time (ISO 8601)."`
	Until *time.Time `query:"until" doc:"Only submissions before this time (ISO 8601)."`
	Q     *string    `query:"q" maxLength:"254" format:"text" doc:"Only submissions whose address or name contains this text, case-insensitive."`
	State *State     `query:"state" doc:"Only submissions in this state."`

	UTMSource   *string  `query:"utm_source" maxLength:"2048" doc:"Only submissions with this utm_source."`
	UTMCampaign *string  `query:"utm_campaign" maxLength:"2048" doc:"Only submissions with this utm_campaign."`
	Without     []string `query:"without" maxItems:"2" enum:"utm_source,utm_campaign" doc:"Only submissions without this parameter. Repeat it for both."`

	Field []string `query:"field" maxItems:"12" maxLength:"541" pattern:"^[a-z][a-z0-9_]{0,39}:." patternDescription:"the key of a field, a colon and an answer, such as company:Acme" doc:"Only submissions with this answer: the key of a field, a colon and the answer, such as company:Acme, case-insensitive. Repeat it for several fields."`
}

func (f *Filter) check() error {
	if f.Since != nil && f.Until != nil && f.Since.After(*f.Until) {
		return problem.Parameter(problem.Field{Field: "since", Message: "must not be after until"})
	}
	return nil
}

// order is how submissions are listed.
type order string

const (
	newest order = "-submitted_at"
	oldest order = "submitted_at"
)

// EnumValues implements jsonschema.Enum.
func (order) EnumValues() []string { return jsonschema.Values([]order{newest, oldest}) }

type listInput struct {
	Filter
	Sort order `query:"sort" default:"-submitted_at" doc:"The order: newest first (-submitted_at), or oldest first (submitted_at)."`
	api.CursorPaging
}

func (s *Submissions) list(ctx context.Context, in *listInput) (*api.Answer[api.CursorPage[Submission]], error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	chosen, err := in.chosen()
	if err != nil {
		return nil, err
	}
	at, id, err := in.Place(in.Filter, in.Sort)
	if err != nil {
		return nil, err
	}
	var source store.GenericLink
	var total int64
	var list []Submission
	next := ""
	err = s.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if source, err = link.Get(ctx, tx, in.ID); err != nil {
			return err
		}
		if total, err = q.CountSubmissions(ctx, chosen); err != nil || in.Offset() >= total {
			return err
		}
		var rows []store.Submission
		// One more than the page has tells whether another one follows.
		if in.Sort == oldest {
			rows, err = q.ListSubmissionsOldest(ctx, store.ListSubmissionsOldestParams{
				GenericLinkID: chosen.GenericLinkID, SubmissionID: chosen.SubmissionID, Since: chosen.Since, Until: chosen.Until,
				Containing: chosen.Containing, Answers: chosen.Answers,
				State: chosen.State, Source: chosen.Source, Campaign: chosen.Campaign,
				Without: chosen.Without, AfterAt: at, AfterID: id, RowOffset: in.Offset(), RowLimit: in.Limit() + 1,
			})
		} else {
			rows, err = q.ListSubmissions(ctx, newestFirst(chosen, at, id, in.Offset(), in.Limit()+1))
		}
		if err != nil {
			return err
		}
		if int64(len(rows)) > in.Limit() {
			rows = rows[:in.Limit()]
			last := rows[len(rows)-1]
			if next, err = api.NextPlace(last.SubmittedAt, last.ID, in.Filter, in.Sort); err != nil {
				return err
			}
		}
		list, err = show(ctx, q, rows, source.CollectName)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list submissions: %w", err)
	}
	return api.ListCursor(ctx, in.CursorPaging, list, total, next), nil
}

// newestFirst asks for chosen submissions from a place on.
func newestFirst(c store.CountSubmissionsParams, at *time.Time, id *uuid.UUID,
	offset, limit int64) store.ListSubmissionsParams {
	return store.ListSubmissionsParams{
		GenericLinkID: c.GenericLinkID, SubmissionID: c.SubmissionID, Since: c.Since, Until: c.Until,
		Containing: c.Containing, Answers: c.Answers,
		State: c.State, Source: c.Source, Campaign: c.Campaign, Without: c.Without,
		BeforeAt: at, BeforeID: id, RowOffset: offset, RowLimit: limit,
	}
}

// show returns submissions of one link as the API shows them, in their order.
func show(ctx context.Context, q *store.Queries, rows []store.Submission, names bool) ([]Submission, error) {
	counts, err := q.SubmissionCounts(ctx, rows)
	if err != nil {
		return nil, err
	}
	accepted, err := gate.Accepted(ctx, q, rows)
	if err != nil {
		return nil, err
	}
	list := make([]Submission, len(rows))
	waiting := map[uuid.UUID]*Submission{}
	for i, row := range rows {
		if list[i], err = fromRow(row, counts[row.ID], accepted[row.ID], names); err != nil {
			return nil, err
		}
		if row.VerificationRequired && !row.Verified {
			waiting[row.ID] = &list[i]
		}
	}
	if len(waiting) == 0 {
		return list, nil
	}
	ends, err := q.VerificationEnds(ctx, slices.Collect(maps.Keys(waiting)))
	if err != nil {
		return nil, fmt.Errorf("read ends of verifications: %w", err)
	}
	for _, end := range ends {
		waiting[end.SubmissionID].VerificationEndsAt = api.OptionalTime(&end.EndsAt)
	}
	return list, nil
}

func fromRow(row store.Submission, counts store.Counts, accepted []gate.AcceptedAgreement,
	names bool) (Submission, error) {
	s := Submission{
		ID: row.ID, GenericLinkID: row.GenericLinkID, Email: row.Email, Name: Name{names, row.Name},
		State:    stateOf(row, counts.Viewed()),
		Verified: row.Verified, Viewed: counts.Viewed(), ViewCount: counts.Views, SubmittedAt: api.TimeOf(row.SubmittedAt),
		FirstViewedAt: api.OptionalTime(counts.First), LastViewedAt: api.OptionalTime(counts.Last),
		ConsentedAt: api.OptionalTime(row.ConsentedAt), Agreements: accepted,
	}
	var err error
	if s.Answers, err = field.Stored(row.Answers); err != nil {
		return s, fmt.Errorf("submission %s: %w", row.ID, err)
	}
	if row.UTM != nil {
		s.UTM = &map[string]string{}
		if err := json.Unmarshal(row.UTM, s.UTM); err != nil {
			return s, fmt.Errorf("read parameters of submission: %w", err)
		}
	}
	return s, nil
}

// chosen returns the filter as the statements have it.
func (f *Filter) chosen() (store.CountSubmissionsParams, error) {
	answers, err := store.WantedAnswers(f.Field)
	return store.CountSubmissionsParams{
		GenericLinkID: f.ID, SubmissionID: f.Only, Since: f.Since, Until: f.Until, Containing: composed(f.Q),
		Answers: answers, State: (*string)(f.State), Source: f.UTMSource, Campaign: f.UTMCampaign, Without: f.Without,
	}, err
}

// composed returns a text to look for in normal form C, in which addresses are stored.
func composed(text *string) *string {
	if text == nil {
		return nil
	}
	return new(norm.NFC.String(*text))
}
