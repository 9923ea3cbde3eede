package consumer

import "context"

// aheadOffsets is how many offsets one look ahead covers: as many as a block may have rows several times over.
const aheadOffsets = 1 << 18

// isStored reports whether every row of the block is stored already, and takes those that are out of
// what is to be looked for among old events. Committed offsets that are lost or set back make a
// consumer walk through all of the log that is left: with a look and a commit for each block that would
// take hours, so one look ahead serves many. Rows are never taken away while a consumer may look for them, so what it
// shows as stored stays so; of the rest it knows nothing, since an insert of an earlier assignment may have
// come later. ok is false if the worker is to end.
func (w *worker) isStored(ctx context.Context) (stored, ok bool) {
	b := w.block
	if b.first > w.doubt || len(b.rows()) == 0 {
		return false, true
	}
	limit := w.cfg.InsertTimeout
	ok = w.retry(ctx, "look which rows are stored", func() (err error) {
		limited, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		limit = min(2*limit, maxLook) // as in dropOld
		if !w.ahead.Covers(b.first, b.last) {
			w.ahead, err = w.store.Stored(limited, b.first, max(b.last, min(w.doubt, b.first+aheadOffsets-1)))
			if err != nil {
				return err
			}
		}
		return w.compare(limited, w.ahead)
	})
	if !ok {
		return false, false
	}
	left := b.spooled[:0]
	for _, s := range b.spooled {
		if !w.ahead.Has(s.offset) {
			left = append(left, s)
		}
	}
	b.spooled = left
	for _, offset := range b.rows() {
		if !w.ahead.Has(offset) {
			return false, true
		}
	}
	w.metrics.recovered.Add(float64(len(b.rows())))
	return true, true
}
