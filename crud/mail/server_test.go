package mail

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"
)

// smtpServer is a real SMTP server, which answers as the test says.
type smtpServer struct {
	t       *testing.T
	address string
	got     chan received

	mu      sync.Mutex
	rcpt    []error // of the next RCPT commands
	data    []error // of the next DATA commands
	drop    int     // of the next mails, once taken, are not answered: the connection ends
	mute    int     // of the next connections get no greeting
	logins  []string
	user    string // if set, a login is required
	started chan struct{}
}

type received struct {
	from, to string
	raw      []byte
	tls      bool
}

type option func(*smtp.Server, *smtpServer)

// startServer starts one on the loopback.
func startServer(t *testing.T, implicit bool, options ...option) *smtpServer {
	t.Helper()
	s := &smtpServer{t: t, got: make(chan received, 200), started: make(chan struct{}, 100)}
	server := smtp.NewServer(s)
	server.Domain = "mail.example"
	server.EnableSMTPUTF8 = true
	for _, o := range options {
		o(server, s)
	}
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = listener.Addr().String()
	if implicit {
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(&muting{listener, s}) // ends with Close
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return s
}

func (s *smtpServer) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// muting keeps connections that get no greeting.
type muting struct {
	net.Listener
	server *smtpServer
}

func (m *muting) Accept() (net.Conn, error) {
	for {
		conn, err := m.Listener.Accept()
		if err != nil {
			return nil, err
		}
		m.server.mu.Lock()
		silent := m.server.mute > 0
		m.server.mute--
		m.server.mu.Unlock()
		if !silent {
			return conn, nil
		}
		m.server.t.Cleanup(func() { _ = conn.Close() })
		m.server.started <- struct{}{}
	}
}

func (s *smtpServer) NewSession(c *smtp.Conn) (smtp.Session, error) {
	return &session{server: s, conn: c}, nil
}

type session struct {
	server   *smtpServer
	conn     *smtp.Conn
	from, to string
	loggedIn bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.server.set(func() { s.server.logins = append(s.server.logins, user) })
		if user+":"+password != s.server.user {
			return smtp.ErrAuthFailed
		}
		s.loggedIn = true
		return nil
	}), nil
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.server.user != "" && !s.loggedIn {
		return smtp.ErrAuthRequired
	}
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.to = to
	return s.server.next(&s.server.rcpt)
}

func (s *smtpServer) next(list *[]error) (err error) {
	s.set(func() {
		if len(*list) > 0 {
			err, *list = (*list)[0], (*list)[1:]
		}
	})
	return err
}

func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := s.server.next(&s.server.data); err != nil {
		return err
	}
	_, isTLS := s.conn.TLSConnectionState()
	s.server.got <- received{s.from, s.to, raw, isTLS}
	drop := false
	s.server.set(func() { drop = s.server.drop > 0; s.server.drop-- })
	if drop {
		_ = s.conn.Conn().Close()
	}
	return nil
}

func withTLS(config *tls.Config) option {
	return func(s *smtp.Server, _ *smtpServer) { s.TLSConfig = config }
}

// withLogin wants a login as user:password.
func withLogin(userPassword string, insecure bool) option {
	return func(s *smtp.Server, f *smtpServer) { s.AllowInsecureAuth, f.user = insecure, userPassword }
}

// certificate is one for a name, with the authority that vouches for it.
func serverCertificate(t *testing.T, name string) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return &tls.Config{MinVersion: tls.VersionTLS12,
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, roots
}

// opened is a mail as a reader's program sees it.
type opened struct {
	header     mail.Header
	names      []string // of header fields, in their order
	text, html string
}

func open(t require.TestingT, raw []byte) opened {
	m, err := mail.ReadMessage(bytes.NewReader(raw))
	require.NoError(t, err)
	o := opened{header: m.Header}
	head, _, _ := strings.Cut(string(raw), "\r\n\r\n")
	for line := range strings.SplitSeq(head, "\r\n") {
		if name, _, found := strings.Cut(line, ":"); found && !strings.HasPrefix(line, " ") &&
			!strings.HasPrefix(line, "\t") {
			o.names = append(o.names, name)
		}
	}
	kind, parameters, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	body := m.Body
	if kind == "multipart/related" { // with pictures behind the texts
		part, err := multipart.NewReader(body, parameters["boundary"]).NextRawPart()
		require.NoError(t, err)
		body = part
		kind, parameters, err = mime.ParseMediaType(part.Header.Get("Content-Type"))
		require.NoError(t, err)
	}
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(body, parameters["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return o
		}
		require.NoError(t, err)
		require.Equal(t, "quoted-printable", part.Header.Get("Content-Transfer-Encoding"))
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		require.NoError(t, err)
		switch kind, parameters, err := mime.ParseMediaType(part.Header.Get("Content-Type")); kind {
		case "text/plain":
			require.NoError(t, err)
			require.Equal(t, "UTF-8", parameters["charset"])
			o.text = strings.ReplaceAll(string(body), "\r\n", "\n")
		case "text/html":
			o.html = string(body)
		}
	}
}

func (o opened) decoded(t require.TestingT, name string) string {
	text, err := new(mime.WordDecoder).DecodeHeader(o.header.Get(name))
	require.NoError(t, err)
	return text
}

func wait(ctx context.Context, t *testing.T, from <-chan received) received {
	t.Helper()
	select {
	case r := <-from:
		return r
	case <-ctx.Done():
		t.Fatal("no mail came")
		return received{}
	}
}
