//go:build long

package erasure_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica/replicatest"
	"lodestone/pkg/engine/enginetest"
)

// An erasure is done once every replica on record shows nothing of the person: one that is slow to change rows is waited for, one that is away has to
// come back or to be dropped. Whichever writes asks for the changes.
func TestAnErasureIsDoneOnEveryReplica(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	servers := copies.Servers[0]
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	cluster := replicatest.Enrol(t, stack)
	copies.Follow()
	r := newRigOn(t, stack)
	r.blocks = servers[0].Proxied()

	conns := map[*enginetest.Copy]driver.Conn{}
	for _, s := range servers {
		conns[s] = s.Conn()
	}
	stored := int64(0)
	erase := func() (link, erasure uuid.UUID) {
		t.Helper()
		link = uuid.New()
		r.store(link, stored)
		stored += int64(len(blank))
		for _, s := range servers {
			require.Eventually(t, func() bool { return len(r.textsOn(conns[s], link)) == len(blank) }, enginetest.Timeout, 50*time.Millisecond)
		}
		return link, r.erase(link)
	}
	requireBlank := func(link uuid.UUID, servers ...*enginetest.Copy) {
		t.Helper()
		for _, s := range servers {
			require.Equal(t, blank, r.textsOn(conns[s], link), s.Name)
		}
	}
	done := func(erasure uuid.UUID) (yes bool) {
		t.Helper()
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(), "SELECT blanked_at IS NOT NULL FROM erasures WHERE id = $1", erasure).Scan(&yes))
		return yes
	}

	slow, erasure := erase()
	replicatest.Move(t, cluster, 1, "r1")
	require.NoError(t, conns[servers[2]].Exec(t.Context(), "SYSTEM STOP MERGES lodestone.events"))
	ended := make(chan error, 1)
	go func() {
		_, err := r.job.Blank(t.Context())
		ended <- err
	}()
	for _, s := range servers[:2] {
		require.Eventually(t, func() bool { return fmt.Sprint(r.textsOn(conns[s], slow)) == fmt.Sprint(blank) }, enginetest.Timeout, 50*time.Millisecond)
	}
	require.Contains(t, r.textsOn(conns[servers[2]], slow)[0], "MARKER")
	require.False(t, done(erasure))
	require.NoError(t, conns[servers[2]].Exec(t.Context(), "SYSTEM START MERGES lodestone.events"))
	require.NoError(t, <-ended)
	require.True(t, done(erasure))
	requireBlank(slow, servers...)

	away, erasure := erase()
	servers[2].Cut()
	_, err := r.job.Blank(t.Context())
	require.ErrorContains(t, err, "replica r2 of shard 1 does not answer")
	require.False(t, done(erasure))
	requireBlank(away, servers[:2]...)
	servers[2].Heal()
	_, err = r.job.Blank(t.Context())
	require.NoError(t, err)
	require.True(t, done(erasure))
	requireBlank(away, servers...)

	lost, erasure := erase()
	servers[0].Cut()
	_, err = r.job.Blank(t.Context())
	require.ErrorContains(t, err, "replica r0 of shard 1 does not answer")
	require.False(t, done(erasure))
	replicatest.Drop(t, cluster, 1, "r0")
	_, err = r.job.Blank(t.Context())
	require.NoError(t, err)
	require.True(t, done(erasure))
	requireBlank(lost, servers[1:]...)
}
