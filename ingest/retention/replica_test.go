//go:build long

package retention_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica/replicatest"
	"lodestone/pkg/engine/enginetest"
)

// Months are dropped on every replica, and counters stay, while another replica writes at each step. One that is away drops them when it is back.
func TestMonthsAreDroppedOnEveryReplica(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	servers := copies.Servers[0]
	r := newRigOn(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	cluster := replicatest.Enrol(t, r.Stack)
	copies.Follow("expired_views", "retention_steps")
	steps := 0
	r.beforeExpiry = func() {
		steps++
		replicatest.Move(t, cluster, 1, "r"+strconv.Itoa(steps%3))
		if steps == 4 {
			servers[2].Cut()
		}
	}
	countersStay(t, r)
	require.Equal(t, 4, steps)
	servers[2].Heal()
	for _, s := range servers {
		conn := s.Conn()
		require.Eventually(t, func() bool {
			var events, views, steps uint64
			err := conn.QueryRow(t.Context(), `SELECT (SELECT count() FROM lodestone.events), (SELECT count() FROM lodestone.link_views),
				(SELECT count() FROM (SELECT DISTINCT step, phase FROM lodestone.retention_steps WHERE phase = 'done'))`).Scan(&events, &views, &steps)
			return err == nil && events == 3 && views == 2 && steps == 4
		}, waitLimit, 50*time.Millisecond, "replica %s", s.Name)
	}
}
