package backup_test

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/backup"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const interval = 20 * time.Millisecond // between two looks

// Each shard has the number of Postgres. One that is older is named, as one that was emptied is;
// one that was added is not. A Postgres that is older comes before everything.
func TestPulseOfShards(t *testing.T) {
	t.Parallel()
	shards := enginetest.NewShards(t, 2)
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2, Shards: shards})
	// beat lets a process beat once. The shards have the number when they are on record.
	beat := func(raised int64) {
		t.Helper()
		before := number(t, s)
		s.Exec("UPDATE store_pulse SET shards = '{}'")
		stop := enginetest.Run(t, backup.NewPulse(backup.PulseDeps{
			Postgres: s.Postgres, ClickHouse: s.ClickHouse, Log: enginetest.Runtime().Log, Registerer: prometheus.NewRegistry(),
		}))
		require.Eventually(t, func() bool {
			var recorded bool
			require.NoError(t, s.Postgres.Unscoped().QueryRow(t.Context(),
				"SELECT shards = '{1,2}' FROM store_pulse").Scan(&recorded))
			return recorded
		}, enginetest.Timeout, interval)
		stop()
		require.Equal(t, before+raised, number(t, s))
		require.Nil(t, apart(t, s))
	}
	forget := func(shard int, rows string) {
		t.Helper()
		conn := shards.Conn(t, shard)
		require.NoError(t, conn.Exec(t.Context(), "ALTER TABLE lodestone.pulse DELETE WHERE "+rows+
			" SETTINGS mutations_sync = 2"))
	}
	align := func() {
		t.Helper()
		_, err := backup.Align(t.Context(), backup.Deps{Postgres: s.Postgres, ClickHouse: s.ClickHouse, Kafka: s.Kafka,
			Log: enginetest.Runtime().Log})
		require.NoError(t, err)
		require.Nil(t, apart(t, s))
	}
	require.Nil(t, apart(t, s), "both are new")
	for range 3 {
		beat(1)
	}

	forget(1, "1 = 1")
	a := apart(t, s)
	require.NotNil(t, a)
	require.Equal(t, "clickhouse", a.Older)
	require.Equal(t, []uint16{2}, a.Shards)
	require.Contains(t, a.String(), "ClickHouse (shard 2) is of before its first minute")
	align()

	s.Exec("UPDATE store_pulse SET shards = '{1}'") // shard 2 was added since
	forget(1, "1 = 1")
	require.Nil(t, apart(t, s))
	beat(0) // it gets the number first

	s.Exec("UPDATE store_pulse SET number = 1")
	a = apart(t, s)
	require.NotNil(t, a)
	require.Equal(t, "postgres", a.Older)
	require.Empty(t, a.Shards, "all of them differ")
	forget(0, "1 = 1")
	require.Equal(t, "postgres", apart(t, s).Older)
	align()

	s.Exec("UPDATE store_pulse SET installation = gen_random_uuid()")
	require.Empty(t, apart(t, s).Older)
	require.Contains(t, apart(t, s).String(), "two installations")
}

func number(t *testing.T, s *enginetest.Stack) (n int64) {
	t.Helper()
	require.NoError(t, s.Postgres.Unscoped().QueryRow(t.Context(), "SELECT number FROM store_pulse").Scan(&n))
	return n
}

func apart(t *testing.T, s *enginetest.Stack) *backup.Divergence {
	t.Helper()
	a, err := backup.Compare(t.Context(), s.Postgres, 1, s.Conn)
	require.NoError(t, err)
	return a
}
