package traffic_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/event"
)

func TestTheSameSeedGivesTheSameEvents(t *testing.T) {
	t.Parallel()
	a, b, other := traffic.New(traffic.Year(7, 1e6)), traffic.New(traffic.Year(7, 1e6)), traffic.New(traffic.Year(8, 1e6))
	var x, y, z event.Event
	for range 20_000 {
		a.Next(&x)
		b.Next(&y)
		other.Next(&z)
		require.Equal(t, x, y)
		require.NotEqual(t, x.EventID, z.EventID)
	}
}

// What other cases rely on, in a year of 200,000 events.
func TestEventsAreLikeReadersMakeThem(t *testing.T) {
	t.Parallel()
	const n = 200_000
	c := traffic.Year(1, n)
	g := traffic.New(c)
	var e event.Event
	var first, last, late int64
	perAccount, perLink, perSession := map[uuid.UUID]int{}, map[uuid.UUID]int{}, map[uuid.UUID]int{}
	magnets, ids, agents := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}, map[string]bool{}
	types := map[event.Type]int{}
	bots, withheld := 0, 0
	for i := range n {
		g.Next(&e)
		require.NoError(t, e.Validate())
		if i == 0 {
			first = e.ReceivedAt
		}
		require.GreaterOrEqual(t, e.ReceivedAt, last, "events come in the order in which they arrive")
		require.Less(t, e.CreatedAt, e.ReceivedAt)
		last = e.ReceivedAt
		if e.ReceivedAt-e.CreatedAt > time.Hour.Milliseconds() {
			late++
		}
		perAccount[e.AccountID]++
		perLink[e.AccessLinkID]++
		perSession[e.SessionID]++
		magnets[e.LeadMagnetID], ids[e.EventID], agents[string(e.UserAgent)] = true, true, true
		types[e.Type]++
		if e.Bot != "" {
			bots++
		}
		if e.IPHash == [16]byte{} {
			withheld++
		}
	}
	require.Len(t, ids, n, "every event has its own id")
	require.GreaterOrEqual(t, first, c.Begin.UnixMilli())
	require.InEpsilon(t, float64(c.Span.Milliseconds()), float64(last-first), 0.12)

	largest := 0
	for _, count := range perAccount {
		largest = max(largest, count)
	}
	require.Equal(t, largest, perAccount[g.Accounts()[0]])
	require.InDelta(t, 0.04, float64(largest)/n, 0.004)
	share := func(count int) float64 { return float64(count) / n }
	require.InDelta(t, 0.92, share(types[event.PageViewed]), 0.06)
	require.Greater(t, share(types[event.DownloadStarted]), 0.005)
	require.Less(t, types[event.DownloadCompleted], types[event.DownloadStarted])
	require.InDelta(t, 0.01, share(bots), 0.009)
	require.InDelta(t, 0.03, share(withheld), 0.02)
	require.InDelta(t, 0.002, share(int(late)), 0.002)
	require.InDelta(t, 10.1, float64(n)/float64(len(perSession)), 1)
	require.InDelta(t, 24, float64(n)/float64(len(perLink)), 12)
	require.Greater(t, len(magnets), 350)
	require.Greater(t, len(agents), 120)
	busiest := 0
	for _, count := range perLink {
		busiest = max(busiest, count)
	}
	require.Greater(t, busiest, 50, "a link that many share")
}

func TestALogCountsByPartition(t *testing.T) {
	t.Parallel()
	g, log, block := traffic.New(traffic.Year(1, 1e6)), traffic.NewLog(uuid.New(), 4), traffic.NewBlock(true)
	next, of := map[int32]int64{}, map[uuid.UUID]int32{}
	var e event.Event
	for range 10_000 {
		g.Next(&e)
		p, offset := log.Place(e.AccessLinkID)
		require.Equal(t, next[p], offset)
		next[p]++
		if before, ok := of[e.AccessLinkID]; ok {
			require.Equal(t, before, p, "a link stays in its partition")
		}
		of[e.AccessLinkID] = p
		block.Append(&e, log.Topic, p, offset)
	}
	require.Len(t, next, 4)
	require.Equal(t, 10_000, block.Rows())
	block.Reset()
	require.Zero(t, block.Rows())
	for _, column := range block.Input() {
		require.Zero(t, column.Data.Rows(), column.Name)
	}
}

func BenchmarkNext(b *testing.B) {
	g := traffic.New(traffic.Year(1, 1e8))
	var e event.Event
	b.ReportAllocs()
	for b.Loop() {
		g.Next(&e)
	}
}

// A stream of 20,000 events a second has some ten thousand sessions open at once.
func BenchmarkNextOfAStream(b *testing.B) {
	g := traffic.New(traffic.Config{Seed: 1, Events: 20_000 * 3600, Begin: time.Date(2026, 11, 1, 0, 0, 0, 0,
		time.UTC), Span: time.Hour})
	var e event.Event
	for range 1_000_000 {
		g.Next(&e)
	}
	b.ReportAllocs()
	for b.Loop() {
		g.Next(&e)
	}
}

func BenchmarkBlock(b *testing.B) {
	g, log, block := traffic.New(traffic.Year(1, 1e8)), traffic.NewLog(uuid.New(), 4), traffic.NewBlock(false)
	var e event.Event
	b.ReportAllocs()
	for b.Loop() {
		if block.Rows() == 100_000 {
			block.Reset()
		}
		g.Next(&e)
		p, offset := log.Place(e.AccessLinkID)
		block.Append(&e, log.Topic, p, offset)
	}
}
