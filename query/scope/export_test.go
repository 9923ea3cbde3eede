package scope

import (
	"context"
	"time"
)

// Mirrored runs the query that a SettledClock sends to Postgres.
func (c *SettledClock) Mirrored(ctx context.Context, number int32) (time.Time, error) {
	return c.mirrored(ctx, number)
}
