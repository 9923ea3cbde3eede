package consumer

import (
	"context"
	"fmt"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
)

// aheadOffsets is how many offsets one look ahead covers: as many as a block may have rows several times over.
const aheadOffsets = 1 << 18

// ahead is what one look at ClickHouse found stored of the offsets from first to last. Rows are never
// taken away, so what it shows as stored stays so; of the rest it knows nothing, since an insert of an
// earlier assignment may have come later.
type ahead struct {
	first, last int64
	stored      []uint64 // one bit an offset
}

func newAhead(first, last int64) *ahead {
	return &ahead{first, last, make([]uint64, (last-first)/64+1)}
}

func (a *ahead) add(offset int64) {
	i := offset - a.first
	a.stored[i/64] |= 1 << (i % 64)
}

func (a *ahead) has(offset int64) bool {
	if a == nil || offset < a.first || offset > a.last {
		return false
	}
	i := offset - a.first
	return a.stored[i/64]&(1<<(i%64)) != 0
}

// lookAhead returns which of the offsets from first to last are stored.
func (s *store) lookAhead(ctx context.Context, first, last int64) (*ahead, error) {
	a := newAhead(first, last)
	var column proto.ColInt64
	err := s.do(ctx, ch.Query{
		Body:       s.storedOffsets(),
		Parameters: s.parameters(map[string]any{"first": first, "last": last}),
		Result:     proto.Results{{Name: "kafka_offset", Data: &column}},
		OnResult: func(context.Context, proto.Block) error {
			for _, offset := range column {
				a.add(offset)
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return a, nil
}

// isStored reports whether every row of the block is stored already, and takes those that are out of
// what is to be looked for among old events. Committed offsets that are lost or set back make a
// consumer walk through all of the log that is left: with a look and a commit for each block that would
// take hours. ok is false if the worker is to end.
func (w *worker) isStored(ctx context.Context) (stored, ok bool) {
	b := w.block
	if b.first > w.doubt || disableRuleR || len(b.rows()) == 0 {
		return false, true
	}
	if w.ahead == nil || b.last > w.ahead.last || b.first < w.ahead.first {
		ok := w.retry(ctx, "look which rows are stored", func() (err error) {
			limited, cancel := context.WithTimeout(ctx, w.cfg.InsertTimeout)
			defer cancel()
			w.ahead, err = w.store.lookAhead(limited, b.first, max(b.last, min(w.doubt, b.first+aheadOffsets-1)))
			return err
		})
		if !ok {
			return false, false
		}
	}
	left := b.spooled[:0]
	for _, s := range b.spooled {
		if !w.ahead.has(s.offset) {
			left = append(left, s)
		}
	}
	b.spooled = left
	for _, offset := range b.rows() {
		if !w.ahead.has(offset) {
			return false, true
		}
	}
	w.metrics.recovered.Add(float64(len(b.rows())))
	return true, true
}
