package collector_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// runSalts runs salts until there is one for the time: they start without, should Postgres take its
// time.
func runSalts(t *testing.T, s *collector.Salts, at time.Time) {
	t.Helper()
	enginetest.Run(t, s)
	require.Eventually(t, func() bool {
		_, ok := s.Hash(oneID, anna, at)
		return ok
	}, waitLimit, 20*time.Millisecond)
}

// saltKeys are those of all collectors that share a database.
var saltKeys = sync.OnceValues(token.NewKeys(1).Ring)

func newSaltsAt(t *testing.T, pool *postgres.Pool, clock func() time.Time) *collector.Salts {
	t.Helper()
	keys, err := saltKeys()
	require.NoError(t, err)
	return newSaltsUnder(t, keys, pool, clock)
}

func newSaltsUnder(t *testing.T, keys *token.Ring, pool *postgres.Pool, clock func() time.Time) *collector.Salts {
	t.Helper()
	salts, err := collector.NewSalts(collector.SaltsDeps{Postgres: pool, Tokens: keys, Now: clock,
		Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	return salts
}
