package live

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/eventlist"
	"lodestone/query/querytest"
)

// reading returns live streams whose reader is not started.
func reading(t *testing.T) *Live {
	t.Helper()
	return New(Config{Streams: 10, StreamsPerAccount: 10}, Deps{
		ClickHouse: querytest.Scoped(t), Log: querytest.Log(), Registerer: prometheus.NewRegistry(),
		Encode: func(e *eventlist.Event) ([]byte, error) { return json.Marshal(e.ID) },
	})
}

// A reader that began after the newest offset of a partition was stored, and sees only events that filled gaps since, is not behind
// those who have that offset.
func TestAPositionIsNotAheadForLateEvents(t *testing.T) {
	t.Parallel()
	l, conn, account, topic, now := reading(t), querytest.Conn(t), querytest.ID(t), querytest.ID(t), time.Now()
	stored := map[int64]uuid.UUID{}
	store := func(offset int64, at time.Time) {
		stored[offset] = querytest.ID(t)
		querytest.Store(t, conn, querytest.Stored{Event: event.Event{
			AccountID: account, AccessLinkID: querytest.ID(t), EventID: stored[offset], Type: event.PageViewed, CreatedAt: now.UnixMilli(), ReceivedAt: now.UnixMilli(),
		}, TopicID: topic, Offset: offset, StoredAt: at})
	}
	store(100, now.Add(-2*time.Minute))
	store(70, now.Add(-40*time.Second))
	store(50, now.Add(-5*time.Second))
	require.NoError(t, l.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, l.Stop(context.Background())) })
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	defer cancel()

	at := Position{}.until(now.Add(-time.Minute).Truncate(time.Millisecond))
	at = at.passed(at.stored, topic, 0, 100)
	li, err := l.Listen(account, eventlist.Filter{}, &at)
	require.NoError(t, err)
	defer li.Close()
	require.NoError(t, li.Begin(ctx))
	take := func(n int) (got []uuid.UUID) {
		for len(got) < n {
			messages, err := li.Next(ctx)
			require.NoError(t, err)
			for _, m := range messages {
				got = append(got, m.Event.ID)
			}
		}
		return got
	}
	require.Equal(t, []uuid.UUID{stored[70], stored[50]}, take(2))
	store(60, time.Time{}) // the reader sees it for certain
	require.Equal(t, []uuid.UUID{stored[60]}, take(1))

	// Another ClickHouse, restored to what it had before, does not have that offset.
	lost := at.passed(at.stored, topic, 0, 101)
	other, err := l.Listen(account, eventlist.Filter{}, &lost)
	require.NoError(t, err)
	defer other.Close()
	require.ErrorIs(t, other.Begin(ctx), ErrAhead)
}

// An insert can hold the reader back behind a time that another reader had reached before it was seen.
func TestAPositionIsNotAheadWhileAnInsertRuns(t *testing.T) {
	t.Parallel()
	l, conn := reading(t), querytest.Conn(t)
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	defer cancel()
	batch, _ := querytest.BeginInsert(t, conn, "INSERT INTO lodestone.events (account_id, event_type)")
	require.NoError(t, batch.Append(querytest.ID(t), "page_viewed"))
	horizon, now, err := l.ch.Horizon(ctx)
	require.NoError(t, err)
	require.True(t, horizon.Before(now))
	at := Position{}.until(now)
	li, err := l.Listen(querytest.ID(t), eventlist.Filter{}, &at)
	require.NoError(t, err)
	defer li.Close()

	begun := make(chan error, 1)
	go func() { begun <- li.Begin(ctx) }()
	for polls := 0; ; polls++ {
		if polls == aheadPolls+2 {
			require.NoError(t, batch.Send())
		}
		select {
		case <-l.wake:
			_, err := l.poll(ctx)
			require.NoError(t, err)
		case err := <-begun:
			require.NoError(t, err)
			require.Greater(t, polls, aheadPolls+2, "it waits for the end of the insert")
			return
		}
	}
}
