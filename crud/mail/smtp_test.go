package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/test"
)

const receiver = "jo@example.com"

// sendTo sends one mail to a server that calls itself by a name that is not of this machine.
func sendTo(ctx context.Context, t *testing.T, s *smtpServer, url, tls string, roots *x509.CertPool) error {
	t.Helper()
	return sendBy(ctx, t, s, Config{URL: url, TLS: tls, From: "Example <hello@example.com>"}, roots)
}

func sendBy(ctx context.Context, t *testing.T, s *smtpServer, c Config, roots *x509.CertPool) error {
	t.Helper()
	out, err := newSMTPSender(c, roots)
	require.NoError(t, err)
	from, _, err := c.senders()
	require.NoError(t, err)
	out.dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.address)
	}
	render, err := newRenderer()
	require.NoError(t, err)
	texts, err := web.VisitorTexts()
	require.NoError(t, err)
	w := &worker{from: from, render: render, mails: prometheus.NewCounterVec(prometheus.CounterOpts{}, []string{"a", "b"})}
	l, err := write(Message{Kind: KindDocument, AccountID: uuid.New(), To: receiver, URL: "https://x.example/a/T"},
		texts.In(""), Brand{}, "https://x.example", time.Now())
	require.NoError(t, err)
	msg, err := w.compose(receiver, time.Now(), l, Brand{})
	require.NoError(t, err)
	return out.send(ctx, KindDocument, msg)
}

func TestTLSIsRequired(t *testing.T) {
	t.Parallel()
	config, roots := serverCertificate(t, "mail.example")
	_, strangers := serverCertificate(t, "mail.example")
	for name, c := range map[string]struct {
		url, tls string
		server   []option
		implicit bool
		roots    *x509.CertPool
		fails    string
		plain    bool
	}{
		"STARTTLS": {"smtp://mail.example", tlsRequired,
			[]option{withTLS(config)}, false, roots, "", false},
		"STARTTLS with a login": {"smtp://u:p@mail.example", tlsRequired,
			[]option{withTLS(config), withLogin("u:p", false)}, false, roots, "", false},
		"TLS at once": {"smtps://u:p@mail.example", tlsRequired,
			[]option{withTLS(config), withLogin("u:p", false)}, true, roots, "", false},
		"no STARTTLS":           {"smtp://mail.example", tlsRequired, nil, false, roots, "STARTTLS", false},
		"no STARTTLS, optional": {"smtp://mail.example", tlsOptional, nil, false, roots, "", true},
		"certificate of another name": {"smtp://other.example", tlsRequired, []option{withTLS(config)}, false,
			roots, "certificate", false},
		"certificate of strangers": {"smtp://mail.example", tlsRequired, []option{withTLS(config)}, false,
			strangers, "certificate", false},
		"the same, at once": {"smtps://mail.example", tlsRequired, []option{withTLS(config)}, true,
			strangers, "certificate", false},
		"optional is no reason to trust": {"smtp://mail.example", tlsOptional, []option{withTLS(config)}, false,
			strangers, "certificate", false},
		"a password never goes in clear": {"smtp://u:p@mail.example", tlsOptional, []option{withLogin("u:p", true)}, false,
			roots, "unencrypted", false},
		"this machine, no TLS": {"smtp://u:p@localhost", tlsRequired,
			[]option{withLogin("u:p", true)}, false, nil, "", true},
		"this machine, any certificate": {"smtp://127.0.0.1", tlsRequired, []option{withTLS(config)}, false, nil, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, c.implicit, c.server...)
			err := sendTo(t.Context(), t, s, c.url, c.tls, c.roots)
			if c.fails != "" {
				require.ErrorContains(t, err, c.fails)
				require.False(t, isPermanent(err))
				require.Empty(t, s.got)
				s.set(func() { require.Empty(t, s.logins) })
				return
			}
			require.NoError(t, err)
			got := wait(t.Context(), t, s.got)
			require.Equal(t, !c.plain, got.tls)
			require.Equal(t, "hello@example.com", got.from)
			require.Equal(t, receiver, got.to)
		})
	}
}

func TestWhatIsPermanent(t *testing.T) {
	t.Parallel()
	refuse := func(code int) error {
		return &smtp.SMTPError{Code: code, EnhancedCode: smtp.EnhancedCode{code / 100, 1, 1},
			Message: "no one here is called <" + receiver + ">"}
	}
	for name, c := range map[string]struct {
		rcpt, data error
		permanent  bool
		says       string
	}{
		"unknown receiver":  {rcpt: refuse(550), permanent: true, says: "the SMTP server refused the receiver: 550 5.1.1"},
		"greylisted":        {rcpt: refuse(451), says: "the SMTP server refused the receiver: 451 4.1.1"},
		"mailbox full":      {data: refuse(452), says: "the SMTP server refused the mail: 452 4.1.1"},
		"content not liked": {data: refuse(554), permanent: true, says: "the SMTP server refused the mail: 554 5.1.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, false)
			s.set(func() { s.rcpt, s.data = []error{c.rcpt}, []error{c.data} })
			err := sendTo(t.Context(), t, s, "smtp://localhost", tlsRequired, nil)
			require.EqualError(t, err, c.says)
			require.Equal(t, c.permanent, isPermanent(err))
		})
	}
	t.Run("wrong password", func(t *testing.T) {
		t.Parallel()
		err := sendTo(t.Context(), t, startServer(t, false, withLogin("u:other", true)),
			"smtp://u:p@localhost", tlsRequired, nil)
		require.ErrorContains(t, err, "login")
		require.False(t, isPermanent(err), "its operator can fix it")
	})
	t.Run("no one listens", func(t *testing.T) {
		t.Parallel()
		err := sendTo(t.Context(), t, &smtpServer{address: "127.0.0.1:1"}, "smtp://localhost", tlsRequired, nil)
		require.ErrorContains(t, err, "refused")
		require.False(t, isPermanent(err))
	})
	t.Run("the connection ends without an answer", func(t *testing.T) {
		t.Parallel()
		s := startServer(t, false)
		s.set(func() { s.drop = 1 })
		err := sendTo(t.Context(), t, s, "smtp://localhost", tlsRequired, nil)
		require.Error(t, err)
		require.False(t, isPermanent(err))
		require.NotContains(t, err.Error(), receiver)
	})
}

// A server that says nothing holds no one up who wants to stop.
func TestAServerThatSaysNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	s.set(func() { s.mute = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.started
		cancel()
	}()
	require.ErrorIs(t, sendTo(ctx, t, s, "smtp://localhost", tlsRequired, nil), context.Canceled)
}

func TestConfig(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"":                                 true,
		"smtp://mail.example.com":          true,
		"smtps://u:p%40ss@mail.example":    true,
		"smtp://[::1]:2525/":               true,
		"http://mail.example":              false,
		"smtp://":                          false,
		"smtp://u@mail.example":            false, // no password
		"smtp://:secret-word@mail.example": false,
		"smtp://mail.example/?a=b":         false,
		"mail.example:25":                  false,
	} {
		err := Config{URL: url, From: "a@example.com"}.Validate()
		require.Equal(t, good, err == nil, "%s: %v", url, err)
		if err != nil {
			require.NotContains(t, err.Error(), "secret-word")
		}
	}
	for from, good := range map[string]bool{
		"hello@example.com": true, "Käse & Söhne <hello@käse.example>": true, "x <lodestone@localhost>": true,
		"hello": false, "a@b": false, "x <y": false, "a@example.com, b@example.com": false,
		"\"x\\\r\nBcc: z@example.com\" <a@example.com>": false,
	} {
		require.Equal(t, good, Config{From: from}.Validate() == nil, from)
	}
	err := Config{URL: "x", TLS: "never", ReplyTo: "no one"}.Validate()
	for _, setting := range []string{"--smtp-url", "--smtp-tls", "--mail-from", "--mail-reply-to"} {
		require.ErrorContains(t, err, setting)
	}
}

// The server's certificate is of an authority that the system does not trust, or asks for one of
// the client.
func TestServersThatAreNotTrusted(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	settings := a.Client(a.IssueFor("mail", time.Now().Add(time.Hour), "mail.example"))
	c := Config{URL: "smtp://mail.example", TLS: tlsRequired, From: "hello@example.com"}
	err := sendBy(t.Context(), t, startServer(t, false, withTLS(settings)), c, nil)
	require.ErrorContains(t, err, "SSL_CERT_FILE")
	require.False(t, isPermanent(err))

	mutual := settings.Clone()
	mutual.ClientAuth, mutual.ClientCAs = tls.RequireAndVerifyClientCert, settings.RootCAs
	err = sendBy(t.Context(), t, startServer(t, false, withTLS(mutual)), c, settings.RootCAs)
	require.ErrorContains(t, err, "asks for a client certificate")
	require.False(t, isPermanent(err))
}
