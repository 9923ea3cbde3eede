package consumer

import (
	"slices"
	"testing"
	"time"

	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
)

// A worker's way of cutting blocks, against a plain model of the log: however the records arrive,
// and wherever the worker is replaced, the blocks are contiguous, an announced block is built again
// to the row, and every event becomes a row once. The model is a list: a record repeats an event if
// one of the size offsets before has the same event, or, if it is marked as spooled, any record
// before it.
func TestBlocksAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := int64(rapid.IntRange(1, 12).Draw(t, "window"))
		rowsOfABlock, bytesOfABlock := rapid.IntRange(1, 40).Draw(t, "rows of a block"), rapid.SampledFrom([]int{300, 1500, 1 << 20}).Draw(t, "bytes of a block")
		base := event.Event{
			AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), Type: event.PageViewed,
			CreatedAt: 1_795_000_000_000, ReceivedAt: 1_795_000_000_000, Data: []byte("{}"),
		}
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
			offset += int64(rapid.SampledFrom([]int{1, 1, 1, 1, 1, 1, 1, 2, 7, 20}).Draw(t, "step")) // holes as well
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
		end := offset + 1

		var rows []int64
		stored := map[stream.Identity]int64{} // the first offset of each event that has a row
		next, intent := int64(0), int64(stream.NoIntent)
		var announced []int64 // rows of the announced block
		for next < end {
			w := plannedBuilder(next, intent, max(0, next-size), size, rowsOfABlock)
			w.cfg.BlockBytes = bytesOfABlock
			timer := time.NewTimer(time.Hour)
			crash := false
			left := log
			for len(left) > 0 && left[0].Offset < w.read {
				left = left[1:]
			}
			for next < end && !crash {
				if len(left) > 0 { // some more records arrive
					n := min(len(left), rapid.IntRange(1, 7).Draw(t, "arrive"))
					w.queue.push(left[:n])
					left = left[n:]
				}
				full := w.fill(timer) == isFull
				if full { // the builder may look again before the worker takes it
					rows := len(w.block.rows())
					require.Equal(t, isFull, w.fill(timer), "a full block stays full")
					require.Len(t, w.block.rows(), rows)
				}
				if !full && (w.block.empty() || w.intent != stream.NoIntent) {
					continue // an announced block waits for the rest of it, whatever its age
				}
				b := w.block
				require.Equal(t, next, b.first)
				repeats := map[int64]struct{}{} // as dropStoredRepeats finds them
				for _, s := range b.spooled {
					if at, found := stored[s.Identity]; found && at < b.first {
						repeats[s.offset] = struct{}{}
					}
				}
				if len(repeats) > 0 {
					b.drop(repeats)
				}
				offsets := slices.Clone(b.rows())
				if w.intent != stream.NoIntent {
					require.Equal(t, intent, b.last, "an announced block is built exactly so")
					require.True(t, slices.Equal(announced, offsets), "%v %v", announced, offsets)
				}
				switch rapid.IntRange(0, 3).Draw(t, "fate") {
				case 0: // killed after the announcement: another worker builds it again
					next, intent, announced, crash = b.first, b.last, offsets, true
				default:
					rows = append(rows, offsets...)
					for _, offset := range offsets {
						if _, found := stored[events[offset]]; !found {
							stored[events[offset]] = offset
						}
					}
					next, intent = b.last+1, stream.NoIntent
					w.intent = stream.NoIntent
					w.block.release(nil, nil)
					w.block.reset(next)
				}
			}
			timer.Stop()
		}
		require.Equal(t, want, slices.Clone(rows))
	})
}

// While more than a block waits in the log, a block waits for its records: ClickHouse catches up
// sooner with large ones.
func TestABlockGrowsWhileThereIsMuchToCatchUpWith(t *testing.T) {
	t.Parallel()
	f := plannedBuilder(0, stream.NoIntent, 0, 10, 100)
	f.cfg.BlockAge = time.Millisecond
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	e := event.Event{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: 1_795_000_000_000, ReceivedAt: 1_795_000_000_000, Data: []byte("{}"),
	}
	f.queue.push([]*kgo.Record{{Topic: event.Topic, Value: e.Append(nil)}})
	require.Equal(t, needsInput, f.fill(timer))
	f.block.began = time.Now().Add(-time.Second)
	f.end.Store(102)
	require.False(t, f.ofAge(timer), "101 records wait")
	f.end.Store(101)
	require.True(t, f.ofAge(timer), "the block would have room for all that waits")
	f.end.Store(1_000_000)
	f.block.began = time.Now().Add(-behindAge)
	require.True(t, f.ofAge(timer), "but not for ever")
}

// plannedBuilder is all that cuts blocks, and nothing that stores them.
func plannedBuilder(next, intent, fetch, window int64, rows int) *blockBuilder {
	s := stream.Events()
	f := &blockBuilder{
		cfg: Config{BlockRows: rows, BlockBytes: 1 << 20, BlockAge: time.Hour}, log: testLog(),
		metrics: newMetrics(prometheus.NewRegistry(), func() status { return status{} }),
		queue:   newQueue(1<<20, nil, func() {}, func() {}),
		window:  stream.NewWindow(window), decoder: s.Decoder(), block: &block{tables: s.Tables},
		started: next, read: fetch, intent: intent, pace: &pace{},
	}
	f.block.reset(next)
	return f
}
