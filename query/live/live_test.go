package live

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/eventlist"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "8") // each takes a dozen statements; the command line may say otherwise
	enginetest.Main(m)
}

var plenty = Config{Streams: 1000, StreamsPerAccount: 1000}

// start returns live streams whose poll runs.
func start(t testing.TB, ch *scope.ClickHouse, c Config, r prometheus.Registerer) *Live {
	t.Helper()
	l := New(c, Deps{ClickHouse: ch, Log: querytest.Log(), Registerer: r})
	require.NoError(t, l.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, l.Stop(context.Background())) })
	return l
}

// within ends what does not happen.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	t.Cleanup(cancel)
	return ctx
}

// listen returns a listener that has begun, and its first id.
func listen(t testing.TB, l *Live, account uuid.UUID, f eventlist.Filter, after time.Time) (*Listener, time.Time) {
	t.Helper()
	li, err := l.Listen(account, f, after)
	require.NoError(t, err)
	first, err := li.Begin(within(t))
	require.NoError(t, err)
	return li, first
}

// take returns the next n messages, or more.
func take(t testing.TB, li *Listener, n int) (list []Message) {
	t.Helper()
	for len(list) < n {
		messages, err := li.Next(within(t))
		require.NoError(t, err)
		list = append(list, messages...)
	}
	return list
}

func ids(list []Message) (ids []uuid.UUID) {
	for _, m := range list {
		ids = append(ids, m.Event.ID)
	}
	return ids
}

// row is an event of an account at a place in the log.
func row(t testing.TB, account, topic uuid.UUID, partition int32, offset int64) querytest.StoredEvent {
	t.Helper()
	now := time.Now().UnixMilli()
	return querytest.StoredEvent{Event: event.Event{
		AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
		Type: event.PageViewed, CreatedAt: now, ReceivedAt: now,
	}, TopicID: topic, Partition: partition, Offset: offset}
}

func TestAListenerSeesWhatItsAccountStores(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty, prometheus.NewRegistry())
	mine, theirs, topic := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	before := []querytest.StoredEvent{row(t, mine, topic, 0, 0), row(t, theirs, topic, 0, 1)}
	before[0].StoredAt, before[1].StoredAt = time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)
	querytest.Store(t, conn, before...)
	listening := func(account uuid.UUID, f eventlist.Filter) *Listener {
		li, _ := listen(t, l, account, f, time.Time{})
		t.Cleanup(li.Close)
		return li
	}
	first, second, other := listening(mine, eventlist.Filter{}), listening(mine, eventlist.Filter{}),
		listening(theirs, eventlist.Filter{})
	downloads := listening(mine, eventlist.Filter{Type: event.DownloadStarted})

	stored := []querytest.StoredEvent{row(t, mine, topic, 0, 2), row(t, theirs, topic, 0, 3),
		row(t, mine, topic, 1, 0), row(t, mine, topic, 0, 4)}
	stored[2].Type = event.DownloadStarted
	querytest.Store(t, conn, stored...)
	want := []uuid.UUID{stored[0].EventID, stored[3].EventID, stored[2].EventID}
	require.Equal(t, want, ids(take(t, first, 3)), "in the order of the log, none from before")
	require.Equal(t, want, ids(take(t, second, 3)))
	require.Equal(t, []uuid.UUID{stored[1].EventID}, ids(take(t, other, 1)))
	require.Equal(t, []uuid.UUID{stored[2].EventID}, ids(take(t, downloads, 1)))

	gap := row(t, mine, topic, 0, 1)
	querytest.Store(t, conn, gap)
	require.Equal(t, []uuid.UUID{gap.EventID}, ids(take(t, first, 1)), "an event that fills a gap comes when it is stored")
}

// Listen does not wait for ClickHouse. Still a listener gets everything that is stored after it,
// whether others listen already or not.
func TestAListenerMissesNothingFromTheStart(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty, prometheus.NewRegistry())
	for n := range 4 {
		account, topic := querytest.ID(t), querytest.ID(t)
		before := row(t, account, topic, 0, 0)
		before.StoredAt = time.Now().Add(-time.Minute)
		querytest.Store(t, conn, before)
		if n == 2 {
			others, _ := listen(t, l, querytest.ID(t), eventlist.Filter{}, time.Time{}) // from here on, the poll never stops
			t.Cleanup(others.Close)
		}
		li, err := l.Listen(account, eventlist.Filter{}, time.Time{})
		require.NoError(t, err)
		stored := []querytest.StoredEvent{row(t, account, topic, 0, 1), row(t, account, topic, 0, 2)}
		querytest.Store(t, conn, stored[0])
		querytest.Store(t, conn, stored[1])
		require.Equal(t, []uuid.UUID{stored[0].EventID, stored[1].EventID}, ids(take(t, li, 2)))
		li.Close()
	}
}

// The events of an insert are seen together, although those of two months become visible one after
// another: an insert that runs holds the stream back.
func TestAnInsertThatRunsHoldsTheStreamBack(t *testing.T) {
	t.Parallel()
	ch, l := querytest.Scoped(t), start(t, querytest.Scoped(t), plenty, prometheus.NewRegistry())
	conn, account, topic := querytest.Conn(t), querytest.ID(t), querytest.ID(t)
	before, _, err := ch.Horizon(t.Context())
	require.NoError(t, err)
	batch, err := conn.PrepareBatch(t.Context(), "INSERT INTO lodestone.events (account_id, event_type)")
	require.NoError(t, err)
	require.NoError(t, batch.Append(account, "page_viewed"))
	var held []time.Time
	for range 3 {
		at, _, err := ch.Horizon(t.Context())
		require.NoError(t, err)
		held = append(held, at)
	}
	require.NoError(t, batch.Send())
	var stored time.Time
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT stored_at FROM lodestone.events WHERE account_id = toUUID(?)",
		account.String()).Scan(&stored))
	require.True(t, before.Before(stored))
	for _, at := range held {
		require.True(t, at.Before(stored), "%v is not before %v", at, stored)
	}
	// Of another account: inserts of other tests may hold the stream back behind the event above.
	other := querytest.ID(t)
	li, _ := listen(t, l, other, eventlist.Filter{}, time.Time{})
	defer li.Close()
	one, two := row(t, other, topic, 0, 0), row(t, other, topic, 0, 1)
	two.CreatedAt -= (40 * 24 * time.Hour).Milliseconds()
	querytest.Store(t, conn, one, two)
	require.Equal(t, []uuid.UUID{one.EventID, two.EventID}, ids(take(t, li, 2)))
}

// Wherever a stream is cut, one of any process that goes on from a message that arrived gets the
// rest: of all shards, in whatever order they are stored, and of no other account.
func TestResumingLosesNothing(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	var lives []*Live
	for range 2 {
		ch, err := scope.Open(shards.Config, querytest.Limits())
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, ch.Close()) })
		lives = append(lives, start(t, ch, plenty, prometheus.NewRegistry()))
	}
	rapid.Check(t, func(r *rapid.T) {
		account, topic := querytest.ID(t), querytest.ID(t)
		begin, id := listen(t, lives[0], account, eventlist.Filter{}, time.Time{})
		defer begin.Close() // so one process gives both what is new, and in the other one each reads

		want := map[uuid.UUID]bool{}
		var blocks [][]querytest.StoredEvent
		offsets := rapid.Permutation([]int64{1, 2, 3, 4, 5, 6}).Draw(r, "offsets")
		for _, offset := range offsets[:rapid.IntRange(1, 6).Draw(r, "blocks")] {
			var block []querytest.StoredEvent
			for n := range rapid.Int64Range(1, 12).Draw(r, "rows") {
				of := account
				if rapid.IntRange(0, 3).Draw(r, "other") == 0 {
					of = querytest.ID(t)
				}
				e := row(t, of, topic, 0, 100*offset+n)
				if rapid.Bool().Draw(r, "month before") {
					e.CreatedAt -= (40 * 24 * time.Hour).Milliseconds()
				}
				if of == account {
					want[e.EventID] = true
				}
				block = append(block, e)
			}
			blocks = append(blocks, block)
		}
		var group errgroup.Group
		group.Go(func() error {
			for i, block := range blocks {
				for n := range block {
					block[n].Partition = int32(i % 2) // a partition is on one shard
				}
				querytest.Store(t, shards.Conn(t, i%2), block...)
			}
			return nil
		})
		got := map[uuid.UUID]bool{}
		for len(got) < len(want) {
			li, _ := listen(t, rapid.SampledFrom(lives).Draw(r, "process"), account, eventlist.Filter{}, id)
			// What it repeats, and something new.
			for known, more := len(got), rapid.IntRange(1, 8).Draw(r, "messages"); len(got) < min(known+more, len(want)); {
				for _, m := range take(t, li, 1) {
					require.True(r, want[m.Event.ID], "an event of the account")
					require.False(r, m.ID.Before(id))
					if got[m.Event.ID], id = true, m.ID; len(got) == known+more {
						break
					}
				}
			}
			li.Close()
		}
		require.NoError(r, group.Wait())
	})
}

// A listener that is far behind reads pages, and its last id is behind all of them.
func TestPages(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty, prometheus.NewRegistry())
	account, topic, long := querytest.ID(t), querytest.ID(t), time.Now().Add(-24*time.Hour)
	stored := make([]querytest.StoredEvent, 2*pageEvents+500)
	for i := range stored {
		stored[i] = row(t, account, topic, 0, int64(i))
		stored[i].StoredAt = long
	}
	querytest.Store(t, conn, stored...)
	li, _ := listen(t, l, account, eventlist.Filter{}, long.Add(-time.Hour))
	got := take(t, li, len(stored))
	li.Close()
	for i, m := range got {
		require.Equal(t, stored[i].EventID, m.Event.ID)
	}
	require.True(t, got[len(got)-2].ID.Before(long), "the rest of its time may be missing")
	last := got[len(got)-1].ID
	require.False(t, last.Before(long.Truncate(time.Millisecond)))

	// A message more does not bring back what lies long before it.
	next := row(t, account, topic, 0, int64(len(stored)))
	querytest.Store(t, conn, next)
	li, first := listen(t, l, account, eventlist.Filter{}, last.Add(scope.ClockSlack))
	defer li.Close()
	require.Equal(t, last.Add(scope.ClockSlack), first, "an id does not go back by itself")
	require.Equal(t, []uuid.UUID{next.EventID}, ids(take(t, li, 1)))
}

// After ClickHouse's clock was set back, what is stored has times that were passed already.
func TestAClockThatIsSetBack(t *testing.T) {
	t.Parallel()
	conn, account := querytest.Conn(t), querytest.ID(t)
	l := New(plenty, Deps{ClickHouse: querytest.Scoped(t), Log: querytest.Log(), Registerer: prometheus.NewRegistry()})
	li, err := l.Listen(account, eventlist.Filter{}, time.Time{})
	require.NoError(t, err)
	defer li.Close()
	require.NoError(t, l.poll(t.Context()))
	_, err = li.Begin(within(t))
	require.NoError(t, err)

	const back = 5 * time.Second
	l.polledTo, l.clock = l.polledTo.Add(back), l.clock.Add(back) // as if it had been ahead
	li.sent = l.polledTo
	e := row(t, account, querytest.ID(t), 0, 0)
	querytest.Store(t, conn, e)
	require.Eventually(t, func() bool { // an insert of another test may hold the horizon back
		require.NoError(t, l.poll(t.Context()))
		return len(li.ready) > 0
	}, enginetest.Timeout, time.Millisecond)
	got := take(t, li, 1)
	require.Equal(t, []uuid.UUID{e.EventID}, ids(got))
	require.True(t, got[0].ID.Before(time.Now().Add(time.Second)), "and ids follow the clock")
}

func TestATimeOfTheFutureIsRefused(t *testing.T) {
	t.Parallel()
	l := start(t, querytest.Scoped(t), plenty, prometheus.NewRegistry())
	_, err := l.Listen(querytest.ID(t), eventlist.Filter{}, time.Now().Add(2*clockAhead))
	require.ErrorIs(t, err, ErrAhead)

	// A little ahead, by the clock of another server: it gets what is new.
	account := querytest.ID(t)
	li, first := listen(t, l, account, eventlist.Filter{}, time.Now().Add(clockAhead/2))
	defer li.Close()
	require.True(t, first.Before(time.Now().Add(time.Second)))
	e := row(t, account, querytest.ID(t), 0, 0)
	querytest.Store(t, querytest.Conn(t), e)
	require.Equal(t, []uuid.UUID{e.EventID}, ids(take(t, li, 1)))
}

func TestMetricsAndLimits(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	l := start(t, querytest.Scoped(t), Config{Streams: 2, StreamsPerAccount: 1}, registry)
	conn, one := querytest.Conn(t), querytest.ID(t)
	li, _ := listen(t, l, one, eventlist.Filter{}, time.Time{})
	other, _ := listen(t, l, querytest.ID(t), eventlist.Filter{}, time.Time{})
	defer other.Close()
	_, err := l.Listen(one, eventlist.Filter{}, time.Time{})
	require.ErrorIs(t, err, ErrAccount)
	_, err = l.Listen(querytest.ID(t), eventlist.Filter{}, time.Time{})
	require.ErrorIs(t, err, ErrFull)
	querytest.Store(t, conn, row(t, one, querytest.ID(t), 0, 0))
	take(t, li, 1)
	values := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		got := map[string]float64{}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				name := []string{f.GetName()}
				for _, label := range m.GetLabel() {
					name = append(name, label.GetValue())
				}
				got[strings.Join(name, " ")] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
		return got
	}
	got := values()
	require.Less(t, got["lodestone_live_lag_seconds"], enginetest.Timeout.Seconds())
	delete(got, "lodestone_live_lag_seconds")
	require.Equal(t, map[string]float64{
		"lodestone_live_streams": 2, "lodestone_live_messages_total": 1, "lodestone_live_errors_total": 0,
		"lodestone_live_refused_total account": 1, "lodestone_live_refused_total process": 1,
	}, got)
	li.Close()
	li.Close() // has no effect
	require.InDelta(t, 1, values()["lodestone_live_streams"], 0)
}
