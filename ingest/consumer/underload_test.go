//go:build long

package consumer

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// rowsOn returns how many of the rows that match a condition are on a shard.
func rowsOn(t *testing.T, shards *enginetest.Shards, i int, where string) (rows uint64) {
	t.Helper()
	require.NoError(t, shards.Conn(t, i).QueryRow(t.Context(), "SELECT count() FROM lodestone.events WHERE "+where).Scan(&rows))
	return rows
}

// load writes events as a collector does, some of them again, until it is stopped.
type load struct {
	partitions atomic.Int32 // that the collector knows of
	wrote      atomic.Int64 // different events
	stop       func() error
}

func (g *grower) load(partitions int32) *load {
	l := &load{}
	l.partitions.Store(partitions)
	ctx, cancel := context.WithCancel(g.t.Context())
	done := make(chan error, 1)
	go func() { done <- l.run(ctx, g) }()
	l.stop = func() error {
		cancel()
		err := <-done
		done <- err
		return err
	}
	g.t.Cleanup(func() { _ = l.stop() })
	return l
}

func (l *load) run(ctx context.Context, g *grower) error {
	const batch = 90
	hash := kafka.NewHash()
	var sent [][]event.Event
	next := time.NewTicker(50 * time.Millisecond) // what the consumer of a busy machine keeps up with
	defer next.Stop()
	for {
		select {
		case <-next.C:
		case <-ctx.Done():
			return nil
		}
		events := g.events(batch)
		n := int(l.partitions.Load())
		records := keyed(hash, n, false, events...)
		if len(sent) > 10 { // a sender repeats a request, and a spool is sent long after another collector got its events
			records = append(records, keyed(hash, n, false, sent[len(sent)-5][:5]...)...)
			records = append(records, keyed(hash, n, true, sent[len(sent)/2][5:10]...)...)
		}
		if err := g.Client.ProduceSync(context.WithoutCancel(ctx), records...).FirstErr(); err != nil {
			return err
		}
		sent = append(sent, events)
		l.wrote.Add(batch)
	}
}

func (l *load) await(t *testing.T, more int64) {
	t.Helper()
	from := l.wrote.Load()
	require.Eventually(t, func() bool { return l.wrote.Load() >= from+more }, waitLimit, 10*time.Millisecond)
}

// An installation with one server gets a second one and doubles its partitions, while events come and a consumer is killed. Afterwards new
// events are spread evenly, and none is lost or stored twice, wherever its repeat went.
func TestAnInstallationSpreadsOverAShardThatIsAdded(t *testing.T) {
	t.Parallel()
	g, shards := newSpreader(t, 4)
	both := shards.Config
	c := g.config()
	c.BlockRows = 5_000
	old := g.events(400)
	kill := g.consumeApart(c)
	g.send(4, false, old...)
	g.awaitAll()
	kill()
	require.Equal(t, map[int32]int32{0: 1, 1: 1, 2: 1, 3: 1}, g.placements())

	g.ClickHouse = both
	kill = g.consumeApart(c)
	g.consumeApart(c)
	l := g.load(4)
	l.await(t, 2_000)
	// The embedded Kafka never misses a member that is killed while it joins.
	require.Eventually(t, func() bool { rows, _ := g.counts(); return rows > 2_000 && g.members() == 2 }, waitLimit, 50*time.Millisecond)
	g.double()
	kill()
	l.await(t, 1_000)
	g.consumeApart(c)
	g.awaitDivided()
	l.await(t, 1_000) // the collector does not know yet
	l.partitions.Store(8)
	l.await(t, 2_000)
	require.NoError(t, l.stop())
	since := time.Now().UnixMilli()
	late := g.events(2_000)
	for i := range late {
		late[i].ReceivedAt = since + time.Hour.Milliseconds()
	}
	g.send(8, false, late...)
	g.send(4, true, old...) // from the spool of a collector that was away all the time
	g.send(8, true, old...)
	g.awaitAll()
	g.awaitAll() // what was passed on
	require.Equal(t, map[int32]int32{0: 1, 1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 2}, g.placements())
	g.requireStored(len(old) + int(l.wrote.Load()) + len(late))
	g.requireDifferent(len(old) + int(l.wrote.Load()) + len(late))
	of := "toUnixTimestamp64Milli(received_at) > " + strconv.FormatInt(since, 10)
	first, second := rowsOn(t, shards, 0, of), rowsOn(t, shards, 1, of)
	require.EqualValues(t, len(late), first+second)
	require.InDelta(t, first, second, float64(len(late))/5, "new events by shard")
}

// requireDifferent fails unless exactly so many different events are stored.
func (r *rig) requireDifferent(want int) {
	r.t.Helper()
	var n uint64
	require.NoError(r.t, enginetest.Open(r.t, r.ClickHouse).QueryRow(r.t.Context(),
		"SELECT uniqExact(event_id) FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}", chParameter("topic", r.TopicID.String())).Scan(&n))
	require.EqualValues(r.t, want, n)
}
