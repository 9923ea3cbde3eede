// Package summary tells what one person, known by an email address, did with an account's lead
// magnets: the access links are Postgres's, the views ClickHouse's, joined by access link.
package summary

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/query/scope"
)

// Summary is the summary of one email address. Times are nil where nothing happened.
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
	ch       *scope.ClickHouse
}

// New returns a Reader.
func New(p *postgres.Pool, ch *scope.ClickHouse) *Reader { return &Reader{p, ch} }

// Read returns the summary of an address, without regard to its case, over all the account's lead
// magnets or, if leadMagnet is not nil, over that one. An address that is unknown has an empty
// summary.
func (r *Reader) Read(ctx context.Context, account uuid.UUID, address email.Address, leadMagnet *uuid.UUID) (Summary, error) {
	s, links, err := r.links(ctx, account, address, leadMagnet)
	if err != nil || len(links) == 0 {
		return s, err
	}
	err = r.ch.Query(ctx, account, Views(links), func(row scope.Row) error {
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
func (r *Reader) links(ctx context.Context, account uuid.UUID, address email.Address, leadMagnet *uuid.UUID) (s Summary, links []uuid.UUID, err error) {
	var row store.LinksOfAddressRow
	err = r.postgres.Account(ctx, account, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).LinksOfAddress(ctx, store.LinksOfAddressParams{AccountID: account, EmailKey: address.Key, LeadMagnetID: leadMagnet})
		return err
	})
	if err != nil {
		return Summary{}, nil, fmt.Errorf("read access links of an address: %w", err)
	}
	if links = ids(row.IDs); row.Total > 0 {
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

// ids returns UUIDs that lie one after another.
func ids(bytes []byte) []uuid.UUID {
	all := make([]uuid.UUID, 0, len(bytes)/len(uuid.UUID{}))
	for id := range slices.Chunk(bytes, len(uuid.UUID{})) {
		all = append(all, uuid.UUID(id))
	}
	return all
}
