// Package summary tells what one person, known by an email address, did with an account's lead
// magnets: the access links are Postgres's, the views ClickHouse's, joined by access link.
package summary

import (
	"context"
	_ "embed" // for the statements
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/query/scope"
)

//go:embed links.sql
var linksSQL string

//go:embed views.sql
var viewsSQL string

// Summary is what is known of one email address. Times are nil where nothing happened.
type Summary struct {
	TotalLinks        int64
	TotalViews        int64 // sessions that saw at least one page, without those of bots
	UniqueLeadMagnets int64 // lead magnets with such a view
	FirstLinkCreated  *time.Time
	LastLinkCreated   *time.Time
	FirstAccess       *time.Time // first page of these views
	LastAccess        *time.Time // last page of these views
}

// Reader makes summaries. It is safe for concurrent use.
type Reader struct {
	postgres *postgres.Pool
	door     *scope.ClickHouse
}

// New returns a Reader.
func New(p *postgres.Pool, door *scope.ClickHouse) *Reader { return &Reader{p, door} }

// Read returns the summary of an address, without regard to its case, over all the account's lead
// magnets or, if leadMagnet is not nil, over that one. An address that is unknown has an empty
// summary.
func (r *Reader) Read(ctx context.Context, account uuid.UUID, address email.Address, leadMagnet *uuid.UUID) (Summary, error) {
	var s Summary
	var links []byte
	err := r.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, linksSQL, account, address.Key, leadMagnet).
			Scan(&s.TotalLinks, &s.FirstLinkCreated, &s.LastLinkCreated, &links)
	})
	if err != nil {
		return Summary{}, fmt.Errorf("read access links of an address: %w", err)
	}
	s.FirstLinkCreated, s.LastLinkCreated = inUTC(s.FirstLinkCreated), inUTC(s.LastLinkCreated)
	if len(links) == 0 {
		return s, nil
	}
	err = r.door.Query(ctx, account, Views(ids(links)), func(row scope.Row) error {
		var views, unique uint64
		var first, last time.Time
		if err := row.Scan(&views, &unique, &first, &last); err != nil {
			return fmt.Errorf("read views: %w", err)
		}
		s.TotalViews, s.UniqueLeadMagnets = int64(views), int64(unique)
		if views > 0 {
			s.FirstAccess, s.LastAccess = inUTC(&first), inUTC(&last)
		}
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	return s, nil
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// ids returns UUIDs that lie one after another.
func ids(bytes []byte) []uuid.UUID {
	all := make([]uuid.UUID, 0, len(bytes)/len(uuid.UUID{}))
	for id := range slices.Chunk(bytes, len(uuid.UUID{})) {
		all = append(all, uuid.UUID(id))
	}
	return all
}

// Views returns the statement that counts the views of access links, in one row: views, lead magnets, first and last page. It is
// what a summary asks of ClickHouse, for whoever measures that alone.
func Views(links []uuid.UUID) scope.Statement {
	return scope.Statement{
		Name:   "email views",
		SQL:    viewsSQL,
		Params: map[string]string{"access_links": clickhouse.UUIDs(links)},
		// Names what answers, so that nothing else is planned: a millisecond and a half of twenty.
		Projection: "sessions", Alone: true, AtOnce: true,
	}
}
