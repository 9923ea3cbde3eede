package mail

import (
	"context"
	"errors"
	"sync"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// offer is the detected support of the server for UTF-8 addresses.
type offer struct {
	mu    sync.Mutex
	utf8  bool
	until time.Time // when it is to be asked again
}

// offerLasts is how long the server's offer is remembered.
const offerLasts = 10 * time.Minute

// reaches implements reacher. A server that does not answer is taken for one that takes the
// address: the mail waits for it.
func (s *smtpSender) reaches(ctx context.Context, address string) bool {
	if !needsUTF8(address) {
		return true
	}
	s.offer.mu.Lock()
	defer s.offer.mu.Unlock()
	now := time.Now()
	if now.Before(s.offer.until) {
		return s.offer.utf8
	}
	err := s.connect(ctx, func(conn *smtp.Client, _ *gomail.Client) error {
		s.offer.utf8, _ = conn.Extension("SMTPUTF8")
		s.offer.until = now.Add(offerLasts)
		return nil
	})
	return err != nil || s.offer.utf8
}

// reacher is a sender that cannot hand over mails to some addresses.
type reacher interface {
	reaches(ctx context.Context, address string) bool
}

// ErrUnreachable is the error of an address that Reaches is false for; its text completes a
// sentence that begins with a field's name.
var ErrUnreachable = errors.New(
	"must be an address that mails can be sent to: in the domain, letters of domain names; before the @, ASCII, unless the SMTP server offers SMTPUTF8")

// Reaches reports whether mails can be sent to an address: a server without SMTPUTF8 takes none
// that is not ASCII before the @.
func (q *Queue) Reaches(ctx context.Context, address string) bool {
	to, err := wire(address)
	if err != nil {
		return false
	}
	r, asks := q.sender.(reacher)
	return !asks || r.reaches(ctx, to)
}
