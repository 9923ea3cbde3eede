//go:build long

package mirror_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica/replicatest"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/store"
)

// Copies reach every replica, also after another one writes. When addresses are not copied any more, they leave the disk of each: with one away, the
// work is not done.
func TestCopiesAreOnEveryReplica(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 1, 3)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1, Copies: copies})
	cluster := replicatest.Enrol(t, stack)
	copies.Follow("lead_magnets", "access_links")
	r := &rig{t: t, store: stack.ClickHouse, conn: stack.Conn, pool: stack.Postgres, account: uuid.New()}
	r.exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'a', 'team')", r.account)
	servers := copies.Servers[0]
	awaitOn := func(want, sql string, servers ...*enginetest.Copy) {
		t.Helper()
		for _, s := range servers {
			(&rig{t: t, conn: s.Conn()}).await(want, sql)
		}
	}
	const (
		titles    = "SELECT arrayStringConcat(groupArray(title), ' ') FROM analytics.lead_magnets"
		addresses = "SELECT toString(countIf(ifNull(email, '') != '')) FROM lodestone.access_links"
	)
	magnet := uuid.New()
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')", magnet, r.account)
	stack.Link(r.account, magnet, nil)
	stop := r.start(true)
	awaitOn("Guide", titles, servers...)
	awaitOn("1", addresses, servers...)

	replicatest.Move(t, cluster, 1, "r1")
	r.exec("UPDATE lead_magnets SET title = 'Manual' WHERE id = $1", magnet)
	awaitOn("Manual", titles, servers...)
	r.awaitSettled()
	stop()

	servers[2].Cut()
	r.start(false)
	awaitOn("0", addresses, servers[:2]...)
	due, err := store.New(r.pool.Unscoped()).PurgeDue(t.Context())
	require.NoError(t, err)
	require.True(t, due, "one replica has them")
	servers[2].Heal()
	require.Eventually(t, func() bool {
		due, err := store.New(r.pool.Unscoped()).PurgeDue(t.Context())
		return err == nil && !due
	}, waitLimit, 20*time.Millisecond)
	awaitOn("0", addresses, servers...)
}
