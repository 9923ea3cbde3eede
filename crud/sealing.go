package crud

import (
	"context"
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
	return service.NewLoop("sealing", func(ctx context.Context, ready func()) error {
		ready()
		for {
			wait := sealEvery
			for _, seal := range []func(context.Context) error{s.webhooks.Seal, s.access.Seal, s.sealMails} {
				if err := seal(ctx); err != nil && ctx.Err() == nil {
					s.log.Warn("cannot seal secrets, will try again", "error", err)
					wait = sealRetry
				}
			}
			if err := service.Sleep(ctx, wait); err != nil {
				return err
			}
		}
	})
}

func (s *Service) sealMails(ctx context.Context) error { return s.mails.Seal(ctx, s.postgres) }
