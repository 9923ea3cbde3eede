package consumer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

// commit says that everything below next is done, and announces the block from there up to intent.
// It tries until Kafka has it: a commit whose outcome is unknown may be repeated, since it says the
// same. It reports whether the worker may go on; once another consumer owns the partition Kafka
// refuses every commit, and the client takes the assignment away, which cancels ctx.
func (w *worker) commit(ctx context.Context, next, intent int64) bool {
	ok := w.retry(ctx, "commit", func() error {
		return w.commits.commit(ctx, &commitCall{
			assignment: assignment{w.stream.Topic, w.at.Partition},
			offset:     kgo.EpochOffset{Epoch: w.epoch, Offset: next}, metadata: stream.CommitMetadata(w.at.TopicID, intent),
		})
	})
	w.committed = time.Now()
	if ok && intent == stream.NoIntent {
		w.dirty = false
	}
	return ok
}

// committer sends the commits of one membership. The client sends one request at a time and waits
// for its answer, so the partitions that want to commit meanwhile share the next request: else a
// consumer of hundreds of partitions would store one block an answer.
//
// Exactly once rests on these, which are the same as if each partition had requests of its own:
//   - A worker that commits waits for its own answer. Each partition of a request has one.
//   - A commit of a worker that has been stopped is not sent: it is left out at the last look before the request goes out. One that is
//     under way then may arrive, as its own request might. It is of the member's present generation, so it arrives before the
//     partition has another owner, or is refused.
//   - Commits of a partition keep their order: a request begins after the one before has ended, and has one commit of a partition.
type committer struct {
	cl *kgo.Client

	mu      sync.Mutex
	waiting []*commitCall
	sending bool // a goroutine does
}

// commitCall is the commit of one partition.
type commitCall struct {
	assignment
	offset   kgo.EpochOffset
	metadata string

	ctx  context.Context //nolint:containedctx // of the worker, which other partitions' commits do not wait for
	done chan error      // has the outcome
}

// commit returns when Kafka has the commit, with the reason why it does not, or when ctx ends: then
// its outcome is unknown.
func (c *committer) commit(ctx context.Context, call *commitCall) error {
	call.ctx, call.done = ctx, make(chan error, 1)
	c.mu.Lock()
	c.waiting = append(c.waiting, call)
	if !c.sending {
		c.sending = true
		go c.send()
	}
	c.mu.Unlock()
	select {
	case err := <-call.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("commit offset: %w", context.Cause(ctx))
	}
}

// send sends what waits, until nothing does.
func (c *committer) send() {
	for {
		c.mu.Lock()
		calls := c.next()
		c.sending = len(calls) > 0
		c.mu.Unlock()
		if len(calls) == 0 {
			return
		}
		c.request(calls)
	}
}

// next takes the calls of the next request. Of two of one partition, the second one waits: the
// first is of a worker that was stopped.
func (c *committer) next() []*commitCall {
	var calls, later []*commitCall
	taken := make(map[assignment]struct{}, len(c.waiting))
	for _, call := range c.waiting {
		if _, twice := taken[call.assignment]; twice {
			later = append(later, call)
			continue
		}
		taken[call.assignment] = struct{}{}
		calls = append(calls, call)
	}
	c.waiting = later
	return calls
}

// request sends the calls in one request, and answers each. It gives up when none of their workers
// waits any more.
func (c *committer) request(calls []*commitCall) {
	ctx, giveUp := context.WithCancel(context.Background())
	defer giveUp()
	var left atomic.Int64
	left.Store(int64(len(calls)))
	offsets, of := map[string]map[int32]kgo.EpochOffset{}, make(map[assignment]*commitCall, len(calls))
	stops := make([]func() bool, len(calls))
	for i, call := range calls {
		stops[i] = context.AfterFunc(call.ctx, func() {
			if left.Add(-1) == 0 {
				giveUp()
			}
		})
		of[call.assignment] = call
		if offsets[call.topic] == nil {
			offsets[call.topic] = map[int32]kgo.EpochOffset{}
		}
		offsets[call.topic][call.partition] = call.offset
	}
	c.cl.CommitOffsetsSync(kgo.PreCommitFnContext(ctx, func(req *kmsg.OffsetCommitRequest) error { return announce(req, of) }), offsets,
		func(_ *kgo.Client, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) {
			for _, call := range calls {
				call.done <- commitError(call.assignment, req, resp, err)
			}
		})
	for _, stop := range stops {
		stop()
	}
}

// announce completes a request that is about to go out by what each commit announces. It is the
// last look: a worker that was stopped, or whose topic was recreated, commits nothing.
func announce(req *kmsg.OffsetCommitRequest, of map[assignment]*commitCall) error {
	for i := range req.Topics {
		t := &req.Topics[i]
		t.Partitions = slices.DeleteFunc(t.Partitions, func(p kmsg.OffsetCommitRequestTopicPartition) bool {
			return of[assignment{t.Topic, p.Partition}].ctx.Err() != nil
		})
		for j := range t.Partitions {
			p := &t.Partitions[j]
			p.Metadata = &of[assignment{t.Topic, p.Partition}].metadata
		}
	}
	req.Topics = slices.DeleteFunc(req.Topics, func(t kmsg.OffsetCommitRequestTopic) bool { return len(t.Partitions) == 0 })
	if len(req.Topics) == 0 {
		return context.Canceled
	}
	return nil
}

// commitError returns what kept a partition's commit from being stored, or nil.
func commitError(of assignment, req *kmsg.OffsetCommitRequest, resp *kmsg.OffsetCommitResponse, err error) error {
	if err != nil {
		return fmt.Errorf("commit offset: %w", err)
	}
	names := make(map[[16]byte]string, len(req.Topics)) // from version 10 on, the answer has no names
	for _, t := range req.Topics {
		names[t.TopicID] = t.Topic
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if cmp.Or(t.Topic, names[t.TopicID]) != of.topic || p.Partition != of.partition {
				continue
			}
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return fmt.Errorf("commit offset: %w", err)
			}
			return nil
		}
	}
	return errors.New("commit offset: the answer does not name the partition")
}

// retry calls fn until it succeeds, with growing pauses. It reports false when the worker is to
// end before that.
func (w *worker) retry(ctx context.Context, what string, fn func() error) bool {
	tries := w.backoff()
	before := w.blocked.Load()
	for {
		err := fn()
		if err == nil {
			w.blocked.Store(before) // if it was refused, it is not any more
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if !w.wait(ctx, tries, what, err) {
			return false
		}
	}
}

// longestRetry is the longest pause after a failure, which adds to an outage when that is over;
// refusedRetry is the pause after what only an operator ends.
const (
	longestRetry = 2 * time.Second
	refusedRetry = 5 * time.Second
)

func (w *worker) backoff() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval = 50*time.Millisecond, longestRetry
	return b
}

// wait logs the error and pauses. What ClickHouse itself refuses would be refused again: that
// stands still loudly, and goes on by itself once the cause is fixed. If the log is not the one
// that was stored, the worker ends.
func (w *worker) wait(ctx context.Context, tries *backoff.ExponentialBackOff, what string, err error) bool {
	if differs, ok := errors.AsType[*differsError](err); ok {
		w.halt(differs)
		return false
	}
	pause, refused := tries.NextBackOff(), clickhouse.IsRefusal(err)
	if refused || w.several {
		w.yieldSlots()
	}
	if refused {
		pause = refusedRetry
		w.log.Error("ClickHouse refuses this partition's rows; it stands still until that is fixed", "next_offset", w.next, "error", err)
	} else {
		w.log.Warn("will try again", "step", what, "retry_in", pause.Round(time.Millisecond), "error", err)
	}
	return service.Sleep(ctx, pause) == nil
}

// yieldSlots gives the slots of the partition to others, and takes none until it is stored again:
// it waits for an operator, or for its shard while the others answer. Nothing else sets blocked, so
// the builder always learns of it. A worker never waits for a slot, since all of them may be with
// blocks that wait for their workers.
func (w *worker) yieldSlots() {
	w.blocked.Store(true)
	if w.block != nil {
		w.block.releaseSlot(w.slots)
	}
	w.builder.returnSlot()
}
