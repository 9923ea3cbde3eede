//go:build long

package consumer

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/stream"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// grower writes events as collectors do, to the partition of their key.
type grower struct {
	*rig
	ledger kafka.Ledger
	hash   kafka.Hash
}

func newGrower(t *testing.T, partitions int32) *grower {
	t.Helper()
	return newGrowerOn(t, newRig(t, partitions), partitions)
}

func newGrowerOn(t *testing.T, r *rig, partitions int32) *grower {
	t.Helper()
	g := &grower{r, kafka.Ledger{Pool: r.Postgres}, kafka.NewHash()}
	_, err := g.ledger.Partitions(t.Context(), r.TopicID, event.Topic, int(partitions))
	require.NoError(t, err)
	return g
}

// send writes each event to the partition that a collector chooses which knows of so many.
func (g *grower) send(partitions int, spooled bool, events ...event.Event) {
	g.t.Helper()
	g.Client.ForceMetadataRefresh()
	require.NoError(g.t, g.Client.ProduceSync(g.t.Context(), keyed(g.hash, partitions, spooled, events...)...).FirstErr())
}

// keyed returns records of the events, each for the partition of its key.
func keyed(hash kafka.Hash, partitions int, spooled bool, events ...event.Event) []*kgo.Record {
	records := make([]*kgo.Record, len(events))
	for i, e := range events {
		e.Spooled = spooled
		key := e.AccessLinkID
		records[i] = &kgo.Record{Topic: event.Topic, Partition: hash.Of(key[:], partitions), Key: key[:], Value: e.Append(nil)}
	}
	return records
}

func (g *grower) double() {
	g.t.Helper()
	_, err := g.ledger.Double(g.t.Context(), g.Client, event.Topic)
	require.NoError(g.t, err)
	require.Eventually(g.t, func() bool { // the client learns of the partitions
		g.Client.ForceMetadataRefresh()
		n, _, _ := g.Client.PartitionLeader(event.Topic, int32(g.layout().Count-1))
		return n >= 0
	}, waitLimit, 50*time.Millisecond)
}

func (g *grower) layout() kafka.Layout {
	g.t.Helper()
	l, err := g.ledger.Layout(g.t.Context(), g.TopicID)
	require.NoError(g.t, err)
	return l
}

// awaitDivided waits until all children store.
func (g *grower) awaitDivided() {
	g.t.Helper()
	require.Eventually(g.t, func() bool { return len(g.layout().Waiting()) == 0 }, waitLimit, 50*time.Millisecond)
}

// awaitAll waits until the group has done everything in the log, also what it writes there itself.
func (g *grower) awaitAll() {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		ends, err := kadm.NewClient(g.Client).ListEndOffsets(g.t.Context(), event.Topic)
		all := err == nil
		ends.Each(func(o kadm.ListedOffset) {
			next, intent := g.committed(o.Partition)
			all = all && (o.Offset == 0 || next == o.Offset && intent == stream.NoIntent)
		})
		return all
	}, waitLimit, 100*time.Millisecond)
}

// follow returns another event of the same links.
func (g *grower) follow(events []event.Event) []event.Event {
	next := make([]event.Event, len(events))
	for i, e := range events {
		e.EventID = uuid.New()
		next[i] = e
	}
	return next
}

// Collectors know of the new number before, while and after the consumer does, and senders repeat what they sent before.
func TestPartitionsDoubleWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	g := newGrower(t, 2)
	stop := g.consume(g.config())
	before := g.events(300)
	g.send(2, false, before...)
	g.double()
	early := g.follow(before) // by a collector that knows of the new number already
	g.send(4, false, before...)
	g.send(4, false, early...)
	g.send(2, false, early...) // again, by one that does not
	g.awaitDivided()
	late := g.follow(before)
	g.send(2, false, late...) // still does not
	g.send(4, false, late...)
	g.send(4, false, before...)
	g.send(2, false, before...)
	g.awaitAll()
	g.awaitAll() // what was passed on
	g.requireStored(3 * len(before))
	stop()

	// An owner that comes later decides the same, also about what comes from a spool.
	stop = g.consume(g.config())
	spooled := g.follow(before)
	g.send(2, true, before...)
	g.send(2, true, spooled...)
	g.send(4, true, late...)
	g.send(4, false, spooled...)
	g.awaitAll()
	g.awaitAll()
	g.requireStored(4 * len(before))
	stop()
}

// Each number may be doubled again. The window then begins in the parent of the parent.
func TestPartitionsDoubleTwice(t *testing.T) {
	t.Parallel()
	g := newGrower(t, 1)
	events := g.events(100)
	g.send(1, false, events...)
	stop := g.consume(g.config())
	g.double()
	g.awaitDivided()
	g.double()
	g.awaitDivided()
	g.send(4, false, events...)
	g.send(2, false, g.follow(events)...) // goes the way of its key
	g.send(1, false, events...)
	for range 3 {
		g.awaitAll()
	}
	g.requireStored(2 * len(events))
	stop()
	g.commit(3, 0, stream.CommitMetadata(g.TopicID, stream.NoIntent)) // set back by hand
	g.consume(g.config())
	g.awaitAll()
	g.requireStored(2 * len(events))
}

// A consumer that is lost at any point of a growth is followed by one that finishes it.
func TestAConsumerIsLostWhilePartitionsDouble(t *testing.T) {
	t.Parallel()
	g := newGrower(t, 2)
	g.consume(g.config())() // the group has been there
	before := g.events(200)
	g.send(2, false, before...)
	g.double()
	g.send(4, false, before...)
	after := g.follow(before)
	g.send(4, false, after...)
	// The parents' records are in the log already, twice, and what is behind them is of old collectors.
	for p := range int32(2) {
		for range 2 {
			require.NoError(t, g.Client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Partition: p, Value: event.AppendGrowth(nil, 4)}).FirstErr())
		}
	}
	g.send(2, false, after...)
	for range 4 {
		stop := g.consume(g.config())
		stop() // wherever it is
	}
	g.consume(g.config())
	g.awaitDivided()
	g.awaitAll()
	g.awaitAll()
	g.requireStored(2 * len(before))
}

// More partitions that Kafka got from elsewhere are not used, and what others write to them waits until they are.
func TestPartitionsFromOutsideWait(t *testing.T) {
	t.Parallel()
	g := newGrower(t, 2)
	g.consume(g.config())
	events := g.events(50)
	g.send(2, false, events...)
	_, err := kadm.NewClient(g.Client).UpdatePartitions(t.Context(), 5, event.Topic)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		g.Client.ForceMetadataRefresh()
		n, _, _ := g.Client.PartitionLeader(event.Topic, 4)
		return n >= 0
	}, waitLimit, 50*time.Millisecond)
	foreign := g.follow(events)
	g.send(4, false, foreign...) // by a program that takes Kafka's number: some are in partitions 2 and 3
	moved := 0
	for _, e := range foreign {
		if g.hash.Of(e.AccessLinkID[:], 4) >= 2 {
			moved++
		}
	}
	g.awaitCommit(0, g.end(0))
	g.awaitCommit(1, g.end(1))
	g.requireStored(2*len(events) - moved)
	g.double() // to 4: Kafka keeps its fifth partition
	g.awaitDivided()
	g.awaitAll()
	g.requireStored(2 * len(events))
}

func (g *grower) end(partition int32) int64 {
	ends, err := kadm.NewClient(g.Client).ListEndOffsets(g.t.Context(), event.Topic)
	require.NoError(g.t, err)
	o, _ := ends.Lookup(event.Topic, partition)
	return o.Offset
}

// Partitions whose parent's broker is away keep none of the others from looking into what is long past.
func TestAParentThatIsAwayHoldsUpItsChildAlone(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	const partitions = sharedLooks + 1
	r := newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Brokers: broker.Brokers(), Partitions: partitions}))
	g := newGrowerOn(t, r, partitions)
	c := g.config()
	c.InsertTimeout = time.Second
	stop := g.consume(c)
	events := g.events(100)
	for p := range int32(partitions) { // children have none of their own
		g.produce(p, events[p])
	}
	g.awaitAll()
	g.double()
	g.awaitDivided()
	g.awaitAll()
	stop()

	broker.Cluster().ControlKey(int16(kmsg.Fetch), func(request kmsg.Request) (kmsg.Response, error, bool) {
		broker.Cluster().KeepControl()
		return nil, nil, request.(*kmsg.FetchRequest).MaxBytes == 4<<20 // of kafka.ReadRange
	})
	stop = g.consume(c)
	spooled := g.event(200)
	spooled.Spooled = true
	next := g.produceRaw(0, spooled.Append(nil)) + 1
	g.awaitCommit(0, next)
	stop()
}
