package spool

import (
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
)

var errAway = errors.New("away")

// What Kafka has not taken for the longest time that is set is dropped, and counted: what it refuses for good, and what waited while it was
// away. What is younger is sent.
func TestOldRecordsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := settings(t.TempDir())
		c.MaxAge = 7 * 24 * time.Hour
		kafka := &picky{limit: 500, has: map[string]bool{}}
		r := &rig{metrics: prometheus.NewRegistry(), disk: &brokenDisk{fast: true}}
		var err error
		r.Spool, err = newSpool(c, Deps{Kafka: kafka, Log: slog.New(slog.DiscardHandler), Registerer: r.metrics}, r.disk)
		require.NoError(t, err)
		require.NoError(t, r.Start(t.Context()))
		large := record(0)
		large.Value = append(large.Value, make([]byte, 600)...)
		require.NoError(t, r.Write(t.Context(), []producer.Record{large}))
		<-time.After(6 * 24 * time.Hour)
		require.InDelta(t, 1, r.metric(t, "lodestone_spool_refused_records"), 0)
		require.Zero(t, r.metric(t, "lodestone_spool_expired_records_total"))
		<-time.After(25 * time.Hour)
		require.Zero(t, r.metric(t, "lodestone_spool_refused_records"))
		require.InDelta(t, 1, r.metric(t, "lodestone_spool_expired_records_total"), 0)

		kafka.mu.Lock()
		kafka.away = errAway
		kafka.mu.Unlock()
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(1)}))
		<-time.After(8 * 24 * time.Hour)
		require.InDelta(t, 2, r.metric(t, "lodestone_spool_expired_records_total"), 0)
		require.NoError(t, r.Write(t.Context(), []producer.Record{record(2)}))
		<-time.After(24 * time.Hour)
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
