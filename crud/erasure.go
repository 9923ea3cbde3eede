package crud

import (
	"context"
	"strings"
	"time"

	"lodestone/crud/chat"
	"lodestone/crud/mail"
	"lodestone/crud/person"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/service"
)

// newEraser puts together what erases people. The log is in the bucket of files, if nothing else is set.
func newEraser(c Config, d Deps, mails *mail.Queue, chats *chat.Channels) (*person.Eraser, error) {
	if c.Erasure.Log == "" && c.Files.Store != "" {
		c.Erasure.Log = strings.TrimSuffix(c.Files.Store, "/") + "/erasures"
	}
	log, err := person.OpenLog(c.Erasure, c.Files.S3)
	if err != nil {
		return nil, err
	}
	if log == nil {
		d.Log.Warn("no one can be erased: there is no --erasure-log")
	}
	deps := person.EraserDeps{Postgres: d.Postgres, Mails: mails, Chats: chats, Answers: answers(d), Tokens: d.Tokens, Log: log, Logger: d.Log}
	if d.Mailbox != nil {
		deps.Mailbox = d.Mailbox
	}
	return person.NewEraser(c.Erasure, deps), nil
}

func answers(d Deps) *idempotency.Store {
	return idempotency.New(idempotency.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Log: d.Log})
}

const replayPause = 5 * time.Second // after a failure

// Erasures returns what erases again those whom the log of erasures has and a restored database has not, for the process to start before
// it serves requests: it is started when that is done.
func (s *Service) Erasures() service.Service {
	return service.NewLoop("erasures", func(ctx context.Context, ready func()) error {
		err := service.Retry(ctx, replayPause, replayPause, func() error {
			_, err := s.eraser.Replay(ctx)
			return err
		}, func(err error) (time.Duration, bool) {
			s.log.Error("cannot compare the log of erasures with Postgres, and serves nothing until then", "again_in", replayPause, "error", err)
			return 0, true
		})
		if err != nil {
			return err //nolint:wrapcheck // the process ends
		}
		ready()
		<-ctx.Done()
		return nil
	})
}
