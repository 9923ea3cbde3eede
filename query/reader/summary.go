package reader

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/query/scope"
)

// Summary is the activity of one person, known by an email address, with an account's lead magnets:
// the access links are Postgres's, the views ClickHouse's, joined by access link. Times are nil
// where nothing happened.
type Summary struct {
	TotalLinks        int64
	TotalViews        int64 // sessions that saw at least one page, without those of bots
	UniqueLeadMagnets int64 // lead magnets with such a view
	FirstLinkCreated  *time.Time
	LastLinkCreated   *time.Time
	FirstAccess       *time.Time // first page of these views
	LastAccess        *time.Time // last page of these views
}

// Summaries makes summaries. It is safe for concurrent use.
type Summaries struct {
	postgres *postgres.Pool
	ch       *scope.ClickHouse
}

// NewSummaries returns Summaries.
func NewSummaries(p *postgres.Pool, ch *scope.ClickHouse) *Summaries { return &Summaries{p, ch} }

// Read returns the summary of an address, without regard to its case, over all the account's lead
// magnets or, if leadMagnet is not nil, over that one. An address that is unknown has an empty
// summary.
func (r *Summaries) Read(ctx context.Context, account uuid.UUID, address email.Address,
	leadMagnet *uuid.UUID) (Summary, error) {
	s, links, err := r.links(ctx, account, address, leadMagnet)
	if err != nil || len(links) == 0 {
		return s, err
	}
	err = r.ch.Query(ctx, account, viewsOfLinks(links), func(row scope.Row) error {
		var views, unique uint64
		var first, last time.Time
		if err := row.Scan(&views, &unique, &first, &last); err != nil {
			return fmt.Errorf("read views: %w", err)
		}
		s.views(int64(views), int64(unique), first, last)
		return nil
	})
	if err != nil {
		return Summary{}, err
	}
	return s, nil
}

// links returns the access links of an address, and a summary of all but their views.
func (r *Summaries) links(ctx context.Context, account uuid.UUID, address email.Address,
	leadMagnet *uuid.UUID) (s Summary, links []uuid.UUID, err error) {
	var row store.LinksOfAddressRow
	err = r.postgres.Account(ctx, account, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).LinksOfAddress(ctx, store.LinksOfAddressParams{AccountID: account,
			EmailKey: address.Key, LeadMagnetID: leadMagnet})
		return err
	})
	if err != nil {
		return Summary{}, nil, fmt.Errorf("read access links of an address: %w", err)
	}
	if links = linkIDs(row.IDs); row.Total > 0 {
		s.TotalLinks, s.FirstLinkCreated, s.LastLinkCreated = row.Total, inUTC(&row.FirstCreated), inUTC(&row.LastCreated)
	}
	return s, links, nil
}

func (s *Summary) views(views, unique int64, first, last time.Time) {
	s.TotalViews, s.UniqueLeadMagnets = views, unique
	if views > 0 {
		s.FirstAccess, s.LastAccess = inUTC(&first), inUTC(&last)
	}
}

func inUTC(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

// linkIDs returns UUIDs that lie one after another.
func linkIDs(bytes []byte) []uuid.UUID {
	all := make([]uuid.UUID, 0, len(bytes)/len(uuid.UUID{}))
	for id := range slices.Chunk(bytes, len(uuid.UUID{})) {
		all = append(all, uuid.UUID(id))
	}
	return all
}

//go:embed summary.sql
var summarySQL string

// viewsOfLinks returns the statement that counts the views of access links, in one row: views, lead
// magnets, first and last page.
func viewsOfLinks(links []uuid.UUID) scope.Statement {
	return scope.Statement{
		Name: "email views", SQL: summarySQL, Params: map[string]string{"access_links": clickhouse.UUIDs(links)},
		// Names what answers, so that nothing else is planned: a millisecond and a half of twenty.
		Projection: "quarters", Alone: true, AtOnce: true,
	}
}
