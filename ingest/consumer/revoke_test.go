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
)

// A partition is given back while the insert of its batch hangs: it has not reached the server, or
// its answer is lost. The partitions that are kept go on, those of the batch after its time is
// over. Once the other has an owner again, every row is stored once.
func TestAPartitionIsRevokedWhileTheInsertOfItsBatchHangs(t *testing.T) {
	t.Parallel()
	for name, stored := range map[string]bool{"before the server has it": false, "before its answer": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			config := r.steady()
			config.BatchAge, config.InsertTimeout, config.ReleaseTimeout = time.Second, 3*time.Second, time.Second
			o := r.ownerOf(config)
			o.awaitOwned(t, 4)
			h := o.hang(r.TopicID, 0, stored)
			for partition := range int32(2) {
				r.produce(partition, r.events(20)...)
			}
			awaitClosed(t, h.begun, "no insert begins")

			o.giveBack(map[string][]int32{event.Topic: {0}}, true)
			h.end()
			for partition := range int32(2) {
				r.produceViews(partition, 10)
				r.awaitRows("link_views", partition, 10)
				r.produce(partition, r.events(20)...)
			}
			r.awaitCommit(1, 40)
			require.NoError(t, o.Stop(context.Background()))

			r.consume(r.config())
			for partition := range int32(2) {
				r.awaitCommit(partition, 40)
			}
			r.requireStored(80)
		})
	}
}

// produceViews writes so many views of landing pages to one partition.
func (r *rig) produceViews(partition int32, n int) {
	r.t.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		of := r.event(i)
		view := event.LinkView{
			AccountID: r.account, LeadMagnetID: of.LeadMagnetID, GenericLinkID: uuid.New(),
			EventID: of.EventID, UserAgent: of.UserAgent,
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
	require.NoError(r.t, conn.QueryRow(context.Background(), "SELECT count() FROM lodestone."+table+
		" WHERE account_id = {account:UUID} AND kafka_partition = {partition:Int32}",
		chParameter("account", r.account.String()), chParameter("partition", strconv.Itoa(int(partition)))).Scan(&rows))
	return rows
}

// awaitRows waits until a table has as many rows of a partition.
func (r *rig) awaitRows(table string, partition int32, rows uint64) {
	r.t.Helper()
	require.Eventually(r.t, func() bool { return r.rowsOf(table, partition) >= rows }, waitLimit, 20*time.Millisecond,
		"%s of partition %d", table, partition)
}
