package consumer

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// Partitions are revoked while their inserts hang: one has not reached the server, the answer to
// the other is lost. The partitions that are kept go on meanwhile and afterwards, also one whose
// insert hung, by the workers that they had. Once the others are assigned again, each of their rows
// is stored once.
func TestPartitionsAreRevokedWhileTheirInsertsHang(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	views, _, err := kafka.Topic(t.Context(), r.Client, event.LinkViewTopic)
	require.NoError(t, err)
	config := r.steady()
	config.RebalanceTimeout, config.InsertTimeout, config.ReleaseTimeout = longSession, waitLimit, waitLimit // the test ends the waits itself
	config.BlockRows = 10_000                                                                                // no block is large, so none waits for the slot of one that hangs
	o := r.ownerOf(config)
	o.awaitOwned(t, 4)
	before, answer, kept := o.hang(r.TopicID, 0, false), o.hang(r.TopicID, 1, true), o.hang(views, 0, false)
	workerOf := func(topic string, partition int32) *worker {
		o.Consumer.mu.Lock()
		defer o.Consumer.mu.Unlock()
		return o.workers[assignment{topic, partition}]
	}
	revoked := []*worker{workerOf(event.Topic, 0), workerOf(event.Topic, 1)}
	others := []*worker{workerOf(event.LinkViewTopic, 0), workerOf(event.LinkViewTopic, 1)}

	for partition := range int32(2) {
		r.produce(partition, r.events(20)...)
		r.produceViews(partition, 10)
	}
	for _, h := range []*hang{before, answer, kept} {
		awaitClosed(t, h.begun, "no insert begins")
	}
	r.awaitRows("events", 1, 1)
	r.awaitRows("link_views", 1, 10)

	// A member that wants events alone gets both of their partitions.
	taken := make(chan struct{})
	other, err := kgo.NewClient(append(r.Kafka.Options(testLog()),
		kgo.ConsumerGroup(r.group), kgo.ConsumeTopics(event.Topic), kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NoResetOffset()), kgo.SessionTimeout(longSession), kgo.RebalanceTimeout(longSession), kgo.HeartbeatInterval(100*time.Millisecond),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, p map[string][]int32) {
			if len(p[event.Topic]) == 2 {
				close(taken)
			}
		}))...)
	require.NoError(t, err)
	defer other.Close()
	for _, w := range revoked {
		awaitClosed(t, w.stopping, "the partition is not revoked")
	}
	kept.end()
	r.awaitRows("link_views", 0, 10)
	for _, w := range revoked {
		select {
		case <-w.done:
			require.Fail(t, "a partition is given back while its insert hangs, and may still end")
		default:
		}
		w.cancel() // as its time is over
	}
	awaitClosed(t, taken, "the other member does not get the partitions")
	for partition := range int32(2) {
		r.produce(partition, r.events(20)...)
		r.produceViews(partition, 10)
		r.awaitRows("link_views", partition, 20)
		require.Same(t, others[partition], workerOf(event.LinkViewTopic, partition))
	}
	require.Zero(t, r.rowsOf("events", 0))

	other.Close()
	o.awaitOwned(t, 4)
	before.end()
	answer.end()
	for partition := range int32(2) {
		r.awaitCommit(partition, 40)
		require.Same(t, others[partition], workerOf(event.LinkViewTopic, partition))
	}
	r.requireStored(80)
	for partition := range int32(2) {
		require.EqualValues(t, 20, r.rowsOf("link_views", partition))
	}
	require.NoError(t, o.Check(t.Context()))
}

// produceViews writes so many views of landing pages to one partition.
func (r *rig) produceViews(partition int32, n int) {
	r.t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		of := r.event(i)
		view := event.LinkView{
			AccountID: r.account, LeadMagnetID: of.LeadMagnetID, GenericLinkID: uuid.New(), EventID: of.EventID, UserAgent: of.UserAgent,
			CreatedAt: of.CreatedAt, ReceivedAt: of.ReceivedAt,
		}
		records[i] = &kgo.Record{Topic: event.LinkViewTopic, Partition: partition, Value: view.Append(nil)}
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
}

// rowsOf returns how many rows of a partition a table has.
func (r *rig) rowsOf(table string, partition int32) (rows uint64) {
	r.t.Helper()
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, conn.Close()) }()
	require.NoError(r.t, conn.QueryRow(context.Background(), "SELECT count() FROM lodestone."+table+" WHERE account_id = {account:UUID} AND kafka_partition = {partition:Int32}",
		chParameter("account", r.account.String()), chParameter("partition", strconv.Itoa(int(partition)))).Scan(&rows))
	return rows
}

// awaitRows waits until a table has as many rows of a partition.
func (r *rig) awaitRows(table string, partition int32, rows uint64) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return r.rowsOf(table, partition) >= rows }, waitLimit, 20*time.Millisecond, "%s of partition %d", table, partition)
}
