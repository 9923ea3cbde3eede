package clickhouse

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// AskCanary sends the query of a canary once.
func AskCanary(ctx context.Context, c *Canary) error { return c.ask(ctx) }

// AskHTTP asks a server as the canary does.
func AskHTTP(ctx context.Context, address, user, password string) error {
	c, err := NewCanary(CanaryConfig{URL: address}, CanaryDeps{Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	if err != nil {
		return err
	}
	return askAs(ctx, c.client, c.address, user, password)
}
