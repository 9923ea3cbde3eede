package crud

import (
	"context"
	"errors"
	"time"

	"lodestone/pkg/service"
)

const (
	// sealEvery is how often secrets under an older key are looked for: a process with older settings
	// may add one while it ends.
	sealEvery = time.Hour
	sealRetry = 5 * time.Second
)

// Sealing returns the service that seals again what is sealed under another token key than the
// first. So a key is needed no longer once every process has run with the next one as the first.
func (s *Service) Sealing() service.Service {
	return service.Every("sealing", sealEvery, sealRetry, s.log, func(ctx context.Context) error {
		return errors.Join(s.webhooks.Seal(ctx), s.access.Seal(ctx))
	})
}
