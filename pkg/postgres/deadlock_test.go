package postgres_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Two transactions of an account that wait for each other both go through: one of them is tried
// again.
func TestDeadlockIsTriedAgain(t *testing.T) {
	t.Parallel()
	pool := open(t)
	account := populate(t, pool)
	const links, magnets = "UPDATE access_links SET opened_count = opened_count + 1",
		"UPDATE lead_magnets SET title = title || 'x'"
	var calls atomic.Int32
	var wg sync.WaitGroup
	took := map[string]chan struct{}{links: make(chan struct{}), magnets: make(chan struct{})}
	run := func(first, second string) {
		wg.Go(func() {
			once := sync.OnceFunc(func() { close(took[first]) })
			err := pool.Account(t.Context(), account, func(tx pgx.Tx) error {
				calls.Add(1)
				if _, err := tx.Exec(t.Context(), first); err != nil {
					return err
				}
				once()
				<-took[second] // the other one has what this one takes next
				_, err := tx.Exec(t.Context(), second)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	run(links, magnets)
	run(magnets, links)
	wg.Wait()
	// The one that is tried again can be quicker than the other one to wake up, and meet it once more.
	require.GreaterOrEqual(t, calls.Load(), int32(3))
	var title string
	var views int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT title FROM lead_magnets").Scan(&title))
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT opened_count FROM access_links").Scan(&views))
	require.Equal(t, "Mxx", title)
	require.Equal(t, 2, views)
}
