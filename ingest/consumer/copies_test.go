//go:build long

package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/ingest/replica/replicatest"
	"lodestone/ingest/stream"
	"lodestone/pkg/engine/enginetest"
)

// onCopies returns a rig on servers that stand for replicas, with the record of who writes.
func onCopies(t *testing.T, partitions int32, shards, replicas int) (*rig, *enginetest.Copies, *replica.Cluster) {
	t.Helper()
	copies := enginetest.NewCopies(t, shards, replicas)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: partitions, Copies: copies})
	cluster := replicatest.Enrol(t, stack)
	return newRigOn(t, stack), copies, cluster
}

// unhurried is steady with the time for an insert that what plays the replicas needs on a busy machine to copy the rows.
func (r *rig) unhurried() Config {
	c := r.steady()
	c.InsertTimeout = 20 * time.Second
	return c
}

// rowsOn returns how many rows of the rig's topic a server has, and of how many offsets.
func (r *rig) rowsOn(server driver.Conn) (rows, offsets uint64) {
	r.t.Helper()
	require.NoError(r.t, server.QueryRow(r.t.Context(),
		"SELECT count(), uniqExact(kafka_partition, kafka_offset) FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
		chParameter("topic", r.TopicID.String())).Scan(&rows, &offsets))
	return rows, offsets
}

// awaitCopies waits until every server has the rows, each once.
func (r *rig) awaitCopies(want int, servers ...*enginetest.Copy) {
	r.t.Helper()
	for _, s := range servers {
		conn := s.Conn()
		require.Eventually(r.t, func() bool { rows, offsets := r.rowsOn(conn); return rows == uint64(want) && offsets == uint64(want) },
			waitLimit, 50*time.Millisecond, "replica %s", s.Name)
	}
}

// Blocks are stored at the writer, and count once a majority has them. The writer is moved while events come: the one before refuses what
// is still sent to it, and every event is stored once on each.
func TestTheWriterIsMovedWhileEventsCome(t *testing.T) {
	t.Parallel()
	const each = 300
	r, copies, cluster := onCopies(t, 2, 1, 2)
	servers := copies.Servers[0]
	record, err := cluster.Read(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, []string{"r0", "r1"}, record.Replicas)

	stop := r.consume(r.unhurried())
	r.produce(0, r.events(each)...)
	writer := servers[0].Conn()
	require.Eventually(t, func() bool { rows, _ := r.rowsOn(writer); return rows > 0 }, waitLimit, 20*time.Millisecond)
	next, _ := r.committed(0)
	require.LessOrEqual(t, next, int64(0), "one of two is no majority")
	copies.Follow()
	r.awaitCommit(0, each)
	r.awaitCopies(each, servers...)

	mover, closeAll, err := cluster.Mover(t.Context(), 1)
	require.NoError(t, err)
	t.Cleanup(closeAll)
	r.produce(1, r.events(each)...)
	require.Eventually(t, func() bool { record, err = mover.Move(t.Context(), "r1"); t.Log(err); return err == nil }, waitLimit, 50*time.Millisecond)
	require.Equal(t, "r1", record.Writer)
	require.True(t, record.Ready)
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, 2*each)
	r.awaitCommit(1, each)
	r.awaitCopies(3*each, servers...)

	old := replica.NewRows("r0", &stream.Store{Connection: *cluster.Connect(1, "r0"), Stream: stream.Events(), TopicID: r.TopicID})
	defer old.Close()
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = old.Insert(limited, r.rows(0, 2*each, r.events(1)...), replica.Insert{Token: "late:202611", Epoch: 1, Quorum: 2})
	require.ErrorContains(t, err, "the writer of the insert was replaced")
	stop()
	r.awaitCopies(3*each, servers...)
}

// A writer that is away is replaced by the consumers' own fail-over once its session in Keeper has ended, and not before.
func TestAWriterThatIsAwayIsReplaced(t *testing.T) {
	t.Parallel()
	const each = 200
	r, copies, cluster := onCopies(t, 1, 1, 3)
	servers := copies.Servers[0]
	copies.Follow()
	r.consume(r.unhurried())
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, each)
	r.awaitCopies(each, servers...)

	servers[0].CutFromClients()
	r.produce(0, r.events(each)...)
	failover := replica.NewFailover(replica.FailoverDeps{Cluster: cluster, Log: testLog()})
	for range 20 {
		require.NoError(t, failover.Step(t.Context()))
		record, err := cluster.Read(t.Context(), 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, record.Epoch, "Keeper still has a session of it")
		<-time.After(100 * time.Millisecond)
	}
	next, _ := r.committed(0)
	require.LessOrEqual(t, next, int64(each))

	servers[0].Cut()
	r.Exec("UPDATE shard_writers SET closed_at = closed_at - interval '1 minute'") // once the lease has ended
	require.Eventually(t, func() bool {
		if err := failover.Step(t.Context()); err != nil {
			t.Log(err)
		}
		r.Exec("UPDATE shard_writers SET closed_at = closed_at - interval '1 minute'")
		record, err := cluster.Read(t.Context(), 1)
		return err == nil && record.Ready && record.Writer != "r0"
	}, waitLimit, 100*time.Millisecond)
	r.awaitCommit(0, 2*each)
	r.awaitCopies(2*each, servers[1:]...)

	servers[0].Heal()
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, 3*each)
	r.awaitCopies(3*each, servers...)
}
