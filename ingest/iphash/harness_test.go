package iphash_test

import (
	"bytes"
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/iphash"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// waitLimit bounds a wait for what must happen; it is no measure of speed.
const waitLimit = 2 * time.Minute

// run starts a service and stops it at the end of the test, unless the test has done so.
func run(t *testing.T, s startStopper) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	require.NoError(t, s.Start(ctx))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		require.NoError(t, s.Stop(ctx))
	})
}

// runSalts runs salts until there is one for the time: they start without, should Postgres take its time.
func runSalts(t *testing.T, s *iphash.Salts, at time.Time) {
	t.Helper()
	run(t, s)
	require.Eventually(t, func() bool {
		_, ok := s.Hash(oneID, anna, at)
		return ok
	}, waitLimit, 20*time.Millisecond)
}

func newDatabase(t *testing.T) *postgres.Pool {
	t.Helper()
	ctx := context.Background()
	pool, err := postgres.Open(ctx, postgres.Config{URL: enginetest.Postgres(t), MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	_, err = pool.Migrate(ctx)
	require.NoError(t, err)
	return pool
}

// saltKeys are those of all collectors that share a database.
var saltKeys = sync.OnceValues(token.NewKeys(1).Ring)

func newSalts(t *testing.T, pool *postgres.Pool, clock func() time.Time) *iphash.Salts {
	t.Helper()
	keys, err := saltKeys()
	require.NoError(t, err)
	return newSaltsUnder(t, keys, pool, clock)
}

func newSaltsUnder(t *testing.T, keys *token.Ring, pool *postgres.Pool, clock func() time.Time) *iphash.Salts {
	t.Helper()
	salts, err := iphash.NewSalts(iphash.Deps{Postgres: pool, Tokens: keys, Now: clock, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	return salts
}

type startStopper interface {
	Start(context.Context) error
	Stop(context.Context) error
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
