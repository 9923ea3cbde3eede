package consumer

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/clickhouse"
)

// Each test leaves Kafka and ClickHouse as a consumer that was killed would, and lets a new one
// take over.

func TestKilledAfterTheInsert(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(50)
	r.produce(0, events...)
	r.commit(0, 10, announced(r.TopicID, 29))
	r.storeRows(0, 0, events[:10]...)
	r.storeRows(0, 10, events[10:30]...)
	r.consume(r.config())
	r.awaitCommit(0, 50)
	r.requireStored(50)
}

func TestKilledBeforeTheInsert(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(50)
	r.produce(0, events...)
	r.commit(0, 0, announced(r.TopicID, 29))
	r.consume(r.config())
	r.awaitCommit(0, 50)
	r.requireStored(50)
}

func TestKilledInTheMiddleOfAnInsertOfTwoMonths(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(30)
	for i := range events[:10] {
		events[i].CreatedAt -= 30 * 24 * 3600 * 1000 // another partition of the table, so another part
	}
	r.produce(0, events...)
	r.commit(0, 0, announced(r.TopicID, 29))
	r.storeRows(0, 0, events[:10]...)
	r.consume(r.config())
	r.awaitCommit(0, 30)
	r.requireStored(30)
}

func TestCommitsSetBackOrDeletedDoubleNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	stop := r.consume(r.config())
	r.produce(0, r.events(500)...)
	r.awaitCommit(0, 500)
	stop()
	r.commit(0, 120, "")
	r.produce(0, r.events(10)...)
	stop = r.consume(r.config())
	r.awaitCommit(0, 510)
	stop()
	r.requireStored(510)

	_, err := kadm.NewClient(r.Client).DeleteGroup(t.Context(), r.group)
	require.NoError(t, err)
	r.produce(0, r.events(10)...)
	r.consume(r.config())
	r.awaitCommit(0, 520)
	r.requireStored(520)
}

// Who has to walk through a long log that is stored already does not stop at every block of it, or
// a large installation stands still for hours after its committed offsets are lost.
func TestWhatIsStoredIsWalkedThroughInLongStrides(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(1000)
	r.produce(0, events...)
	r.storeRows(0, 0, events[:990]...)
	var commits atomic.Int64
	r.Broker.Cluster().ControlKey(int16(kmsg.OffsetCommit), func(kmsg.Request) (kmsg.Response, error, bool) {
		r.Broker.Cluster().KeepControl()
		commits.Add(1)
		return nil, nil, false
	})
	c := r.config()
	c.BatchRows = 10
	began := time.Now()
	r.consume(c)
	r.awaitCommit(0, 1000)
	// However slow this machine is: one after each pause, and those around the last block, which is
	// inserted.
	most := int64(time.Since(began)/idleCommit) + 3
	r.requireStored(1000)
	require.LessOrEqual(t, commits.Load(), most, "of 100 blocks, all but one of which are stored")
}

func TestHolesBelowStoredOffsetsAreFilled(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(300)
	r.produce(0, events...)
	r.storeRows(0, 40, events[40:200]...)
	r.storeRows(0, 260, events[260:290]...)
	r.consume(r.config())
	r.awaitCommit(0, 300)
	r.requireStored(300)
}

func TestACommitForADeletedTopicOfTheSameNameIsNotTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	r.produce(0, r.events(20)...)
	other := r.account // any other id
	r.commit(0, 15, announced(other, 17))
	r.consume(r.config())
	r.awaitCommit(0, 20)
	r.requireStored(20)
}

func TestAnOffsetOutsideTheLogStandsStill(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.produce(0, r.events(20)...)
	r.produce(1, r.events(20)...)
	r.commit(0, 5000, "")
	r.consume(r.config())
	r.awaitCommit(1, 20) // the other partition goes on
	next, _ := r.committed(0)
	require.Equal(t, int64(5000), next, "the offset must not be reset")
	r.requireStored(20)
}

func (r *rig) exec(query string) {
	r.t.Helper()
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, conn.Close()) }()
	require.NoError(r.t, conn.Exec(context.Background(), query, chParameter("topic", r.TopicID.String())))
}
