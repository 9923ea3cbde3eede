package consumer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lodestone/ingest/stream"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// backlogged is a builder of blocks of 100 rows whose log is long, and whether its fetching is
// paused.
func backlogged() (f *blockBuilder, paused *atomic.Bool) {
	f, paused = plannedBuilder(0, stream.NoIntent, 0, 1000, 100), new(atomic.Bool)
	f.blocked = new(atomic.Bool)
	f.queue = newQueue(1<<20, nil, func() { paused.Store(true) }, func() { paused.Store(false) })
	f.slots = make(chan *slot, 1)
	f.slotWanted = make(chan struct{}, 1)
	f.cfg.BlockAge = time.Second
	f.end.Store(1_000)
	return f, paused
}

// fills runs the builder. Each block that it hands over comes by built; stop returns when it has
// ended.
func (f *blockBuilder) fills(t *testing.T) (built <-chan *block, stop func()) {
	t.Helper()
	free, filled, stopping, done := make(chan *block, 1), make(chan *block), make(chan struct{}), make(chan struct{})
	free <- f.block
	go func() {
		defer close(done)
		f.run(t.Context(), stopping, free, filled)
	}()
	return filled, func() {
		close(stopping)
		<-done
	}
}

func anEvent() event.Event {
	return event.Event{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: 1_795_000_000_000, ReceivedAt: 1_795_000_000_000, Data: []byte("{}"),
	}
}

// pushed lets so many records arrive.
func (f *blockBuilder) pushed(from, n int64) {
	e := anEvent()
	records := make([]*kgo.Record, n)
	for i := range records {
		e.EventID = uuid.New()
		records[i] = &kgo.Record{Topic: event.Topic, Offset: from + int64(i), Value: e.Append(nil)}
	}
	f.queue.push(records)
}

// However many partitions are behind, only those with a slot read for their blocks: so they get
// large within the buffer.
func TestNothingIsFetchedForABlockThatWaitsForASlot(t *testing.T) {
	t.Parallel()
	f, paused := backlogged()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	require.Equal(t, needsSlot, f.fill(timer))
	require.True(t, paused.Load())
	f.block.slot = new(slot)
	require.Equal(t, needsInput, f.fill(timer))
	require.False(t, paused.Load())
	f.pushed(0, 85)
	require.Equal(t, isFull, f.fill(timer), "nearly full: more would be fetched for the block after it, which has no slot")
	require.True(t, paused.Load())
	require.Len(t, f.block.rows(), 85)
}

// A partition that is hardly behind needs no slot for a small block.
func TestASmallBlockNeedsNoSlot(t *testing.T) {
	t.Parallel()
	f, paused := backlogged()
	f.end.Store(5)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	f.pushed(0, 5)
	require.Equal(t, needsInput, f.fill(timer))
	require.False(t, paused.Load())
	require.Len(t, f.block.rows(), 5)
}

// No record comes for a block with a slot, since a broker is away: other blocks get the slot.
func TestASlotWithoutRecordsIsReturned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, paused := backlogged()
		f.slots <- new(slot)
		_, stop := f.fills(t)
		synctest.Wait()
		require.Empty(t, f.slots)
		<-time.After(f.cfg.BlockAge)
		synctest.Wait()
		require.Len(t, f.slots, 1)
		require.False(t, paused.Load(), "it asks for the next slot when it has a record")
		f.pushed(0, 1)
		synctest.Wait()
		require.Empty(t, f.slots)
		stop()
		f.drop()
		require.Len(t, f.slots, 1)
	})
}

// At the end of a log that it had to catch up with, a block has waited for long enough.
func TestTheLastOfABacklogDoesNotWaitForItsAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := backlogged()
		f.end.Store(40)
		f.slots <- new(slot)
		built, stop := f.fills(t)
		f.pushed(0, 40)
		begin := time.Now()
		b := <-built
		require.Len(t, b.rows(), 40)
		require.Zero(t, time.Since(begin))
		stop()
	})
}

// A worker that takes an announced block later than the block's age would wait for a record after
// it, and so its readers.
func TestAnAnnouncedBlockWaitsForItsWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := plannedBuilder(50, 99, 0, 1000, 100)
		f.blocked = new(atomic.Bool)
		f.cfg.BlockAge = time.Second
		f.pushed(0, 100)
		built, stop := f.fills(t)
		synctest.Wait()
		<-time.After(2 * f.cfg.BlockAge)
		synctest.Wait()
		select {
		case b := <-built:
			require.Len(t, b.rows(), 50)
		default:
			require.Fail(t, "no block is offered")
		}
		stop()
	})
}

// ClickHouse refuses a question about the block before, while the builder pauses the fetching to
// wait for a slot.
func TestABuilderThatWaitsForASlotGoesOnWhenItsPartitionIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, paused := backlogged()
		w := &worker{log: testLog(), builder: f, slots: f.slots}
		f.blocked = &w.blocked
		pausing := make(chan struct{})
		f.queue.pause = func() {
			paused.Store(true)
			close(pausing)
			<-time.After(time.Millisecond) // until the worker has its answer
		}
		f.end.Store(0)
		_, stop := f.fills(t)
		<-time.After(2 * f.cfg.BlockAge) // no timer wakes the builder from here on
		f.end.Store(1_000)
		f.pushed(0, 0)
		<-pausing
		refused := true
		require.True(t, w.retry(t.Context(), "ask", func() error {
			if refused {
				refused = false
				return &ch.Exception{Code: proto.ErrAccessDenied}
			}
			return nil
		}))
		synctest.Wait()
		require.False(t, paused.Load())
		stop()
	})
}

// answer answers the commit that waits.
func (c *committer) answer(err error) {
	c.mu.Lock()
	calls := c.next()
	c.mu.Unlock()
	for _, call := range calls {
		call.done <- err
	}
}

// The partition that has the slot by then may be of another shard: rows over its connection would
// be stored there.
func TestABlockThatLostItsSlotIsNotInsertedOverTheSlotsConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, _ := backlogged()
		called := make(chan string, 1)
		dials := func(whose string) dialer {
			return func(context.Context) (*ch.Client, error) {
				called <- whose
				return nil, errors.New("the shard is away")
			}
		}
		w := &worker{
			stream: stream.Events(), cfg: Config{InsertTimeout: time.Minute}, log: testLog(), metrics: f.metrics, builder: f, slots: f.slots,
			store:   &stream.Store{Stream: stream.Events(), Connection: stream.Connection{Log: testLog(), Dial: dials("store")}},
			several: true, route: route{shard: 1}, maybeStored: -1,
			commits: &committer{sending: true}, // the test answers in its place
			block:   &block{last: 9, slot: new(slot)},
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan bool)
		go func() { done <- w.insert(ctx) }()
		synctest.Wait()
		w.commits.answer(errors.New("a broker is away"))
		taken := <-f.slots
		taken.to(route{shard: 2, dial: dials("slot")})
		<-time.After(longestRetry)
		synctest.Wait()
		w.commits.answer(nil)
		require.Equal(t, "store", <-called)
		cancel()
		require.False(t, <-done)
	})
}

// countingPool counts the batches whose memory came back.
type countingPool struct {
	recordPool
	back atomic.Int64
}

func (p *countingPool) PutRecords(used []kgo.Record) {
	p.back.Add(1)
	p.recordPool.PutRecords(used)
}

// The memory of a batch whose records became rows is used again, that of one with a dead letter is
// not, which is written later.
func TestRecordsAreRecycledOnceTheyAreRows(t *testing.T) {
	t.Parallel()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, event.Topic))
	require.NoError(t, err)
	defer cluster.Close()
	pool := new(countingPool)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics(event.Topic), kgo.WithPools(pool))
	require.NoError(t, err)
	defer client.Close()
	f, _ := backlogged()
	f.end.Store(0)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	e := anEvent()
	fill := func(values ...[]byte) {
		for _, value := range values { // a batch each
			require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Value: value}).FirstErr())
			fetches := client.PollFetches(t.Context())
			require.NoError(t, fetches.Err())
			f.queue.push(fetches.Records())
			require.Equal(t, needsInput, f.fill(timer))
		}
	}
	fill(e.Append(nil))
	require.Equal(t, int64(1), pool.back.Load())
	fill([]byte("poison"))
	require.Equal(t, int64(1), pool.back.Load())
	fill(e.Append(nil)) // a repeat
	require.Equal(t, int64(2), pool.back.Load())
	require.Equal(t, "poison", string(f.block.dead[0].record.Value))
	require.Equal(t, []int64{0}, f.block.rows())
}
