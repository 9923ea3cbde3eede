package query

import (
	"context"

	"github.com/google/uuid"
)

// LiveID returns the id of a live stream of a time in milliseconds.
func (q *Query) LiveID(ctx context.Context, account uuid.UUID, at any) (string, error) {
	return q.cursors.seal(ctx, account, at)
}
