package recipient

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/link"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/contact"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const (
	maxAdded = 10_000 // recipients that one import adds
	maxRows  = 20     // of each outcome, in an answer
	lookup   = 1_000  // people who are looked up at a time
)

// Outcome is what becomes of a row of a list.
type Outcome string

// The outcomes. Rows with any but the first add no one.
const (
	Add            Outcome = "added"
	Duplicate      Outcome = "duplicate"
	AlreadyInvited Outcome = "invited"
	OptedOut       Outcome = "unsubscribed"
	Erased         Outcome = "erased"
	Invalid        Outcome = "invalid"
)

// EnumValues implements jsonschema.Enum.
func (Outcome) EnumValues() []string {
	return jsonschema.Values([]Outcome{Add, Duplicate, AlreadyInvited, OptedOut, Erased, Invalid})
}

// Import is what became of a list, or would.
type Import struct {
	DryRun         bool           `json:"dry_run" doc:"Whether nothing was added."`
	Rows           int            `json:"rows" doc:"Rows of the list."`
	Outcomes       map[string]int `json:"outcomes" nullable:"false" doc:"Rows by what became of them: added; duplicate, whose address stands above in the list; invited, who are on the link's list; unsubscribed from the account's mails; erased, whose data the account erased; invalid, without a valid address."`
	Formulas       int            `json:"formulas" doc:"Names that were left out because a spreadsheet may read them as a formula."`
	IgnoredColumns []string       `json:"ignored_columns" nullable:"false" doc:"Columns with addresses that were not read, since another column was: their heads, or their numbers."`
	Details        []ImportRow    `json:"details" nullable:"false" doc:"The first 20 rows with each outcome, in the order of the list."`
}

func newImport(dryRun bool) Import {
	m := Import{DryRun: dryRun, Outcomes: map[string]int{}, IgnoredColumns: []string{}, Details: []ImportRow{}}
	for _, outcome := range Outcome("").EnumValues() {
		m.Outcomes[outcome] = 0
	}
	return m
}

// ImportRow is a row of a list.
type ImportRow struct {
	Line    int     `json:"line" doc:"Where it begins in the list, from 1."`
	Outcome Outcome `json:"outcome" doc:"What became of it."`
	Text    string  `json:"text" doc:"The row, shortened."`
	Email   *string `json:"email" doc:"Address that was read; null for none."`
	Name    *string `json:"name" doc:"Name that was read; null for none."`
	Reason  *string `json:"reason" doc:"What is wrong with an invalid row: the end of a sentence that begins with \"The row\"."`
}

type newRecipient struct {
	Email string  `json:"email" maxLength:"320" doc:"Email address; invalid ones are left out."`
	Name  *string `json:"name" required:"false" maxLength:"200" doc:"Name."`
}

type addInput struct {
	ID     uuid.UUID `path:"id" doc:"Id of the generic link."`
	DryRun bool      `query:"dry_run" default:"false" doc:"Whether to only say what would become of the addresses."`
	Body   struct {
		Recipients []newRecipient `json:"recipients" nullable:"false" minItems:"1" maxItems:"1000" doc:"The recipients."`
	}
}

func (r *Recipients) add(ctx context.Context, in *addInput) (*api.Answer[Import], error) {
	l := list{id: in.ID, account: auth.From(ctx).AccountID, field: "recipients", shown: newImport(in.DryRun)}
	for i, one := range in.Body.Recipients {
		name := ""
		if one.Name != nil {
			name = *one.Name
		}
		row := contact.New(one.Email, name)
		row.Line = i + 1
		l.rows = append(l.rows, row)
	}
	if err := r.take(ctx, &l); err != nil {
		return nil, err
	}
	return api.OK(l.shown), nil
}

type importInput struct {
	ID     uuid.UUID `path:"id" doc:"Id of the generic link."`
	DryRun bool      `query:"dry_run" default:"false" doc:"Whether to only say what would become of the rows."`
}

func (r *Recipients) importFile(w http.ResponseWriter, req *http.Request, in *importInput) error {
	l := list{id: in.ID, account: auth.From(req.Context()).AccountID, field: "file", shown: newImport(in.DryRun)}
	body := http.MaxBytesReader(w, req.Body, maxFile)
	ignored, err := contact.Read(body, func(row contact.Row) error {
		l.rows = append(l.rows, row)
		if len(l.rows) < lookup {
			return nil
		}
		return r.judge(req.Context(), &l)
	})
	if contact.IsRefused(err) {
		return problem.Invalid(problem.Field{Field: l.field, Message: err.Error()})
	}
	if err != nil {
		return fmt.Errorf("import recipients: %w", err)
	}
	l.shown.IgnoredColumns = append(l.shown.IgnoredColumns, ignored...)
	if err := r.take(req.Context(), &l); err != nil {
		return err
	}
	return api.WriteJSON(w, http.StatusOK, nil, l.shown)
}

// list is a list that is being imported.
type list struct {
	id, account uuid.UUID
	field       string // of the request that has it
	rows        []contact.Row
	seen        map[string]bool // addresses
	shown       Import
	fresh       []contact.Row // who is to be added
	people      []uuid.UUID   // their ids
}

// judge says what is to become of the rows that were read since, and forgets those that add no one.
func (r *Recipients) judge(ctx context.Context, l *list) error {
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	ids, known, err := r.know(ctx, l)
	if err != nil {
		return err
	}
	for _, row := range l.rows {
		id := ids[row.Address.Key]
		outcome, p := Add, known[id]
		switch {
		case row.Wrong != "":
			outcome = Invalid
		case l.seen[row.Address.Key]:
			outcome = Duplicate
		case p.Invited:
			outcome = AlreadyInvited
		case p.Unsubscribed:
			outcome = OptedOut
		case p.Erased:
			outcome = Erased
		default:
			l.fresh, l.people = append(l.fresh, row), append(l.people, id)
		}
		l.seen[row.Address.Key] = true
		l.shown.note(row, outcome)
	}
	l.rows = l.rows[:0]
	return nil
}

// know returns the ids of the people in the rows by their addresses, and what is known of them.
func (r *Recipients) know(ctx context.Context, l *list) (ids map[string]uuid.UUID,
	known map[uuid.UUID]store.KnownPeopleRow, err error) {
	var keys []string
	for _, row := range l.rows {
		if row.Wrong == "" {
			keys = append(keys, row.Address.Key)
		}
	}
	ids, known = map[string]uuid.UUID{}, map[uuid.UUID]store.KnownPeopleRow{}
	found, err := store.New(r.deps.Postgres.Unscoped()).PersonIDsOf(ctx,
		store.PersonIDsOfParams{AccountID: l.account, EmailKeys: keys})
	if err != nil {
		return nil, nil, fmt.Errorf("look up people: %w", err)
	}
	people := make([]uuid.UUID, len(found))
	for i, row := range found {
		ids[row.EmailKey], people[i] = row.PersonID, row.PersonID
	}
	err = r.deps.Postgres.AccountSnapshot(ctx, l.account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := link.Get(ctx, tx, l.id); err != nil {
			return err
		}
		rows, err := q.KnownPeople(ctx, store.KnownPeopleParams{GenericLinkID: l.id, PersonIds: people})
		for _, row := range rows {
			known[row.PersonID] = row
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("look up people: %w", err)
	}
	return ids, known, nil
}

// note counts a row, and shows it if it is one of the first with its outcome.
func (m *Import) note(row contact.Row, outcome Outcome) {
	m.Rows++
	m.Outcomes[string(outcome)]++
	if row.Formula {
		m.Formulas++
	}
	if m.Outcomes[string(outcome)] > maxRows {
		return
	}
	shown := ImportRow{Line: row.Line, Outcome: outcome, Text: row.Text}
	if row.Wrong != "" {
		shown.Reason = &row.Wrong
	} else {
		shown.Email = &row.Address.Text
	}
	if row.Name != "" {
		shown.Name = &row.Name
	}
	m.Details = append(m.Details, shown)
}

// take judges the rest of a list, and adds who is to be added, all in one transaction.
func (r *Recipients) take(ctx context.Context, l *list) error {
	if err := r.judge(ctx, l); err != nil {
		return err
	}
	if len(l.fresh) > maxAdded {
		return problem.Invalid(problem.Field{Field: l.field, Message: fmt.Sprintf(
			"adds %d recipients, and one import adds at most %d: split the list", len(l.fresh), maxAdded)})
	}
	if l.shown.DryRun || len(l.fresh) == 0 {
		return nil
	}
	// The newest come first in a list, so the first row of the file is made last.
	slices.Reverse(l.fresh)
	slices.Reverse(l.people)
	p := store.InsertAccessLinksParams{AccountID: l.account, GenericLinkID: &l.id}
	names := make([]string, len(l.fresh))
	for i, row := range l.fresh {
		p.Emails, p.EmailKeys = append(p.Emails, row.Address.Text), append(p.EmailKeys, row.Address.Key)
		names[i] = row.Name
	}
	err := r.deps.Postgres.Account(ctx, l.account, func(tx pgx.Tx) error {
		q := store.New(tx)
		link, err := link.Get(ctx, tx, l.id)
		if err != nil {
			return err
		}
		p.LeadMagnetID = link.LeadMagnetID
		made, err := r.deps.Links.Insert(ctx, tx, p)
		if err != nil {
			return err
		}
		ids := make([]uuid.UUID, len(made))
		for i := range made {
			ids[i] = made[i].ID
		}
		return q.InsertRecipients(ctx, store.InsertRecipientsParams{IDs: ids, AccountID: l.account, GenericLinkID: l.id,
			PersonIds: l.people, Names: names})
	})
	if postgres.IsUniqueViolation(err, "recipients_person") {
		return problem.New(problem.Conflict, "Someone else added recipients of this list just now. Try again.")
	}
	if err != nil {
		return fmt.Errorf("add recipients: %w", err)
	}
	return nil
}
