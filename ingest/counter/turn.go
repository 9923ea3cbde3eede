package counter

import (
	"context"
	"errors"
	"fmt"

	"lodestone/pkg/store"
)

// One copy of the events counts at a time. Counters are also set by all that a copy has, which
// takes off what another one counted and this one lacks: so a copy takes over only when it has
// everything that is counted, and each transaction that counts holds the record of whose turn it
// is.

// ErrTurn says that another copy of the events counts.
var ErrTurn = errors.New("another copy of the events counts")

// requireTurn returns ErrTurn unless it is the turn of the copy, and holds the turn until the
// transaction ends.
func requireTurn(ctx context.Context, q *store.Queries, copyNumber int32) error {
	counts, err := q.HoldCountingCopy(ctx)
	if err != nil {
		return fmt.Errorf("read which copy of the events counts: %w", err)
	}
	if counts != copyNumber {
		return fmt.Errorf("%w: copy %d, and this is copy %d", ErrTurn, counts, copyNumber)
	}
	return nil
}
