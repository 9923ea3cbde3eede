package crud

import (
	"context"
	"errors"
	"time"

	"lodestone/pkg/service"
)

const (
	// sealEvery is how often secrets in clear, and those under an older key, are looked for: a process of the release before, or with older
	// settings, may add one while it ends.
	sealEvery = time.Hour
	sealRetry = 5 * time.Second
)

// Sealing returns what seals the secrets that Postgres has in clear since a release before, and those that are sealed under another
// token key than the first, for the process to start and stop. So a key is needed no longer once every process has run with the next
// one as the first.
func (s *Service) Sealing() service.Service {
	return service.Every("sealing", sealEvery, sealRetry, s.log, func(ctx context.Context) error {
		return errors.Join(s.webhooks.Seal(ctx), s.access.Seal(ctx), s.mails.Seal(ctx, s.postgres), s.chats.Seal(ctx, s.postgres))
	})
}
