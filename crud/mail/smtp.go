package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"lodestone/pkg/certificate"
)

// smtpTimeout bounds the dialogue with the server: the connection, and what comes after it.
const smtpTimeout = 20 * time.Second

// smtpSender hands mails to the SMTP server, each over a connection of its own.
type smtpSender struct {
	server server
	tls    string
	roots  *x509.CertPool // of a test; nil: the system's
	dial   dialer
	offer  *offer
}

func newSMTPSender(c Config, roots *x509.CertPool) (*smtpSender, error) {
	s, err := parseServer(c.URL)
	return &smtpSender{server: s, tls: c.TLS, roots: roots, dial: (&net.Dialer{}).DialContext, offer: &offer{}}, err
}

// client returns a client for one mail; the connection it makes is closed when ctx ends, in
// whatever it waits for.
func (s *smtpSender) client(ctx context.Context) (*gomail.Client, func(), error) {
	port, err := strconv.Atoi(s.server.port)
	if err != nil {
		return nil, nil, fmt.Errorf("read SMTP port: %w", err)
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: s.server.host, RootCAs: s.roots}
	policy := gomail.TLSMandatory
	if s.tls == tlsOptional || s.server.loopback() {
		policy = gomail.TLSOpportunistic
	}
	// No one is between this process and a server of the same machine, whose certificate rarely has a
	// name that could be checked.
	config.InsecureSkipVerify = s.server.loopback() && config.RootCAs == nil
	watch := &watchedConn{}
	options := []gomail.Option{
		gomail.WithPort(port), gomail.WithTimeout(smtpTimeout), gomail.WithTLSConfig(config),
		gomail.WithTLSPolicy(policy), gomail.WithoutNoop(),
		gomail.WithDialContextFunc(func(dial context.Context, network, address string) (net.Conn, error) {
			return watch.dial(dial, ctx, s.dial, network, address, s.server.implicit, config)
		}),
	}
	if s.server.implicit {
		options = append(options, gomail.WithSSL())
	}
	if s.server.user != "" {
		// A password is sent as it is over TLS or to this machine only; the library sees to that.
		options = append(options, gomail.WithUsername(s.server.user), gomail.WithPassword(s.server.password),
			gomail.WithOpportunisticSMTPAuth(gomail.SMTPAuthSCRAMSHA256, gomail.SMTPAuthPlain,
				gomail.SMTPAuthLogin, gomail.SMTPAuthCramMD5))
	}
	client, err := gomail.NewClient(s.server.host, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("make SMTP client: %w", err)
	}
	return client, watch.release, nil
}

// watchedConn is a connection that ends with a context: once it is open, the library only looks at
// deadlines.
type watchedConn struct{ stop func() bool }

type dialer func(ctx context.Context, network, address string) (net.Conn, error)

func (w *watchedConn) dial(dial, life context.Context, plain dialer, network, address string, implicit bool,
	config *tls.Config) (net.Conn, error) {
	conn, err := plain(dial, network, address)
	if err != nil {
		return nil, err
	}
	w.stop = context.AfterFunc(life, func() { _ = conn.Close() }) // whoever waits for it gets the error
	if !implicit {
		return conn, nil
	}
	secure := tls.Client(conn, config)
	if err := secure.HandshakeContext(dial); err != nil {
		_ = conn.Close() // the error that counts is the handshake's
		return nil, err
	}
	return secure, nil
}

func (w *watchedConn) release() {
	if w.stop != nil {
		w.stop()
	}
}

// send hands over one mail. An error reveals neither its contents nor its recipient, and is a
// *replyError if the server answered.
func (s *smtpSender) send(ctx context.Context, _ Kind, m *gomail.Msg) error {
	err := s.connect(ctx, func(conn *smtp.Client, client *gomail.Client) error { return send(conn, client, m) })
	if err != nil && m.IsDelivered() { // the server took it, and only the QUIT failed
		return nil
	}
	return err
}

// connect calls fn with a connection to the server.
func (s *smtpSender) connect(ctx context.Context, fn func(conn *smtp.Client, client *gomail.Client) error) error {
	client, release, err := s.client(ctx)
	if err != nil {
		return err
	}
	defer release()
	conn, err := client.DialToSMTPClientWithContext(ctx)
	if err == nil {
		err = errors.Join(fn(conn, client), client.CloseWithSMTPClient(conn))
	}
	switch {
	case err == nil, errors.Is(err, errNoUTF8):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("send mail: %w", context.Cause(ctx))
	}
	return classify(certificate.Explain(err, s.server.host, certificate.TrustBySystem))
}

// replyError is a server's answer that is no success.
type replyError struct {
	stage     string
	code      int    // of SMTP
	enhanced  string // RFC 3463, or ""
	permanent bool   // another try of the same mail cannot succeed
}

// Error implements error. The server's own words are left out: they tend to repeat the address.
func (r *replyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the SMTP server refused %s: %d %s", r.stage, r.code, r.enhanced))
}

// isPermanent reports whether a mail can never be delivered, so that it is not tried again. That is
// about the receiver or the mail. What is wrong between us and our own server (the connection, TLS,
// the password, the sender) can be fixed by its operator.
func isPermanent(err error) bool {
	r, ok := errors.AsType[*replyError](err)
	return ok && r.permanent || errors.Is(err, errNoUTF8)
}

func classify(err error) error {
	if sent, ok := errors.AsType[*gomail.SendError](err); ok && sent.ErrorCode() > 0 {
		r := &replyError{stage: "the mail", code: sent.ErrorCode(), enhanced: sent.EnhancedStatusCode()}
		switch sent.Reason {
		case gomail.ErrSMTPMailFrom:
			r.stage = "the sender"
		case gomail.ErrSMTPRcptTo:
			r.stage = "the receiver"
			r.permanent = r.code >= 500
		case gomail.ErrSMTPData, gomail.ErrSMTPDataClose, gomail.ErrWriteContent:
			r.permanent = r.code >= 500
		default:
		}
		return r
	}
	if answer, ok := errors.AsType[*textproto.Error](err); ok {
		return &replyError{stage: "the login or the greeting", code: answer.Code}
	}
	var unknown *tls.CertificateVerificationError
	switch {
	case certificate.IsExplained(err):
		return fmt.Errorf("talk to the SMTP server: %w", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("check the SMTP server's certificate: %w", unknown.Err)
	case isNetwork(err):
		return fmt.Errorf("talk to the SMTP server: %w", networkError(err))
	default:
		// What is left are the library's words about the dialogue: no STARTTLS, no way to log in.
		if sent, ok := errors.AsType[*gomail.SendError](err); ok {
			return fmt.Errorf("the dialogue with the SMTP server broke off: %s", sent.Reason)
		}
		return fmt.Errorf("talk to the SMTP server: %w", err)
	}
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network)
}

// networkError returns the innermost error of the connection.
func networkError(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op
	}
	var network net.Error
	errors.As(err, &network)
	return network
}

// errNoUTF8 is the error of a mail that the server must not be given (RFC 6531, 3.2). Another try
// cannot succeed.
var errNoUTF8 = errors.New(
	"the SMTP server does not offer SMTPUTF8, so it takes no address that is not ASCII before the @")

// needsUTF8 reports whether an address is not ASCII before the @. Domains have an ASCII form.
func needsUTF8(address string) bool {
	local, _, _ := strings.Cut(address, "@")
	return strings.ContainsFunc(local, func(r rune) bool { return r >= utf8.RuneSelf })
}

// send hands a mail to a server that a connection was made to, unless the server cannot take its
// receivers.
func send(conn *smtp.Client, client *gomail.Client, m *gomail.Msg) error {
	to, err := m.GetRecipients()
	if err != nil {
		return err
	}
	if offered, _ := conn.Extension("SMTPUTF8"); !offered && needsUTF8(strings.Join(to, " ")) {
		return errNoUTF8
	}
	return client.SendWithSMTPClient(conn, m)
}
