package deadletter

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// Two replays at once could store a row twice, so a long one keeps its lock for longer than Postgres lets a transaction do nothing.
func TestALongReplayKeepsItsLock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	e := r.event(r.link())
	r.bury(0, e.Append(nil))
	r.commit(1)
	pool := r.Postgres.Unscoped()
	alter := func(change string) {
		r.Exec("DO $do$ BEGIN EXECUTE format('ALTER DATABASE %I " + change + "', current_database()); END $do$")
		pool.Reset() // sessions read it when they begin
	}
	alter("SET idle_in_transaction_session_timeout = 3000")

	// The replay waits for the table of erased links, in another session than the lock's.
	holder, err := pgx.ConnectConfig(t.Context(), pool.Config().ConnConfig)
	require.NoError(t, err)
	t.Cleanup(func() { _ = holder.Close(t.Context()) })
	_, err = holder.Exec(t.Context(), "SET idle_in_transaction_session_timeout = 0; BEGIN; LOCK TABLE erased_links")
	require.NoError(t, err)
	type end struct {
		result Result
		err    error
	}
	ended := make(chan end, 1)
	go func() {
		result, err := r.replayer.Replay(t.Context(), Filter{})
		ended <- end{result, err}
	}()
	count := func(condition string) (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE a.datname = current_database() AND `+condition).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return count("l.relation = 'erased_links'::regclass AND NOT l.granted") > 0 }, waitLimit, 10*time.Millisecond)
	// It has done nothing for twice as long as it may, or has lost the lock.
	const lock = "l.locktype = 'advisory'"
	require.Eventually(t, func() bool {
		return count(lock) == 0 || count(lock+" AND a.state_change < clock_timestamp() - interval '6s'") > 0
	}, waitLimit, 10*time.Millisecond)
	require.Equal(t, 1, count(lock))
	alter("RESET idle_in_transaction_session_timeout") // only the lock's session is to be idle for long
	_, err = holder.Exec(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	got := <-ended
	require.NoError(t, got.err)
	require.Equal(t, Result{Stored: 1}, got.result)
	r.requireRows(0)
}
