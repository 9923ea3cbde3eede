package clickhouse

import "context"

// AskCanary sends the query of a canary once.
func AskCanary(ctx context.Context, c *Canary) error { return c.ask(ctx) }
