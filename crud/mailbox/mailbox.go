// Package mailbox is a mailbox for everybody: an SMTP server on this machine that keeps what it is given, and
// pages that show it. It is for trying Lodestone without an SMTP server of one's own, and never for mails that
// are to arrive.
package mailbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/emersion/go-smtp"
)

const (
	// Keep is how many mails are kept; older ones go.
	Keep = 200

	maxMailBytes = 10 << 20
	smtpTimeout  = 30 * time.Second
)

// Mailbox is a service.Service. Its mails stay in a directory over restarts.
type Mailbox struct {
	store    *store
	server   *smtp.Server
	listener net.Listener
	failed   chan error
	done     chan struct{} // nil before the start
	stop     sync.Once
}

// New returns a mailbox that keeps its mails in a directory, which it makes. It listens from now on, on a
// free port of the loopback, and answers once it is started.
func New(ctx context.Context, dir string, log *slog.Logger) (*Mailbox, error) {
	s, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for mails: %w", err)
	}
	m := &Mailbox{store: s, listener: listener, failed: make(chan error, 1)}
	m.server = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &session{store: s}, nil }))
	m.server.Domain = "localhost"
	m.server.MaxMessageBytes = maxMailBytes
	m.server.MaxRecipients = 50
	m.server.ReadTimeout, m.server.WriteTimeout = smtpTimeout, smtpTimeout
	m.server.EnableSMTPUTF8 = true
	m.server.ErrorLog = logger{log}
	return m, nil
}

// URL returns the address for --smtp-url.
func (m *Mailbox) URL() string { return "smtp://" + m.listener.Addr().String() }

// Start implements service.Service.
func (m *Mailbox) Start(context.Context) error {
	m.done = make(chan struct{})
	go func() {
		defer close(m.done)
		if err := m.server.Serve(m.listener); err != nil && !errors.Is(err, smtp.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			m.failed <- fmt.Errorf("take mails: %w", err)
		}
	}()
	return nil
}

// Stop implements service.Service.
func (m *Mailbox) Stop(ctx context.Context) error {
	m.stop.Do(func() {
		_ = m.server.Close()   // that it was not serving is no matter
		_ = m.listener.Close() // nor that the server closed it
	})
	if m.done == nil {
		return nil
	}
	select {
	case <-m.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop mailbox: %w", context.Cause(ctx))
	}
}

// Failed implements service.Service.
func (m *Mailbox) Failed() <-chan error { return m.failed }

// session takes the mails of one connection.
type session struct {
	store *store
	from  string
	to    []string
}

// Mail implements smtp.Session.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt implements smtp.Session.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = append(s.to, to)
	return nil
}

// Data implements smtp.Session.
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err //nolint:wrapcheck // an answer of the protocol
	}
	return s.store.add(s.from, s.to, raw, time.Now())
}

// Reset implements smtp.Session.
func (s *session) Reset() { s.from, s.to = "", nil }

// Logout implements smtp.Session.
func (s *session) Logout() error { return nil }

// logger takes what the SMTP library has to say.
type logger struct{ log *slog.Logger }

// Printf implements smtp.Logger.
func (l logger) Printf(format string, v ...any) {
	l.log.Debug("mailbox", "message", fmt.Sprintf(format, v...))
}

// Println implements smtp.Logger.
func (l logger) Println(v ...any) { l.log.Debug("mailbox", "message", fmt.Sprint(v...)) }
