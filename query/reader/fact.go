package reader

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/email"
	"lodestone/pkg/store"
	"lodestone/query/scope"
)

//go:embed source.sql
var sourceSQL string

// TooManyError says that a text fits more access links than a list can be restricted to.
type TooManyError struct{ Max int }

// Error implements error; it completes a sentence that begins with the field's name.
func (e TooManyError) Error() string {
	return fmt.Sprintf("is part of the addresses, names or notes of people with more than %d access links: give more of it", e.Max)
}

// maxLinks is the number of access links that a list is restricted to at most.
const maxLinks = 100_000

// facts runs a function in a transaction of an account: one of its own, or the one that several
// functions share.
type facts func(fn func(tx pgx.Tx) error) error

func (r *Readers) facts(ctx context.Context, account uuid.UUID) facts {
	return func(fn func(tx pgx.Tx) error) error { return r.postgres.Account(ctx, account, fn) }
}

// matching returns the access links of people whose address, name or note has the text in it,
// without regard to case and accents: at most so many.
func matching(ctx context.Context, account uuid.UUID, from facts, text string,
	most int) (links []uuid.UUID, err error) {
	var found []byte
	if err := from(func(tx pgx.Tx) (err error) {
		found, err = store.New(tx).LinksMatching(ctx, store.LinksMatchingParams{
			AccountID: account, Typed: email.Normal(text), Key: email.Key(text), RowLimit: int64(most) + 1,
		})
		return err
	}); err != nil {
		return nil, fmt.Errorf("find access links by a text: %w", err)
	}
	for id := range slices.Chunk(found, len(uuid.UUID{})) {
		links = append(links, uuid.UUID(id))
	}
	if len(links) > most {
		return nil, TooManyError{most}
	}
	return links, nil
}

// complete adds to people who they are, and their sources.
func (r *Readers) complete(ctx context.Context, account uuid.UUID, from facts, people []Person) error {
	if len(people) == 0 {
		return nil
	}
	if err := from(func(tx pgx.Tx) error { return identify(ctx, tx, account, people) }); err != nil {
		return err
	}
	ids := make([]uuid.UUID, len(people))
	for i := range people {
		ids[i] = people[i].ID
	}
	sources, err := r.sources(ctx, account, ids)
	if err != nil {
		return err
	}
	for i := range people {
		people[i].Source = sources[people[i].ID]
	}
	return nil
}

// identify adds to people who they are: by their access links, of which those that were deleted are
// of no one.
func identify(ctx context.Context, tx pgx.Tx, account uuid.UUID, people []Person) error {
	var links []uuid.UUID
	of := map[uuid.UUID]*Person{}
	for i := range people {
		person := &people[i]
		links = append(links, person.AccessLinks...)
		for _, id := range person.AccessLinks {
			of[id] = person
		}
	}
	known, err := store.New(tx).PeopleOfLinks(ctx, store.PeopleOfLinksParams{AccountID: account, IDs: links})
	if err != nil {
		return fmt.Errorf("read who readers are: %w", err)
	}
	for _, k := range known {
		p := of[k.ID]
		p.Email, p.Status, p.Closed = &k.Email, &k.Status, k.Closed
		if k.Name != "" {
			p.Name = &k.Name
		}
	}
	return nil
}

// sources returns where people came from first.
func (r *Readers) sources(ctx context.Context, account uuid.UUID, people []uuid.UUID) (map[uuid.UUID]Source, error) {
	sources := map[uuid.UUID]Source{}
	statement := scope.Statement{Name: "sources of readers", SQL: sourceSQL,
		Params: map[string]string{"people": clickhouse.UUIDs(people)}}
	err := r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		var id uuid.UUID
		var s Source
		if err := row.Scan(&id, &s.UTMSource, &s.UTMMedium, &s.UTMCampaign, &s.UTMContent, &s.UTMTerm,
			&s.ReferrerHost); err != nil {
			return fmt.Errorf("read source of a reader: %w", err)
		}
		sources[id] = s
		return nil
	})
	return sources, err
}

// Titles returns the titles of lead magnets. One that was deleted has none.
func (r *Readers) Titles(ctx context.Context, account uuid.UUID, magnets []uuid.UUID) (map[string]string, error) {
	titles := map[string]string{}
	if len(magnets) == 0 {
		return titles, nil
	}
	var rows []store.TitlesOfLeadMagnetsRow
	if err := r.postgres.Account(ctx, account, func(tx pgx.Tx) (err error) {
		rows, err = store.New(tx).TitlesOfLeadMagnets(ctx, store.TitlesOfLeadMagnetsParams{AccountID: account, IDs: magnets})
		return err
	}); err != nil {
		return nil, fmt.Errorf("read titles of lead magnets: %w", err)
	}
	for _, row := range rows {
		titles[row.ID.String()] = row.Title
	}
	return titles, nil
}
