//go:build long

package eventlist

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// What statements truly read, by the server's count of rows: of an account's 200,000 events in one
// part, beside as many of others. A granule has 1,024. What goes on to the end, or sorts, reads all
// of the account's.
func TestRowsRead(t *testing.T) {
	t.Parallel()
	ch, account, filled := querytest.Alone(t, 2000, 200_000)
	at := func(hour int) *time.Time {
		t := time.Unix(querytest.Begin+int64(hour)*3600, 0).UTC()
		return &t
	}
	bot := true
	const granule = 1024
	count := func(f Filter) scope.Statement { return countStatement(f, time.Now()) }
	page := func(f Filter, s span) scope.Statement { return pageStatement(f, s, 0, 21) }
	for name, c := range map[string]struct {
		s   scope.Statement
		max uint64
	}{
		"first page": {page(Filter{}, span{}), 4 * granule},
		"cursor page": {page(Filter{}, span{after: &Position{CreatedAt: *at(30), TopicID: uuid.New()}}),
			4 * granule},
		"page of a day":  {page(Filter{From: at(20), To: at(44)}, span{}), 4 * granule},
		"page of a type": {page(Filter{Type: event.DownloadStarted}, span{}), 4 * granule},
		"page of bots":   {page(Filter{Bot: &bot}, span{}), 4 * granule},
		// it has an event in every other granule
		"page of a link":    {page(Filter{AccessLinkID: &filled.Links[7]}, span{}), 60 * granule},
		"page of a magnet":  {page(Filter{LeadMagnetID: &filled.Magnets[3]}, span{}), 8 * granule},
		"count":             {count(Filter{}), granule},
		"count of a time":   {count(Filter{From: at(1), To: at(50)}), 100 * granule}, // the rows of 23 and 2 hours
		"count of a link":   {count(Filter{AccessLinkID: &filled.Links[7]}), 4 * granule},
		"count of a magnet": {count(Filter{LeadMagnetID: &filled.Magnets[3]}), 4 * granule},
		"count of a type":   {count(Filter{Type: event.DownloadStarted}), 4 * granule},
		"page of a link in an hour": {page(Filter{AccessLinkID: &filled.Links[7], From: at(20), To: at(21)}, span{}),
			8 * granule},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows := querytest.RowsRead(t, ch, account, c.s)
			require.LessOrEqual(t, rows, c.max)
			require.Positive(t, rows)
		})
	}
}
