package scope

import (
	"context"
	"time"
)

// Mirrored is what a SettledClock asks of Postgres.
func (c *SettledClock) Mirrored(ctx context.Context, number int32) (time.Time, error) {
	return c.mirrored(ctx, number)
}
