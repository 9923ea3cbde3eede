package consumer

import (
	"context"
	"slices"

	"lodestone/ingest/stream"
)

// A log that lost its end (all brokers lost their power, or Kafka was restored from a backup) gives the offsets of what
// is stored to new records. So a record is passed over only if the row at its offset is of the same event (compare). What is
// below the commit is passed over without a look: there the last rows are compared with what the filler reads for the
// window of repeats, since what a log loses is always its end.
const comparedOffsets = 1_000 // so far below the commit they are looked for

// compare returns a *differsError if a row that was found stored is not of the event that the block has at its offset.
func (w *worker) compare(ctx context.Context, stored *stream.Offsets) error {
	rows := w.block.table
	if !slices.ContainsFunc(rows.Offsets(), stored.Has) {
		return nil
	}
	same, err := w.store.Same(ctx, rows)
	if err != nil {
		return err
	}
	for _, offset := range rows.Offsets() {
		if stored.Has(offset) && !same.Has(offset) {
			return &differsError{offset, w.filler.end.Load()}
		}
	}
	return nil
}
