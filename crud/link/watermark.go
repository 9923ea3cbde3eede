package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/gate"
	"lodestone/crud/pdf"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// checkWatermark refuses a watermark for a document that has too many pages for it. The lead magnet
// stays locked, so that none is uploaded meanwhile.
func checkWatermark(ctx context.Context, q *store.Queries, asked *gate.LinkGateChange, magnet uuid.UUID) error {
	if asked == nil || asked.Watermark == nil || !*asked.Watermark {
		return nil
	}
	if _, err := q.LockMagnet(ctx, magnet); err != nil {
		return fmt.Errorf("lock lead magnet: %w", err)
	}
	f, err := q.GetFile(ctx, magnet)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read file of lead magnet: %w", err)
	}
	if f.PageCount > pdf.MaxStamped {
		return problem.Invalid(problem.Field{Field: "gate.watermark", Message: fmt.Sprintf(
			"cannot be true: the document has %d pages, and a watermark is drawn on %d at most; upload a version with fewer first",
			f.PageCount, pdf.MaxStamped)})
	}
	return nil
}
