package magnet

import (
	"context"
	"time"

	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	upkeepPause = time.Hour
	upkeepRetry = time.Minute
)

// Upkeep readies the reader of PDFs, so that the first upload need not wait, and deletes the bytes
// of replaced files that are not read any more. Several processes may do it at once.
func (m *Magnets) Upkeep() service.Service {
	return service.Every("upkeep of files", upkeepPause, upkeepRetry, m.deps.Log, func(ctx context.Context) error {
		if err := discard(ctx, store.New(m.deps.Postgres.Unscoped()), nil); err != nil {
			return err
		}
		return m.deps.Reader.Prepare(ctx)
	})
}
