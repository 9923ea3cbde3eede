package reader

import (
	"context"
	_ "embed" // for the statement
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/query/scope"
)

//go:embed person.sql
var personSQL string

// ErrUnknown says that an account has neither an access link nor events of one.
var ErrUnknown = errors.New("unknown access link")

// Story is all that is known of the person behind an access link.
type Story struct {
	Person                                      // in all their events
	Links        []store.LinksOfReaderRow       // oldest first; none: the access link was deleted
	Submissions  []store.SubmissionsOfReaderRow // that the links were created for, oldest first
	Submission   *store.SubmissionsOfReaderRow  // of the access link that was asked for
	Sessions     []Session                      // newest first
	Truncated    bool                           // there are more sessions, visits or downloads than the story has
	ExcludedBots int64                          // events of bots that were left out
	AsOf         time.Time                      // everything that was stored until then is in the story
}

// Story reads the story of the person behind an access link, or ErrUnknown.
func (r *Readers) Story(ctx context.Context, account, link uuid.UUID) (Story, error) {
	asOf, err := r.settled.AsOf(ctx)
	if err != nil {
		return Story{}, err
	}
	s, err := r.known(ctx, account, link)
	if err != nil {
		return Story{}, err
	}
	ids := []uuid.UUID{link}
	if len(s.Links) > 0 {
		ids = nil
		for i := range s.Links {
			ids = append(ids, s.Links[i].ID)
		}
	}
	person, err := r.person(ctx, account, link)
	if err != nil {
		return Story{}, err
	}
	found := false
	all := span{asOf: asOf.UnixMilli(), rows: 1, links: ids, person: &person}
	if err := r.read(ctx, account, r.facts(ctx, account), Filter{}, all, func(row row) error {
		found, s.Activity, s.ExcludedBots = true, row.Activity, row.bots
		return nil
	}); err != nil {
		return Story{}, err
	}
	if !found && len(s.Links) == 0 {
		return Story{}, ErrUnknown
	}
	s.ID, s.AccessLinks, s.AsOf = person, ids, asOf
	sources, err := r.sources(ctx, account, []uuid.UUID{person})
	if err != nil {
		return Story{}, err
	}
	s.Source = sources[person]
	s.Sessions, s.Truncated, err = r.sessions(ctx, account, ids)
	return s, err
}

// known reads what Postgres has: the access links of the address, and their submissions.
func (r *Readers) known(ctx context.Context, account, link uuid.UUID) (s Story, err error) {
	err = r.postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if s.Links, err = q.LinksOfReader(ctx, store.LinksOfReaderParams{AccountID: account, ID: link}); err != nil {
			return err
		}
		who := []Person{{AccessLinks: []uuid.UUID{link}}}
		if err := identify(ctx, tx, account, who); err != nil {
			return err
		}
		s.Person = who[0]
		var ids []uuid.UUID
		for _, l := range s.Links {
			if l.SubmissionID != nil {
				ids = append(ids, *l.SubmissionID)
			}
		}
		s.Submissions, err = q.SubmissionsOfReader(ctx, store.SubmissionsOfReaderParams{AccountID: account, IDs: ids})
		return err
	})
	if err != nil {
		return Story{}, fmt.Errorf("read access links of a reader: %w", err)
	}
	for i := range s.Links {
		l := &s.Links[i]
		s.Email = &l.Email
		for j := range s.Submissions {
			if l.ID == link && l.SubmissionID != nil && s.Submissions[j].ID == *l.SubmissionID {
				s.Submission = &s.Submissions[j]
			}
		}
	}
	return s, nil
}

// person returns whose access link it is: the link itself stands for a person if it was deleted.
func (r *Readers) person(ctx context.Context, account, link uuid.UUID) (uuid.UUID, error) {
	person := link
	statement := scope.Statement{Name: "person of an access link", SQL: personSQL,
		Params: map[string]string{"access_link": link.String()}}
	err := r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		if err := row.Scan(&person); err != nil {
			return fmt.Errorf("read person: %w", err)
		}
		return nil
	})
	return person, err
}
