package ratelimit_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
)

// BenchmarkTake counts requests of one key and of many. Each answer of the API waits for this.
func BenchmarkTake(b *testing.B) {
	url, _ := database(b)
	pool, err := postgres.Open(b.Context(), postgres.Config{URL: url, MaxConns: 8})
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	limiter := ratelimit.New(ratelimit.Config{Requests: 10_000_000, Analytics: 1, AnalyticsEmail: 1},
		ratelimit.Deps{Postgres: pool, Log: quiet()})
	caller := func() auth.Identity { return auth.Identity{AccountID: uuid.New(), KeyID: uuid.New()} }
	one := caller()
	for name, who := range map[string]func() auth.Identity{"one key": func() auth.Identity { return one },
		"a key each": caller} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				limiter.Take(context.Background(), ratelimit.Requests, who())
			}
		})
	}
	// Who is over the limit is known without a look.
	limiter.Take(b.Context(), ratelimit.Analytics, one)
	b.Run("over the limit", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			limiter.Take(context.Background(), ratelimit.Analytics, one)
		}
	})
}
