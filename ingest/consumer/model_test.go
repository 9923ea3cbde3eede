package consumer

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// model is a Kafka, a ClickHouse and some consumers. Only the consumers are the real code. Both
// engines do the worst that they may, by the clock of the test.
type model struct {
	mu      sync.Mutex
	rnd     *rand.Rand
	calm    bool // nothing fails any more
	topicID uuid.UUID

	log     [][]*kgo.Record // by partition
	owner   []*modelMember  // by partition
	commits []modelCommit   // by partition

	ahead   time.Duration // of the server's clock
	stored  map[stream.Place]int
	refuses map[stream.Place]bool // whose rows a constraint refuses
	running map[*modelInsert]struct{}
	arrived sync.WaitGroup
	members int
	history []string // what happened, for whoever reads of a failure
}

// notef adds to the history. The caller has the lock.
func (m *model) notef(format string, args ...any) {
	m.history = append(m.history, time.Now().UTC().Format("04:05.000 ")+fmt.Sprintf(format, args...))
}

type modelCommit struct {
	next     int64
	metadata string
}

// modelInsert is an insert that the server works on.
type modelInsert struct {
	places     []stream.Place
	partitions []int32
	ended      chan struct{} // closed once it is over
	err        error
}

// modelMember is a consumer.
type modelMember struct {
	m       *model
	number  int
	batcher *batcher
	cancel  context.CancelFunc
	done    sync.WaitGroup
	dead    bool
	stopped chan struct{} // closed when it goes on; nil: it runs
	owned   map[int32]*partition
	before  []*partition // that it had, or has
}

var errAway = errors.New("the connection was lost")

func (m *model) chance(percent int) bool { return !m.calm && m.rnd.IntN(100) < percent }

func (m *model) upTo(d time.Duration) time.Duration { return time.Duration(m.rnd.Int64N(int64(d))) }

// enter waits while the process is stopped, and returns with the lock.
func (c *modelMember) enter() error {
	for {
		c.m.mu.Lock()
		stopped := c.stopped
		switch {
		case c.dead:
			c.m.mu.Unlock()
			return errAway
		case stopped == nil:
			return nil
		}
		c.m.mu.Unlock()
		<-stopped
	}
}

func (c *modelMember) commit(_ context.Context, commits []commit) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.m.mu.Unlock()
	if c.m.chance(10) {
		return errAway
	}
	var err error
	for _, o := range commits {
		if o.of.givenBack.Load() || c.m.owner[o.of.partition] != c {
			err = errors.New("not of this generation")
			continue
		}
		c.m.commits[o.of.partition] = modelCommit{o.next, o.announced.String()}
		c.m.notef("consumer %d commits %d of partition %d, announces up to %d until %v", c.number, o.next, o.of.partition,
			o.announced.Last, o.announced.Before.UTC())
	}
	if c.m.chance(10) {
		return errAway // the answer is lost
	}
	return err
}

func (c *modelMember) Now(context.Context) (time.Time, error) {
	if err := c.enter(); err != nil {
		return time.Time{}, err
	}
	defer c.m.mu.Unlock()
	if c.m.chance(5) {
		return time.Time{}, errAway
	}
	return time.Now().Add(c.m.ahead), nil
}

func (c *modelMember) Before(ctx context.Context, after time.Duration) (time.Time, error) {
	now, err := c.Now(ctx)
	return now.Add(after), err
}

func (c *modelMember) Insert(ctx context.Context, rows stream.Table, partitions []int32, before time.Time) error {
	if err := c.enter(); err != nil {
		return err
	}
	i := &modelInsert{partitions: partitions, ended: make(chan struct{})}
	for row, offset := range rows.Offsets() {
		i.places = append(i.places, stream.Place{Partition: rows.Partitions()[row], Offset: offset})
	}
	fate := c.m.rnd.IntN(12)
	if c.m.calm {
		fate = 0
	}
	late, long := c.m.upTo(20*time.Second), c.m.upTo(20*time.Second)
	c.m.notef("consumer %d inserts %v, fate %d, late %v, long %v", c.number, i, fate, late, long)
	c.m.mu.Unlock()
	switch fate {
	case 0, 1, 2, 3, 4:
		c.m.arrive(i, 0, 10*time.Millisecond, before)
	case 5:
		return errors.Join(stream.ErrNotSent, errAway)
	case 6:
		return errAway
	case 7, 8: // on its way when the connection is lost
		c.m.arrive(i, late, 10*time.Millisecond, before)
		return errAway
	case 9: // the connection is lost while it runs
		c.m.arrive(i, 0, long, before)
		return errAway
	default: // it takes long
		c.m.arrive(i, 0, long, before)
	}
	select {
	case <-i.ended:
		return i.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// arrive has the server get the insert after a while, and store it a while later.
func (m *model) arrive(i *modelInsert, after, takes time.Duration, before time.Time) {
	m.arrived.Go(func() {
		<-time.After(after)
		m.mu.Lock()
		if !time.Now().Add(m.ahead).Before(before) {
			i.end(&ch.Exception{Code: 395, Message: "too late"})
			m.mu.Unlock()
			return
		}
		if slices.ContainsFunc(i.places, func(at stream.Place) bool { return m.refuses[at] }) {
			i.end(&ch.Exception{Code: proto.ErrViolatedConstraint})
			m.mu.Unlock()
			return
		}
		m.running[i] = struct{}{}
		m.mu.Unlock()
		<-time.After(takes)
		m.mu.Lock()
		defer m.mu.Unlock()
		if _, runs := m.running[i]; !runs {
			return // it was ended
		}
		if m.chance(15) {
			m.storePart(i)
			i.end(&ch.Exception{Code: 241, Message: "memory limit"})
		} else {
			for _, at := range i.places {
				m.stored[at]++
			}
			m.notef("stored %v", i)
			i.end(nil)
		}
		delete(m.running, i)
	})
}

func (i *modelInsert) String() string {
	return fmt.Sprintf("partition %d offset %d to partition %d offset %d", i.places[0].Partition, i.places[0].Offset,
		i.places[len(i.places)-1].Partition, i.places[len(i.places)-1].Offset)
}

func (i *modelInsert) end(err error) {
	i.err = err
	close(i.ended)
}

// storePart stores some of the parts of an insert, as of several months.
func (m *model) storePart(i *modelInsert) {
	part := m.rnd.Int64N(3)
	m.notef("stored part %d of %v", part, i)
	for _, at := range i.places {
		if at.Offset%2 == part {
			m.stored[at]++
		}
	}
}

func (c *modelMember) EndInserts(_ context.Context, partitions []int32) error {
	if err := c.enter(); err != nil {
		return err
	}
	defer c.m.mu.Unlock()
	for i := range c.m.running {
		if slices.ContainsFunc(i.partitions, func(p int32) bool { return slices.Contains(partitions, p) }) {
			c.m.storePart(i)
			i.end(&ch.Exception{Code: 394, Message: "cancelled"})
			delete(c.m.running, i)
		}
	}
	if c.m.chance(5) {
		return errAway
	}
	return nil
}

func (c *modelMember) Stored(_ context.Context, spans []stream.Span) (map[int32]*stream.Offsets, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.m.mu.Unlock()
	if c.m.chance(5) {
		return nil, errAway
	}
	found := map[int32]*stream.Offsets{}
	for _, s := range spans {
		found[s.Partition] = stream.NewOffsets(s.First, s.Last)
		for offset := s.First; offset <= s.Last; offset++ {
			if c.m.stored[stream.Place{Partition: s.Partition, Offset: offset}] > 0 {
				found[s.Partition].Add(offset)
			}
		}
	}
	return found, nil
}

func (c *modelMember) Last(_ context.Context, spans []stream.Span) (map[int32]int64, error) {
	if err := c.enter(); err != nil {
		return nil, err
	}
	defer c.m.mu.Unlock()
	if c.m.chance(5) {
		return nil, errAway
	}
	found := map[int32]int64{}
	for at := range c.m.stored {
		for _, s := range spans {
			if last, known := found[s.Partition]; at.Partition == s.Partition && at.Offset >= s.First &&
				(!known || at.Offset > last) {
				found[s.Partition] = at.Offset
			}
		}
	}
	return found, nil
}

func (c *modelMember) Same(_ context.Context, _ stream.Table, which []int) (map[int]struct{}, error) {
	same := map[int]struct{}{}
	for _, row := range which {
		same[row] = struct{}{}
	}
	return same, nil
}

func (c *modelMember) Newest(context.Context, []stream.Span) (map[stream.Place]stream.Identity, error) {
	return nil, nil
}

func (c *modelMember) StoredBefore(context.Context, []stream.Candidate,
	time.Duration) (map[stream.Identity]struct{}, error) {
	return nil, nil
}

func (c *modelMember) Probe(context.Context) error { return nil }

func (c *modelMember) Close() {}

var modelConfig = Config{
	BatchRows: 8, BatchBytes: 1 << 20, BatchAge: 500 * time.Millisecond, QueueBytes: 1 << 20, BufferBytes: 64 << 20,
	InsertTimeout: 8 * time.Second, ReleaseTimeout: 3 * time.Second, RebalanceTimeout: 20 * time.Second,
}

// join starts a consumer.
func (m *model) join() *modelMember {
	ctx, cancel := context.WithCancel(context.Background())
	m.mu.Lock()
	m.members++
	c := &modelMember{m: m, number: m.members, cancel: cancel, owned: map[int32]*partition{}}
	m.mu.Unlock()
	c.batcher = &batcher{
		retrier: retrier{log: quiet}, cfg: modelConfig, stream: stream.Events(), metrics: newMetrics(prometheus.NewRegistry(),
			func() status { return status{} }),
		buffer: &buffer{max: 64 << 20}, group: c, table: c,
		ready: make(chan struct{}, 1), filled: make(chan *batch),
		settling: make(chan []*partition), ended: make(chan struct{}),
		dirty: map[*partition]struct{}{}, aside: map[*partition]struct{}{},
	}
	c.done.Go(func() { c.batcher.run(ctx) })
	return c
}

// kill ends a consumer where it is.
func (c *modelMember) kill() {
	c.m.mu.Lock()
	c.dead = true
	c.goOn()
	c.m.mu.Unlock()
	for _, p := range c.before {
		p.givenBack.Store(true)
	}
	c.cancel()
	c.done.Wait()
}

// goOn ends a stop. The caller has the lock.
func (c *modelMember) goOn() {
	if c.stopped != nil {
		close(c.stopped)
		c.stopped = nil
	}
}

// assign gives a partition to a consumer. No other can commit it any more.
func (c *modelMember) assign(number int32) {
	m := c.m
	m.mu.Lock()
	m.owner[number] = c
	m.notef("consumer %d gets partition %d", c.number, number)
	committed, records := m.commits[number], slices.Clone(m.log[number])
	m.mu.Unlock()
	s := stream.Events()
	p := &partition{
		assignment: assignment{event.Topic, number}, place: stream.Place{TopicID: m.topicID, Partition: number},
		log: quiet, metrics: c.batcher.metrics,
		buffer: c.batcher.buffer, queue: newQueue(1<<20, c.batcher.buffer, func() {}, func() {}), halt: func(error) {},
		settled: make(chan struct{}),
	}
	p.fillState = fillState{window: stream.NewWindow(stream.RepeatWindow), decoder: s.Decoder(),
		started: committed.next, covered: committed.next}
	p.storeState = storeState{next: committed.next}
	at := position{topicID: m.topicID, next: committed.next}
	if a, known := stream.ParseCommit(committed.metadata); known && a.Last != stream.NoIntent {
		at.insertsUntil = a.Before
	}
	for _, old := range c.before {
		if old.partition == number {
			c.lose(old) // its client does not hand out another assignment before
		}
	}
	c.owned[number], c.before = p, append(c.before, p)
	p.queue.push(records)
	t := takeover{batcher: c.batcher, table: c, partitions: map[*partition]position{p: at},
		ends: func(context.Context) (map[int32]kafka.Range, error) {
			return map[int32]kafka.Range{number: {To: 1 << 40}}, nil
		}}
	ctx, cancel := context.WithCancel(context.Background())
	c.done.Go(func() {
		defer cancel()
		t.run(ctx)
	})
	stop := c.cancel
	c.cancel = func() { cancel(); stop() }
}

// lose has the consumer know that a partition is another's.
func (c *modelMember) lose(p *partition) {
	p.stopping.Store(true)
	p.givenBack.Store(true)
	c.batcher.leave(p)
}

// giveBack takes a partition from a consumer, in order or not.
func (c *modelMember) giveBack(number int32, inOrder bool) {
	p := c.owned[number]
	delete(c.owned, number)
	p.stopping.Store(true)
	if inOrder {
		c.batcher.settleWithin(time.After(modelConfig.ReleaseTimeout), []*partition{p})
	}
	p.givenBack.Store(true)
	p.queue.close()
	c.batcher.leave(p)
}

// modelStep is an event in the consumers' life.
type modelStep struct {
	kind      string
	partition int32
	members   []int // who gets a partition, or is meant; and who inherits those of one that is killed
	records   int
	pause     time.Duration
}

// TestEveryEventIsStoredOnceWhateverFails plays the worst of both engines, and of the machines that
// the consumers run on, and looks how often each event is stored in the end.
func TestEveryEventIsStoredOnceWhateverFails(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(draw *rapid.T) {
		partitions := rapid.Int32Range(1, 4).Draw(draw, "partitions")
		seed := rapid.Uint64().Draw(draw, "seed")
		steps := rapid.SliceOfN(rapid.Custom(func(draw *rapid.T) modelStep {
			return modelStep{
				kind: rapid.SampledFrom([]string{"produce", "produce", "produce", "move", "lose", "kill", "stop",
					"jump"}).Draw(draw, "step"),
				partition: rapid.Int32Range(0, partitions-1).Draw(draw, "partition"),
				members:   rapid.SliceOfN(rapid.IntRange(0, 1), 5, 5).Draw(draw, "members"),
				records:   rapid.IntRange(1, 12).Draw(draw, "records"),
				pause:     time.Duration(rapid.IntRange(0, 4000).Draw(draw, "pause")) * time.Millisecond,
			}
		}), 3, 30).Draw(draw, "steps")
		m := newModel(seed, partitions)
		synctest.Test(t, func(*testing.T) { m.play(steps) })
		for p, records := range m.log {
			require.EqualValues(draw, len(records), m.commits[p].next, "partition %d does not get to its end\n%s", p,
				strings.Join(m.history, "\n"))
			for offset := range records {
				require.Equal(draw, 1, m.stored[stream.Place{Partition: int32(p), Offset: int64(offset)}],
					"partition %d offset %d\n%s", p, offset, strings.Join(m.history, "\n"))
			}
		}
	})
}

func newModel(seed uint64, partitions int32) *model {
	return &model{
		rnd: rand.New(rand.NewPCG(seed, 1)), topicID: uuid.New(),
		log: make([][]*kgo.Record, partitions), owner: make([]*modelMember, partitions),
		commits: make([]modelCommit, partitions),
		stored:  map[stream.Place]int{}, refuses: map[stream.Place]bool{}, running: map[*modelInsert]struct{}{},
	}
}

// produce writes records to a partition.
func (m *model) produce(p int32, n int) {
	e := anEvent()
	m.mu.Lock()
	var fresh []*kgo.Record
	for range n {
		e.EventID = uuid.New()
		offset := int64(len(m.log[p]))
		r := &kgo.Record{Topic: event.Topic, Partition: p, Offset: offset, Value: e.Append(nil)}
		m.log[p], fresh = append(m.log[p], r), append(fresh, r)
		if m.chance(1) {
			m.refuses[stream.Place{Partition: p, Offset: offset}] = true
		}
	}
	owner := m.owner[p]
	m.mu.Unlock()
	owner.owned[p].queue.push(fresh)
}

// play takes the steps, then lets one consumer finish in peace.
func (m *model) play(steps []modelStep) {
	members := []*modelMember{m.join(), m.join()}
	for p := range m.log {
		members[p%2].assign(int32(p))
	}
	for _, step := range steps {
		m.mu.Lock()
		m.notef("step: %s %d %v", step.kind, step.partition, step.members)
		m.mu.Unlock()
		p, which := step.partition, step.members[0]
		switch step.kind {
		case "produce":
			m.produce(p, step.records)
		case "move":
			m.owner[p].giveBack(p, true)
			members[which].assign(p)
		case "lose": // its session ended, which it learns later
			before := m.owner[p]
			old := before.owned[p]
			delete(before.owned, p)
			m.mu.Lock()
			m.later(20*time.Second, func() { before.lose(old) })
			m.mu.Unlock()
			members[which].assign(p)
		case "kill":
			killed := members[which]
			killed.kill()
			members[which] = m.join()
			for number, owner := range m.owner {
				if owner == killed {
					members[step.members[1+number]].assign(int32(number))
				}
			}
		case "stop":
			m.mu.Lock()
			if c := members[which]; c.stopped == nil {
				c.stopped = make(chan struct{})
				m.later(30*time.Second, func() {
					m.mu.Lock()
					defer m.mu.Unlock()
					c.goOn()
				})
			}
			m.mu.Unlock()
		case "jump":
			m.mu.Lock()
			m.ahead += m.upTo(time.Minute)
			m.mu.Unlock()
		}
		<-time.After(step.pause)
	}
	m.mu.Lock()
	m.calm = true
	clear(m.refuses)
	m.mu.Unlock()
	for _, c := range members {
		c.kill()
	}
	last := m.join()
	for p := range m.log {
		last.assign(int32(p))
	}
	<-time.After(10 * time.Minute)
	last.kill()
	m.arrived.Wait()
}

// later does something within the time. It is called with m.mu.
func (m *model) later(within time.Duration, do func()) {
	after := m.upTo(within)
	m.arrived.Go(func() {
		<-time.After(after)
		do()
	})
}
