package spool

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
)

var errKafkaAway = errors.New("away")

// What Kafka has not taken for the longest time that is set is dropped, and counted: what it
// refuses for good, and what waited while it was away. What is younger is sent.
func TestOldRecordsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := settings(t.TempDir())
		c.MaxAge = 24 * time.Hour
		kafka := &picky{limit: 500, has: map[string]bool{}}
		r := &rig{metrics: prometheus.NewRegistry(), disk: &brokenDisk{fast: true}}
		var err error
		r.Spool, err = newSpool(c, Deps{Kafka: kafka, Log: slog.New(slog.DiscardHandler), Registerer: r.metrics}, r.disk)
		require.NoError(t, err)
		require.NoError(t, r.Start(t.Context()))
		large := record(0)
		large.Value = append(large.Value, make([]byte, 600)...)
		require.NoError(t, r.Write(t.Context(), []producer.Record{large}))
		<-time.After(23 * time.Hour)
		require.InDelta(t, 1, r.metric(t, "lodestone_spool_records"), 0)
		require.Zero(t, r.metric(t, "lodestone_spool_expired_records_total"))
		<-time.After(2 * time.Hour)
		require.Zero(t, r.metric(t, "lodestone_spool_records"))
		require.InDelta(t, 1, r.metric(t, "lodestone_spool_expired_records_total"), 0)

		kafka.mu.Lock()
		kafka.away = errKafkaAway
		kafka.mu.Unlock()
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(1)}))
		<-time.After(26 * time.Hour)
		require.InDelta(t, 2, r.metric(t, "lodestone_spool_expired_records_total"), 0)
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(2)}))
		<-time.After(22 * time.Hour)
		kafka.mu.Lock()
		kafka.away = nil
		kafka.mu.Unlock()
		<-time.After(time.Minute)
		_, has := kafka.seen()
		require.Equal(t, 1, has, "the one that is not too old")
		require.Zero(t, r.metric(t, "lodestone_spool_records"))
		require.InDelta(t, 2, r.metric(t, "lodestone_spool_expired_records_total"), 0)
		require.NoError(t, r.Stop(t.Context()))
	})
}

// Damaged files are deleted when they are too old: while the collector runs, and when it starts.
// Files of others stay, and so does everything if there is no limit.
func TestOldDamagedFilesAreDeleted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		c := settings(t.TempDir())
		run := func() (*rig, func()) {
			r := &rig{metrics: prometheus.NewRegistry(), disk: &brokenDisk{fast: true}}
			var err error
			r.Spool, err = newSpool(c, Deps{Kafka: &picky{limit: 500, has: map[string]bool{}},
				Log: slog.New(slog.DiscardHandler), Registerer: r.metrics}, r.disk)
			require.NoError(t, err)
			require.NoError(t, r.Start(t.Context()))
			return r, func() { require.NoError(t, r.Stop(t.Context())) }
		}
		old := []string{segmentName(2), "0000000000000003.1" + segmentExtension, segmentName(4) + ".16.tail"}
		write := func(name string, age time.Duration) {
			path := filepath.Join(c.Dir, damagedDir, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
			require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
		}
		left := func() (names []string) {
			entries, err := os.ReadDir(filepath.Join(c.Dir, damagedDir))
			require.NoError(t, err)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return names
		}
		for _, name := range old {
			write(name, 6*day)
		}
		write("notes", 90*day)
		write(segmentName(6), 5*day)
		_, stop := run() // without a limit
		<-time.After(2 * day)
		require.Len(t, left(), len(old)+2)
		stop()

		c.MaxAge = 9 * day
		r, stop := run()
		<-time.After(day - sweepEvery)
		require.Len(t, left(), len(old)+2)
		require.InDelta(t, 3, r.metric(t, "lodestone_spool_damaged_segments"), 0)
		<-time.After(3 * sweepEvery)
		require.Equal(t, []string{segmentName(6), "notes"}, left())
		require.InDelta(t, 1, r.metric(t, "lodestone_spool_damaged_segments"), 0)
		stop()

		<-time.After(day)
		_, stop = run()
		synctest.Wait()
		require.Equal(t, []string{"notes"}, left())
		stop()
	})
}
