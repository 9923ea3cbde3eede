package live

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/query/scope"
)

//go:embed visit.sql
var visitSQL string

const (
	// newestEvents is in how many of the newest events the newest visits are looked for, and longestVisit how long before them
	// a visit may have begun.
	newestEvents = 500
	longestVisit = 24 * time.Hour
)

// Visit is an opening of an access link, and what was read in it.
type Visit struct {
	ID           uuid.UUID // of the session; for an event that was sent without one, of the event
	AccessLinkID uuid.UUID
	LeadMagnetID uuid.UUID
	Version      int       // of the document; 0: not known
	Begun        time.Time // first event
	Pages        []uint32  // different pages viewed, in their order
	ReadingMS    int64
	Downloads    int64 // completed
	Started      int64 // downloads that began
	Bot          bool  // at least one event is a bot's
}

// Visits returns the visits of an account that had events last, and those with the ids given, which began at or after since, as far as they
// have events: what a page shows before the stream goes on. They are in no order.
func (l *Live) Visits(ctx context.Context, account uuid.UUID, limit int, known []uuid.UUID, since time.Time) (list []Visit, err error) {
	s := scope.Statement{Name: "newest visits", SQL: visitSQL, OneSnapshot: true, Projection: scope.NoProjection, Params: map[string]string{
		"events": strconv.Itoa(newestEvents), "limit": strconv.Itoa(limit), "known": clickhouse.UUIDs(known),
		"since":   strconv.FormatInt(since.UnixMilli(), 10),
		"longest": strconv.FormatInt(longestVisit.Milliseconds(), 10),
	}}
	err = l.ch.Query(ctx, account, s, func(row scope.Row) error {
		var v Visit
		var version uint32
		var begun int64
		var ms, downloads, started uint64
		var bot uint8
		if err := row.Scan(&v.ID, &v.AccessLinkID, &v.LeadMagnetID, &version, &begun, &v.Pages, &ms, &downloads, &started, &bot); err != nil {
			return fmt.Errorf("read visit: %w", err)
		}
		v.Version, v.Begun, v.ReadingMS, v.Downloads, v.Started, v.Bot = int(version), time.UnixMilli(begun).UTC(), int64(ms), int64(downloads), int64(started), bot == 1
		list = append(list, v)
		return nil
	})
	return list, err
}
