package mail

import (
	"net"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/test/enginetest"
)

// newWriter returns what composes mails and sends them to a server, and the texts of mails.
func newWriter(t *testing.T, s *smtpServer) (*smtpSender, *worker, *web.Catalogue) {
	t.Helper()
	c := Config{URL: "smtp://" + s.address, TLS: tlsOptional, From: "Example <hello@example.com>"}
	out, err := newSMTPSender(c, nil)
	require.NoError(t, err)
	from, _, err := c.senders()
	require.NoError(t, err)
	render, err := newRenderer()
	require.NoError(t, err)
	texts, err := web.VisitorTexts()
	require.NoError(t, err)
	return out, &worker{from: from, render: render,
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{}, []string{"a", "b"})}, texts
}

// A server without SMTPUTF8 must not be given an address that is not ASCII before the @. Domains
// are sent in ASCII.
func TestServersWithoutUTF8(t *testing.T) {
	t.Parallel()
	for _, offers := range []bool{false, true} {
		s := startServer(t, false, func(server *smtp.Server, _ *smtpServer) { server.EnableSMTPUTF8 = offers })
		out, w, texts := newWriter(t, s)
		out.dial = (&net.Dialer{}).DialContext
		for to, reached := range map[string]bool{
			"jo@example.com": true, "jo@bücher.example": true, "jörg@example.com": offers,
			"用户@例子.公司": offers, "ｊｏ@example.com": true,
		} {
			q := &Queue{sender: out}
			require.Equal(t, reached, q.Reaches(t.Context(), to), to)
			l, err := write(Message{Kind: KindDocument, AccountID: uuid.New(), To: to, URL: "https://x.example/a/T"},
				texts.In(""), Brand{}, "https://x.example", time.Now())
			require.NoError(t, err)
			msg, err := w.compose(to, time.Now(), l, Brand{})
			require.NoError(t, err)
			err = out.send(t.Context(), KindDocument, msg)
			if reached {
				require.NoError(t, err, to)
				<-s.got
				continue
			}
			require.ErrorIs(t, err, errNoUTF8, to)
			require.True(t, isPermanent(err))
			require.Empty(t, s.got)
		}
	}
}

// A name with dots that SMTP has no place for is sent in quotes, to the server and in the header.
func TestNamesThatNeedQuotes(t *testing.T) {
	t.Parallel()
	dialogue := &enginetest.Log{}
	s := startServer(t, false, func(server *smtp.Server, _ *smtpServer) { server.Debug = dialogue })
	out, w, texts := newWriter(t, s)
	for to, written := range map[string]string{
		"jo..doe@docomo.ne.jp": `<"jo..doe"@docomo.ne.jp>`, "jo.@ezweb.ne.jp": `<"jo."@ezweb.ne.jp>`,
		"jo.doe@docomo.ne.jp": `<jo.doe@docomo.ne.jp>`,
	} {
		require.True(t, (&Queue{sender: out}).Reaches(t.Context(), to))
		l, err := write(Message{Kind: KindDocument, AccountID: uuid.New(), To: to, URL: "https://x.example/a/T"},
			texts.In(""), Brand{}, "https://x.example", time.Now())
		require.NoError(t, err)
		l.ReplyTo = to
		msg, err := w.compose(to, time.Now(), l, Brand{})
		require.NoError(t, err)
		require.NoError(t, out.send(t.Context(), KindDocument, msg))
		got := <-s.got
		require.Contains(t, dialogue.String(), "RCPT TO:"+written+"\r\n")
		require.Contains(t, string(got.raw), "\r\nTo: "+written+"\r\n")
		require.Contains(t, string(got.raw), "\r\nReply-To: "+written+"\r\n")
	}
}

// A server that cannot be asked keeps no one from a form: the mail waits for it.
func TestUnknownServersReachEveryone(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	out, err := newSMTPSender(Config{URL: "smtp://" + listener.Addr().String(), TLS: tlsOptional,
		From: "hello@example.com"}, nil)
	require.NoError(t, err)
	require.True(t, (&Queue{sender: out}).Reaches(t.Context(), "jörg@example.com"))
	require.True(t, (&Queue{}).Reaches(t.Context(), "jörg@example.com"))
	require.False(t, (&Queue{}).Reaches(t.Context(), "jörg"))
}
