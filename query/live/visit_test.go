package live_test

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/live"
	"lodestone/query/querytest"
)

// The newest visits are whole, also with events that are older than those of others, and a visit without a session is there as well.
func TestTheNewestVisits(t *testing.T) {
	t.Parallel()
	conn, account, topic := querytest.Conn(t), querytest.ID(t), querytest.ID(t)
	l := start(t, querytest.Scoped(t), plenty)
	link, magnet := querytest.ID(t), querytest.ID(t)
	begin := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	var offset int64
	add := func(session uuid.UUID, kind event.Type, after time.Duration, page uint32, bot string) uuid.UUID {
		e := querytest.Stored{Event: event.Event{
			AccountID: account, LeadMagnetID: magnet, AccessLinkID: link, SessionID: session, EventID: querytest.ID(t), Type: kind, Bot: bot, MagnetVersion: 2,
			Page: page, DurationMS: 1500, CreatedAt: begin.Add(after).UnixMilli(), ReceivedAt: begin.Add(after).UnixMilli(),
		}, TopicID: topic, Offset: offset}
		if kind != event.PageViewed {
			e.DurationMS = 0
		}
		offset++
		querytest.Store(t, conn, e)
		return e.EventID
	}
	old, reading, bot := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	add(old, event.PageViewed, -72*time.Hour, 7, "")
	add(reading, event.PageViewed, -3*time.Hour, 3, "")
	add(bot, event.PageViewed, 0, 1, "")
	add(bot, event.PageViewed, time.Second, 2, "a rule")
	add(reading, event.PageViewed, time.Minute, 1, "")
	add(reading, event.PageViewed, 2*time.Minute, 3, "")
	add(reading, event.DownloadStarted, 3*time.Minute, 0, "")
	add(reading, event.DownloadCompleted, 4*time.Minute, 0, "")
	alone := add(uuid.Nil, event.PageViewed, 5*time.Minute, 9, "")

	visits := func(limit int, since time.Time, known ...uuid.UUID) []live.Visit {
		found, err := l.Visits(t.Context(), account, limit, known, since)
		require.NoError(t, err)
		slices.SortFunc(found, func(a, b live.Visit) int { return cmp.Compare(b.Begun.UnixMilli(), a.Begun.UnixMilli()) })
		return found
	}
	whole := live.Visit{ID: reading, AccessLinkID: link, LeadMagnetID: magnet, Version: 2, Begun: begin.Add(-3 * time.Hour), Pages: []uint32{1, 3}, ReadingMS: 4500, Downloads: 1, Started: 1}
	single := live.Visit{ID: alone, AccessLinkID: link, LeadMagnetID: magnet, Version: 2, Begun: begin.Add(5 * time.Minute), Pages: []uint32{9}, ReadingMS: 1500}
	require.Equal(t, []live.Visit{single, whole}, visits(2, begin))
	require.Equal(t, []live.Visit{
		single,
		{ID: bot, AccessLinkID: link, LeadMagnetID: magnet, Version: 2, Begun: begin, Pages: []uint32{1, 2}, ReadingMS: 3000, Bot: true},
		whole,
	}, visits(3, begin))
	named := visits(1, begin.Add(-72*time.Hour), old)
	require.Len(t, named, 2, "the newest, and the one that is named")
	require.Equal(t, []uint32{7}, named[1].Pages)

	others, err := l.Visits(t.Context(), querytest.ID(t), 20, []uuid.UUID{reading}, begin)
	require.NoError(t, err)
	require.Empty(t, others)
}
