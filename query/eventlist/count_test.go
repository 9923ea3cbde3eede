package eventlist

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// The driver gives a day as midnight in the server's time zone.
func TestADateIsItsDay(t *testing.T) {
	t.Parallel()
	want := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, hours := range []int{-11, 0, 1, 14} {
		require.Equal(t, want, dateOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.FixedZone("", hours*3600))))
	}
}

// The pieces of a period by day are disjoint and make it up, and no piece of whole days has a part
// of one.
func TestPiecesByDayMakeUpThePeriod(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	hours := []int{0, 1, 23, 24, 25, 47, 48, 49, 71, 72, 73}
	for _, first := range hours {
		for _, last := range hours {
			from, to := begin.Add(time.Duration(first)*time.Hour), begin.Add(time.Duration(last)*time.Hour)
			p := piece{created: period{&from, &to}}
			if p.created.isEmpty() {
				continue
			}
			var length time.Duration
			for _, part := range p.byDay() {
				require.False(t, part.created.isEmpty())
				require.False(t, part.created.from.Before(from) || part.created.to.After(to))
				length += part.created.to.Sub(*part.created.from)
				if part.days {
					require.Equal(t, *part.created.from, part.created.from.Truncate(dayLength))
					require.Equal(t, *part.created.to, part.created.to.Truncate(dayLength))
				}
			}
			require.Equal(t, to.Sub(from), length, "%v to %v", from, to)
		}
	}
	require.Equal(t, []piece{{days: true}}, piece{}.byDay(), "all of the time is of whole days")
}

// An event that was counted, and deleted before its day was read, does not end the page.
func TestPageGoesOnBehindDeletedEvents(t *testing.T) {
	t.Parallel()
	account, day0 := querytest.ID(t), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	stored := querytest.StoredEvent{
		Event: event.Event{
			AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
			Type: event.PageViewed, CreatedAt: day0.UnixMilli(), ReceivedAt: day0.UnixMilli(),
		},
		TopicID: uuid.New(),
	}
	querytest.Store(t, querytest.Conn(t), stored)
	deleted := []day{{start: day0.AddDate(0, 0, 9), events: 2}, {start: day0.AddDate(0, 0, 8), events: 1}}
	lister := New(querytest.Scoped(t))
	page, err := lister.further(context.Background(), account, Filter{}, nil,
		append(deleted, day{start: day0, events: 1}), 1)
	require.NoError(t, err)
	require.Equal(t, []uuid.UUID{stored.EventID}, ids(page))
	page, err = lister.further(context.Background(), account, Filter{}, nil, deleted, 3)
	require.NoError(t, err)
	require.Empty(t, page)
}
