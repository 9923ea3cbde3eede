package consumer

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// planned is all of a partition that reads, and nothing that stores.
type planned struct {
	*partition
	tables *stream.Tables
}

func plannedPartition(next, fetch, window int64) planned {
	s := stream.Events()
	p := &partition{
		log: testLog(), metrics: newMetrics(prometheus.NewRegistry(), func() status { return status{} }),
		queue: newQueue(1<<20, nil, func() {}, func() {}), halt: func(error) {},
	}
	p.fillState = fillState{window: stream.NewWindow(window), decoder: s.Decoder(),
		started: next, covered: next, read: fetch}
	return planned{p, s.Tables}
}

func anEvent() event.Event {
	return event.Event{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(),
		EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: 1_795_000_000_000, ReceivedAt: 1_795_000_000_000, Data: []byte("{}"),
	}
}

// How a partition's records get into batches, against a plain model of the log: however the records
// arrive, and wherever its owner is replaced, the spans are contiguous, and every event becomes a
// row once. The model is a list: a record repeats an event if one of the size offsets before has
// the same event, or, if it is marked as spooled, any record before it.
func TestSpansAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := int64(rapid.IntRange(1, 12).Draw(t, "window"))
		most := rapid.IntRange(1, 40).Draw(t, "rows of a batch")
		base := anEvent()
		ids := make([]uuid.UUID, 5)
		for i := range ids {
			ids[i] = uuid.New()
		}
		var log []*kgo.Record
		var want []int64 // offsets that become rows
		events := map[int64]stream.Identity{}
		last := map[int]int64{}
		offset := int64(-1)
		for range rapid.IntRange(1, 80).Draw(t, "records") {
			// Holes as well.
			offset += int64(rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 1, 2, 7, 20}).Draw(t, "step"))
			r := &kgo.Record{Topic: event.Topic, Offset: offset}
			switch kind := rapid.IntRange(-3, len(ids)-1).Draw(t, "kind"); {
			case kind == -1:
				r.Value = []byte("poison")
			case kind < -1: // an event of its own
				e := base
				e.EventID = uuid.New()
				r.Value = e.Append(nil)
				want = append(want, offset)
			default:
				e := base
				e.EventID = ids[kind]
				events[offset] = stream.Identity{Link: e.AccessLinkID, Event: e.EventID}
				e.Spooled = rapid.Bool().Draw(t, "spooled")
				r.Value = e.Append(nil)
				if at, seen := last[kind]; !seen || offset-at > size && !e.Spooled {
					want = append(want, offset)
				}
				last[kind] = offset
			}
			log = append(log, r)
		}

		var rows []int64
		stored := map[stream.Identity]int64{} // the first offset of each event that has a row
		for next := int64(0); next <= offset; {
			p := plannedPartition(next, max(0, next-size), size)
			left := log
			for len(left) > 0 && left[0].Offset < p.read {
				left = left[1:]
			}
			for into := newBatch(p.tables); next <= offset; {
				if len(left) > 0 { // some more records arrive
					n := min(len(left), rapid.IntRange(1, 7).Draw(t, "arrive"))
					p.queue.push(left[:n])
					left = left[n:]
				}
				isFull := func() bool { return into.rows() >= most }
				if full := p.take(into, isFull); full {
					rows := into.rows()
					require.True(t, p.take(into, isFull), "a full batch stays full")
					require.Equal(t, rows, into.rows())
				} else if into.empty() {
					continue
				}
				s := into.spans[0]
				require.Equal(t, next, s.first)
				require.Less(t, s.last-s.start, size)
				for _, row := range s.spooled { // as dropStoredRepeats does
					if at, found := stored[row.Identity]; found && at < s.first {
						into.keep(func(i int) bool { return into.table.Offsets()[i] != row.offset })
					}
				}
				if rapid.IntRange(0, 3).Draw(t, "fate") == 0 {
					break // another owner reads it again
				}
				if into.table != nil {
					for _, offset := range into.table.Offsets() {
						rows = append(rows, offset)
						if _, found := stored[events[offset]]; !found {
							stored[events[offset]] = offset
						}
					}
				}
				next = s.last + 1
				into.release(nil)
				into = newBatch(p.tables)
			}
		}
		require.Equal(t, want, slices.Clone(rows))
	})
}

// Batches may lose any of their spans, or be split, and what is left is as it was.
func TestABatchWithoutSomeOfItsSpans(t *testing.T) {
	t.Parallel()
	tables := stream.Events().Tables
	b, decoder := newBatch(tables), stream.Events().Decoder()
	e := anEvent()
	for i := range 6 {
		b.spans = append(b.spans, &span{of: &partition{assignment: assignment{event.Topic, int32(i)}}, index: uint16(i)})
	}
	for offset := range int64(10) {
		for i := range uint16(5) { // the last span has no rows
			e.EventID = uuid.New()
			d, err := decoder.Decode(e.Append(nil))
			require.NoError(t, err)
			b.add(decoder, i, stream.Place{Partition: int32(i), Offset: offset}, d)
		}
	}
	requireRows := func(b *batch, partitions ...int32) {
		t.Helper()
		require.Equal(t, partitions, b.partitions())
		require.Equal(t, 10*len(partitions), b.rows())
		for row, index := range b.owner {
			require.Equal(t, b.spans[index].of.partition, b.table.Partitions()[row])
			require.EqualValues(t, row/len(partitions), b.table.Offsets()[row])
		}
	}
	requireRows(b, 0, 1, 2, 3, 4)
	requireRows(b.split(b.spans[2]), 2)
	requireRows(b, 0, 1, 3, 4)
	empty := b.split(b.spans[4])
	require.Zero(t, empty.rows())
	require.Empty(t, empty.partitions())
	b.remove(func(s *span) bool { return s.of.partition == 0 || s.of.partition == 3 })
	requireRows(b, 1, 4)
	b.keep(func(row int) bool { return b.table.Partitions()[row] == 4 })
	require.Equal(t, []int32{4}, b.partitions())
	require.Len(t, b.spans, 2, "a span may have no rows left")
}

// countingPool counts the batches of the log whose memory came back.
type countingPool struct {
	recordPool
	back atomic.Int64
}

func (p *countingPool) PutRecords(used []kgo.Record) {
	p.back.Add(1)
	p.recordPool.PutRecords(used)
}

// The memory of records that became rows is used again, that of a dead letter is not, which is
// written later.
func TestRecordsAreRecycledOnceTheyAreRows(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, event.Topic))
	require.NoError(t, err)
	defer cluster.Close()
	pool := new(countingPool)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...),
		kgo.ConsumeTopics(event.Topic), kgo.WithPools(pool))
	require.NoError(t, err)
	defer client.Close()
	p := plannedPartition(0, 0, 1000)
	into := newBatch(p.tables)
	e := anEvent()
	fill := func(values ...[]byte) {
		for _, value := range values { // a batch of the log each
			require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Value: value}).FirstErr())
			fetches := client.PollFetches(t.Context())
			require.NoError(t, fetches.Err())
			p.queue.push(fetches.Records())
			require.False(t, p.take(into, func() bool { return false }))
		}
	}
	fill(e.Append(nil))
	require.Equal(t, int64(1), pool.back.Load())
	fill([]byte("poison"))
	require.Equal(t, int64(1), pool.back.Load())
	fill(e.Append(nil)) // a repeat
	require.Equal(t, int64(2), pool.back.Load())
	require.Equal(t, "poison", string(into.spans[0].dead[0].record.Value))
	require.Equal(t, []int64{0}, into.table.Offsets())
}
