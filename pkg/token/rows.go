package token

import (
	"context"
	"errors"
)

// rowBatch is how many rows SealRows reads at a time.
const rowBatch = 1000

// SealRows seals rows of a table, or seals them again with the first key of the ring. read returns
// up to limit rows whose ids come after one, in the order of the ids, beginning after the zero id;
// seal seals one row, stores it, and returns its id. It returns how many rows seal could not open
// (ErrSealed): these are passed over, and keep no other row from being sealed.
func SealRows[ID, Row any](ctx context.Context, read func(ctx context.Context, after ID, limit int64) ([]Row, error),
	seal func(ctx context.Context, row Row) (ID, error)) (unopened int, err error) {
	var last ID
	for {
		rows, err := read(ctx, last, rowBatch)
		if err != nil {
			return unopened, err
		}
		for _, row := range rows {
			last, err = seal(ctx, row)
			if errors.Is(err, ErrSealed) {
				unopened++
			} else if err != nil {
				return unopened, err
			}
		}
		if len(rows) < rowBatch {
			return unopened, nil
		}
	}
}
