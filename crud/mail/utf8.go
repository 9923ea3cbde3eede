package mail

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// errNoUTF8 is the error of a mail that the server must not be given (RFC 6531, 3.2). Another try cannot succeed.
var errNoUTF8 = errors.New("the SMTP server does not offer SMTPUTF8, so it takes no address that is not ASCII before the @")

// needsUTF8 reports whether an address is not ASCII before the @. Domains have an ASCII form.
func needsUTF8(address string) bool {
	local, _, _ := strings.Cut(address, "@")
	return strings.ContainsFunc(local, func(r rune) bool { return r >= utf8.RuneSelf })
}

// send hands a mail to a server that a connection was made to, unless the server cannot take its receivers.
func send(conn *smtp.Client, client *gomail.Client, m *gomail.Msg) error {
	to, err := m.GetRecipients()
	if err != nil {
		return err //nolint:wrapcheck // of a message without receivers, which compose does not make
	}
	if offered, _ := conn.Extension("SMTPUTF8"); !offered && needsUTF8(strings.Join(to, " ")) {
		return errNoUTF8
	}
	return client.SendWithSMTPClient(conn, m) //nolint:wrapcheck // classified by its type
}

// offer is what the server was found to offer.
type offer struct {
	mu    sync.Mutex
	utf8  bool
	until time.Time // when it is to be asked again
}

// offerLasts is how long the server's offer is remembered.
const offerLasts = 10 * time.Minute

// reaches implements reacher. A server that does not answer is taken for one that takes the address: the mail waits for it.
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
	err := s.config.Secret.Try(s.config.URL, isLogin, func(url string) error {
		server, err := parseServer(url)
		if err != nil {
			return err
		}
		return s.dialTo(ctx, server, func(conn *smtp.Client, _ *gomail.Client) error {
			s.offer.utf8, _ = conn.Extension("SMTPUTF8")
			s.offer.until = now.Add(offerLasts)
			return nil
		})
	})
	return err != nil || s.offer.utf8
}

// reacher is a sender that cannot hand over mails to some addresses.
type reacher interface {
	reaches(ctx context.Context, address string) bool
}

// Reaches reports whether mails can be sent to an address: a server without SMTPUTF8 takes none that is not ASCII before the @.
func (q *Queue) Reaches(ctx context.Context, address string) bool {
	to, err := wire(address)
	if err != nil {
		return false
	}
	r, asks := q.sender.(reacher)
	return !asks || r.reaches(ctx, to)
}
