package reader

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/query/scope"
)

//go:embed presence.sql
var presenceSQL string

// MaxPresent bounds the readers that are listed.
const MaxPresent = 1000

// longestVisit caps the time of a visit to a page: a page that lies open is not read.
const longestVisit = 10 * time.Minute

// Presence tells who reads, of people.
type Presence struct {
	Readers      []PresentReader // the one seen last first
	Total        int64           // readers, also beyond MaxPresent
	ExcludedBots int64           // page views of bots in the same time
}

// PresentReader is a person who visited a page, by the access link that was read last. An event of
// a visit is sent when it ends, so the page is one that was just left.
type PresentReader struct {
	AccessLinkID uuid.UUID
	LeadMagnetID uuid.UUID
	Version      int
	Page         int       // 0: the event named none
	Since        time.Time // first event of the session
	LastSeen     time.Time // end of the visit to the page
	Email        *string   // nil: it was not asked for, or the link was deleted
	Name         *string   // nil: not asked for, or not known
}

// Watcher knows who reads. It is safe for concurrent use.
type Watcher struct {
	postgres *postgres.Pool
	ch       *scope.ClickHouse
}

// NewWatcher returns a Watcher.
func NewWatcher(p *postgres.Pool, ch *scope.ClickHouse) *Watcher { return &Watcher{p, ch} }

// Read returns the readers with a visit to a page that ended at or after a time, with their
// addresses and names if these are asked for.
func (w *Watcher) Read(ctx context.Context, account uuid.UUID, since time.Time, who bool) (Presence, error) {
	var p Presence
	statement := scope.Statement{Name: "readers now", SQL: presenceSQL, OneSnapshot: true, Params: map[string]string{
		"since": strconv.FormatInt(since.UnixMilli(), 10), "longest": strconv.FormatInt(longestVisit.Milliseconds(), 10),
		"limit": strconv.Itoa(MaxPresent),
	}}
	err := w.ch.Query(ctx, account, statement, func(row scope.Row) error {
		var r PresentReader
		var version, page uint32
		var first, seen int64
		if err := row.Scan(&r.AccessLinkID, &r.LeadMagnetID, &version, &page, &first, &seen); err != nil {
			return fmt.Errorf("read reader: %w", err)
		}
		if r.AccessLinkID == uuid.Nil {
			p.Total, p.ExcludedBots = first, seen
			return nil
		}
		r.Version, r.Page, r.Since, r.LastSeen = int(version), int(page),
			time.UnixMilli(first).UTC(), time.UnixMilli(seen).UTC()
		p.Readers = append(p.Readers, r)
		return nil
	})
	if err != nil {
		return Presence{}, err
	}
	if who && len(p.Readers) > 0 {
		err = w.identify(ctx, account, p.Readers)
	}
	return p, err
}

// identify adds who readers are.
func (w *Watcher) identify(ctx context.Context, account uuid.UUID, readers []PresentReader) error {
	people := make([]Person, len(readers))
	for i, r := range readers {
		people[i].AccessLinks = []uuid.UUID{r.AccessLinkID}
	}
	if err := w.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		return identify(ctx, tx, account, people)
	}); err != nil {
		return err
	}
	for i := range people {
		readers[i].Email, readers[i].Name = people[i].Email, people[i].Name
	}
	return nil
}
