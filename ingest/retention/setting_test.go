package retention_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/retention"
	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
)

// A process that was given a shorter time than the others deletes nothing by it.
func TestAProcessDoesNotDeleteByItsOwnSetting(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.read(uuid.New(), r.month(5))
	r.read(uuid.New(), r.month(0))
	r.consume()
	r.kafkaForgets()
	expire := func(flag int) retention.Result {
		t.Helper()
		result, err := r.job(flag).Expire(t.Context())
		require.NoError(t, err)
		return result
	}
	// The first setting goes on record, and deletes nothing before a day is over.
	require.Empty(t, expire(24))
	s, found, err := retention.ReadSetting(t.Context(), r.Postgres)
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, []int{0, 24}, []int{s.Months, s.NextMonths})
	require.WithinDuration(t, time.Now().Add(retention.Delay), s.NextAt, time.Hour)
	r.Exec("UPDATE retention_setting SET next_at = now() - interval '1 second'")
	require.Empty(t, expire(24))
	require.Empty(t, expire(1), "left over from somewhere")
	require.EqualValues(t, 2, r.rows("events"))

	// By the command, after a day.
	_, err = retention.SetMonths(t.Context(), r.Postgres, 2)
	require.NoError(t, err)
	require.Empty(t, expire(2))
	r.Exec("UPDATE retention_setting SET next_at = now() - interval '1 second'")
	require.Equal(t, []uint32{r.yyyymm(5)}, expire(24).Dropped)
	require.EqualValues(t, 1, r.rows("events"))
}

func TestAShorterRetentionWaits(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	set := func(months int) retention.Setting {
		t.Helper()
		s, err := retention.SetMonths(t.Context(), pool, months)
		require.NoError(t, err)
		recorded, found, err := retention.ReadSetting(t.Context(), pool)
		require.NoError(t, err)
		require.True(t, found)
		require.True(t, recorded.NextAt.Equal(s.NextAt), "%s is recorded for %s", recorded.NextAt, s.NextAt)
		return retention.Setting{Months: recorded.Months, NextMonths: recorded.NextMonths}
	}
	require.Equal(t, retention.Setting{NextMonths: 12}, set(12), "shorter than for ever")
	require.Equal(t, retention.Setting{}, set(0), "cancelled")
	set(12)
	_, err := pool.Unscoped().Exec(t.Context(), "UPDATE retention_setting SET next_at = now() - interval '1 second'")
	require.NoError(t, err)
	require.Equal(t, retention.Setting{Months: 12, NextMonths: 6}, set(6))
	require.Equal(t, retention.Setting{Months: 24}, set(24), "longer: at once, and nothing waits")
	require.Equal(t, retention.Setting{Months: 24, NextMonths: 6}, set(6))
	require.Equal(t, retention.Setting{Months: 24, NextMonths: 6}, set(6))
	require.Equal(t, retention.Setting{Months: 24, NextMonths: 8}, set(8))
	require.Equal(t, retention.Setting{Months: 24}, set(24), "cancelled")
	require.Equal(t, retention.Setting{}, set(0))
	for _, months := range []int{-1, 1201} {
		_, err = retention.SetMonths(t.Context(), pool, months)
		require.True(t, config.IsInvalid(err))
	}
}
