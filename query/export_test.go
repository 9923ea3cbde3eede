package query

import (
	"context"

	"github.com/google/uuid"
)

// LiveID returns the id of a live stream that stands for a position, which need not be one that there is.
func (q *Query) LiveID(ctx context.Context, account uuid.UUID, position string) (string, error) {
	return q.cursors.seal(ctx, account, position)
}
