package magnet

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
)

const (
	// KeepOpened is how long a replaced version is kept after a session was opened with it. It is
	// longer than a session gives its file (session.Longest), and leaves time for a download that
	// began at the end of that.
	KeepOpened = 24 * time.Hour
	// settled is longer than a transaction that stores a version, or opens a session, takes.
	settled      = 10 * time.Minute
	discardBatch = 20
)

// discard deletes the bytes of versions that were replaced and that no session reads any more: of
// one lead magnet, or of all for nil.
func discard(ctx context.Context, q *store.Queries, magnet *uuid.UUID) error {
	for {
		n, err := q.DiscardReplacedFiles(ctx, store.DiscardReplacedFilesParams{
			LeadMagnetID: magnet, ReplacedSeconds: settled.Seconds(),
			OpenedSeconds: KeepOpened.Seconds(), RowLimit: discardBatch,
		})
		if err != nil {
			return fmt.Errorf("discard replaced files: %w", err)
		}
		if n < discardBatch {
			return nil
		}
	}
}
