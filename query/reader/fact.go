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

// TooManyError says that a parameter fits more access links than a list can be restricted to.
type TooManyError struct {
	Parameter string // q, status or field; "": all together
	Max       int
}

// Error implements error; it completes a sentence that begins with the parameter's name.
func (e TooManyError) Error() string {
	switch e.Parameter {
	case "":
		return fmt.Sprintf("asks for people with more than %d access links: ask for less time, or for one lead magnet", e.Max)
	case "status", "field":
		return fmt.Sprintf("fits people with more than %d access links: add q or lead_magnet_id", e.Max)
	}
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

// chosen are the access links that Postgres chooses for a list.
type chosen struct {
	none   bool        // there are none
	links  []uuid.UUID // nil: any
	others []uuid.UUID // that are not chosen: of people whose status differs from the usual one
}

// choose returns the access links of people whose address, name or note has the filter's text in
// it, without regard to case and accents, who have its status, and who gave its answers: at most so
// many. Most people have the usual status, so where nothing else chooses, those of the others are
// returned instead, unless they are more.
func choose(ctx context.Context, account uuid.UUID, from facts, f Filter, most int) (c chosen, err error) {
	asked := store.LinksMatchingParams{AccountID: account, LeadMagnet: f.LeadMagnetID, Status: f.Status,
		Answers: f.Answers, RowLimit: int64(most) + 1}
	parameter := "status"
	switch {
	case f.Text != "":
		asked.Typed, asked.Key, parameter = new(email.Normal(f.Text)), email.Key(f.Text), "q"
	case f.Answers != nil:
		parameter = "field"
	}
	var found, others []byte
	byOthers := false
	if err := from(func(tx pgx.Tx) error {
		q := store.New(tx)
		if f.Status != nil {
			usual, err := q.StatusOfNone(ctx, account)
			if err != nil {
				return err
			}
			asked.Usual = &usual
		}
		if parameter == "status" && *f.Status == *asked.Usual {
			others, err = q.LinksOfOtherStatus(ctx, store.LinksOfOtherStatusParams{AccountID: account,
				LeadMagnet: f.LeadMagnetID, Status: *f.Status, RowLimit: asked.RowLimit})
			if byOthers = len(others) <= most*len(uuid.UUID{}); byOthers || err != nil {
				return err
			}
		}
		found, err = q.LinksMatching(ctx, asked)
		return err
	}); err != nil {
		return c, fmt.Errorf("find access links of people: %w", err)
	}
	if byOthers {
		c.others = append([]uuid.UUID{}, linksOf(others)...)
		return c, nil
	}
	c.links = linksOf(found)
	c.none = len(c.links) == 0
	if len(c.links) > most {
		return c, TooManyError{parameter, most}
	}
	return c, nil
}

// linksOf returns ids of 16 bytes each; nil for none.
func linksOf(found []byte) (links []uuid.UUID) {
	for id := range slices.Chunk(found, len(uuid.UUID{})) {
		links = append(links, uuid.UUID(id))
	}
	return links
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
