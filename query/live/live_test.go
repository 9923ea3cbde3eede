package live_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
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
	"lodestone/query/live"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "8") // each takes a dozen statements; the command line may say otherwise
	enginetest.Main(m)
}

// start returns live streams whose reader runs.
func start(t testing.TB, ch *scope.ClickHouse, c live.Config) *live.Live {
	t.Helper()
	return startWith(t, ch, c, prometheus.NewRegistry())
}

func startWith(t testing.TB, ch *scope.ClickHouse, c live.Config, r prometheus.Registerer) *live.Live {
	t.Helper()
	l := live.New(c, live.Deps{ClickHouse: ch, Log: querytest.Log(), Registerer: r, Encode: func(e *eventlist.Event) ([]byte, error) { return json.Marshal(e.ID) }})
	require.NoError(t, l.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, l.Stop(context.Background())) })
	return l
}

var (
	plenty = live.Config{Streams: 1000, StreamsPerAccount: 1000}
	often  = live.Config{Streams: 1000, StreamsPerAccount: 1000, Every: 60 * time.Millisecond}
)

// within ends what does not happen.
func within(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	t.Cleanup(cancel)
	return ctx
}

func listen(t testing.TB, l *live.Live, account uuid.UUID, f eventlist.Filter, after *live.Position) *live.Listener {
	t.Helper()
	li, err := l.Listen(account, f, after)
	require.NoError(t, err)
	require.NoError(t, li.Begin(within(t)))
	return li
}

func position(t testing.TB, text string) *live.Position {
	t.Helper()
	p, err := live.ParsePosition(text)
	require.NoError(t, err, text)
	return &p
}

// take returns the next n messages.
func take(t testing.TB, li *live.Listener, n int) (list []live.Message) {
	t.Helper()
	for len(list) < n {
		messages, err := li.Next(within(t))
		require.NoError(t, err)
		list = append(list, messages...)
	}
	return list
}

func ids(list []live.Message) (ids []uuid.UUID) {
	for _, m := range list {
		ids = append(ids, m.Event.ID)
	}
	return ids
}

// row is an event of an account at a place in the log.
func row(t testing.TB, account, topic uuid.UUID, partition int32, offset int64) querytest.Stored {
	t.Helper()
	now := time.Now().UnixMilli()
	return querytest.Stored{Event: event.Event{
		AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
		Type: event.PageViewed, CreatedAt: now, ReceivedAt: now,
	}, TopicID: topic, Partition: partition, Offset: offset}
}

func TestAListenerSeesWhatItsAccountStores(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty)
	mine, theirs, topic := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	before := []querytest.Stored{row(t, mine, topic, 0, 0), row(t, theirs, topic, 0, 1)}
	before[0].StoredAt, before[1].StoredAt = time.Now().Add(-time.Minute), time.Now().Add(-time.Minute)
	querytest.Store(t, conn, before...)
	first, second, other := listen(t, l, mine, eventlist.Filter{}, nil), listen(t, l, mine, eventlist.Filter{}, nil), listen(t, l, theirs, eventlist.Filter{}, nil)
	defer first.Close()
	defer second.Close()
	defer other.Close()

	stored := []querytest.Stored{row(t, mine, topic, 0, 2), row(t, theirs, topic, 0, 3), row(t, mine, topic, 1, 0), row(t, mine, topic, 0, 4)}
	querytest.Store(t, conn, stored...)
	want := []uuid.UUID{stored[0].EventID, stored[3].EventID, stored[2].EventID}
	require.Equal(t, want, ids(take(t, first, 3)), "in the order of the log, none from before")
	require.Equal(t, want, ids(take(t, second, 3)))
	require.Equal(t, []uuid.UUID{stored[1].EventID}, ids(take(t, other, 1)))

	// An event that fills a gap comes when it is stored.
	gap := row(t, mine, topic, 0, 1)
	querytest.Store(t, conn, gap)
	late := take(t, first, 1)
	require.Equal(t, []uuid.UUID{gap.EventID}, ids(late))
	again := listen(t, l, mine, eventlist.Filter{}, position(t, late[0].ID))
	defer again.Close()
	last := row(t, mine, topic, 0, 5)
	querytest.Store(t, conn, last)
	require.Equal(t, []uuid.UUID{last.EventID}, ids(take(t, again, 1)))
}

// The events of an insert are seen together, although those of two months become visible one after another: an insert
// that runs holds the stream back.
func TestAnInsertThatRunsHoldsTheStreamBack(t *testing.T) {
	t.Parallel()
	ch, l := querytest.Scoped(t), start(t, querytest.Scoped(t), plenty)
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
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT stored_at FROM lodestone.events WHERE account_id = toUUID(?)", account.String()).Scan(&stored))
	require.True(t, before.Before(stored))
	for _, at := range held {
		require.True(t, at.Before(stored), "%v is not before %v", at, stored)
	}
	// Of another account: inserts of other tests may hold the stream back behind the event above.
	other := querytest.ID(t)
	li := listen(t, l, other, eventlist.Filter{}, nil)
	defer li.Close()
	one, two := row(t, other, topic, 0, 0), row(t, other, topic, 0, 1)
	two.CreatedAt -= (40 * 24 * time.Hour).Milliseconds()
	querytest.Store(t, conn, one, two)
	require.Equal(t, []uuid.UUID{one.EventID, two.EventID}, ids(take(t, li, 2)))
}

// Whenever a stream is cut, one that goes on from any message that arrived gets the rest, each event once.
func TestResumingLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	conn, ch := querytest.Conn(t), querytest.Scoped(t)
	readers := []*live.Live{start(t, ch, often), start(t, querytest.Scoped(t), often)} // of two processes
	rapid.Check(t, func(r *rapid.T) {
		account, topics := querytest.ID(t), []uuid.UUID{querytest.ID(t), querytest.ID(t)}
		begin := listen(t, readers[0], account, eventlist.Filter{}, nil)
		id := begin.ID()
		begin.Close()

		// Blocks of several partitions, with gaps of which some are filled later.
		type partition struct {
			topic  uuid.UUID
			number int32
		}
		next, gaps := map[partition]int64{}, map[partition][]int64{}
		var blocks [][]querytest.Stored
		want := map[uuid.UUID]bool{}
		for range rapid.IntRange(1, 5).Draw(r, "blocks") {
			p := partition{rapid.SampledFrom(topics).Draw(r, "topic"), int32(rapid.IntRange(0, 2).Draw(r, "partition"))}
			var block []querytest.Stored
			add := func(offset int64) {
				of := account
				if rapid.IntRange(0, 3).Draw(r, "other") == 0 {
					of = querytest.ID(t)
				}
				e := row(t, of, p.topic, p.number, offset)
				if rapid.Bool().Draw(r, "month before") {
					e.CreatedAt -= (40 * 24 * time.Hour).Milliseconds()
				}
				if of == account {
					want[e.EventID] = true
				}
				block = append(block, e)
			}
			if len(gaps[p]) > 0 && rapid.Bool().Draw(r, "fill") {
				for _, offset := range gaps[p] {
					add(offset)
				}
				delete(gaps, p)
			} else {
				for range rapid.IntRange(1, 12).Draw(r, "rows") {
					if rapid.IntRange(0, 4).Draw(r, "gap") == 0 {
						gaps[p] = append(gaps[p], next[p])
					} else {
						add(next[p])
					}
					next[p]++
				}
			}
			if len(block) > 0 {
				blocks = append(blocks, block)
			}
		}
		var group errgroup.Group
		group.Go(func() error {
			for _, block := range blocks {
				querytest.Store(t, conn, block...)
			}
			return nil
		})
		got := map[uuid.UUID]bool{}
		for len(got) < len(want) {
			li := listen(t, rapid.SampledFrom(readers).Draw(r, "reader"), account, eventlist.Filter{}, position(t, id))
			n := rapid.IntRange(1, min(8, len(want)-len(got))).Draw(r, "messages")
			for _, m := range take(t, li, n)[:n] {
				require.True(r, want[m.Event.ID], "an event of the account")
				require.False(r, got[m.Event.ID], "%v came twice", m.Event.Position)
				got[m.Event.ID], id = true, m.ID
			}
			li.Close()
		}
		require.NoError(r, group.Wait())

		// Nothing is left: the next event is a new one.
		li := listen(t, readers[0], account, eventlist.Filter{}, position(t, id))
		defer li.Close()
		last := row(t, account, topics[0], 9, 0)
		querytest.Store(t, conn, last)
		require.Equal(r, []uuid.UUID{last.EventID}, ids(take(t, li, 1)))
	})
}

func TestLimits(t *testing.T) {
	t.Parallel()
	l := start(t, querytest.Scoped(t), live.Config{Streams: 3, StreamsPerAccount: 2})
	one := querytest.ID(t)
	a, b := listen(t, l, one, eventlist.Filter{}, nil), listen(t, l, one, eventlist.Filter{}, nil)
	_, err := l.Listen(one, eventlist.Filter{}, nil)
	require.ErrorIs(t, err, live.ErrAccount)
	c := listen(t, l, querytest.ID(t), eventlist.Filter{}, nil)
	_, err = l.Listen(querytest.ID(t), eventlist.Filter{}, nil)
	require.ErrorIs(t, err, live.ErrFull)
	a.Close()
	d := listen(t, l, one, eventlist.Filter{}, nil)
	for _, li := range []*live.Listener{b, c, d} {
		li.Close()
	}
}

// A listener that does not read is cut off, and loses nothing by that.
func TestASlowListenerIsCutOff(t *testing.T) {
	t.Parallel()
	conn, l := querytest.Conn(t), start(t, querytest.Scoped(t), plenty)
	account, topic := querytest.ID(t), querytest.ID(t)
	slow := listen(t, l, account, eventlist.Filter{}, nil)
	defer slow.Close()
	const n = 20_000
	stored := make([]querytest.Stored, n)
	for i := range stored {
		stored[i] = row(t, account, topic, 0, int64(i))
	}
	querytest.Store(t, conn, stored...)
	select {
	case <-slow.Done():
	case <-within(t).Done():
		require.Fail(t, "it is not cut off")
	}
	_, err := slow.Next(t.Context())
	require.ErrorIs(t, err, live.ErrSlow)
	again := listen(t, l, account, eventlist.Filter{}, position(t, slow.ID()))
	defer again.Close()
	got := take(t, again, n)
	require.Len(t, got, n)
	for i, m := range got {
		require.Equal(t, stored[i].EventID, m.Event.ID)
	}
}

func TestTheEndOfTheReaderReachesWhoWaits(t *testing.T) {
	t.Parallel()
	l := live.New(plenty, live.Deps{ClickHouse: querytest.Scoped(t), Log: querytest.Log(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, l.Start(t.Context()))
	li := listen(t, l, querytest.ID(t), eventlist.Filter{}, nil)
	defer li.Close()
	require.NoError(t, l.Stop(t.Context()))
	ended, cancel := context.WithCancelCause(t.Context())
	errEnd := errors.New("the end")
	cancel(errEnd)
	_, err := li.Next(ended)
	require.ErrorIs(t, err, errEnd)
}
