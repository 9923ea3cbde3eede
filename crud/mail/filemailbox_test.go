package mail

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/api"
)

func openMailbox(t *testing.T, dir string) *FileMailbox {
	t.Helper()
	m, err := NewFileMailbox(dir)
	require.NoError(t, err)
	return m
}

func linkMail(to string) RenderedMail {
	return RenderedMail{
		To: to, Text: "Open https://x.example/a/T=1. Or https://x.example/a/T=1\n",
		HTML:   `<p>Hi</p><script>alert(1)</script><a href="https://x.example/a/T">Open</a>`,
		Source: []byte(strings.ReplaceAll(linkSource, "\n", "\r\n")),
	}
}

// site serves a mailbox; the client's requests go to it whatever host they name.
func (m *FileMailbox) site(t *testing.T) *httptest.Server {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a := api.New(api.Deps{Log: log})
	private, err := web.New(web.Deps{Site: "http://127.0.0.1:8080", Log: log, Cookie: "dev", Secret: "word"})
	require.NoError(t, err)
	pages, err := NewMailboxPages(m, private)
	require.NoError(t, err)
	pages.Register(a)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	return server
}

// response is one that was read.
type response struct {
	status int
	header http.Header
}

func getPath(t *testing.T, server *httptest.Server, path string, change ...func(*http.Request)) (response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, http.NoBody)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer word")
	for _, c := range change {
		c(r)
	}
	res, err := server.Client().Do(r)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return response{res.StatusCode, res.Header}, string(body)
}

func listMails(t *testing.T, server *httptest.Server, query string) []mailView {
	t.Helper()
	res, body := getPath(t, server, MailboxPath+".json"+query)
	require.Equal(t, http.StatusOK, res.status)
	require.Equal(t, "application/json", res.header.Get("Content-Type"))
	var all struct{ Mails []mailView }
	require.NoError(t, json.Unmarshal([]byte(body), &all))
	require.NotNil(t, all.Mails)
	return all.Mails
}

const linkSource = `From: =?utf-8?q?K=C3=A4se?= <hello@example.com>
To: <jo@example.com>
Subject: =?utf-8?q?Your_=22code=22?=
Message-ID: <1@example.com>
Content-Type: multipart/alternative; boundary=b

--b
`

func TestMailsAreShown(t *testing.T) {
	t.Parallel()
	m := openMailbox(t, t.TempDir())
	server := m.site(t)
	require.Empty(t, listMails(t, server, ""))
	_, body := getPath(t, server, MailboxPath)
	require.Contains(t, body, "No mails yet")
	require.NoError(t, m.Deliver(linkMail("jo@example.com")))
	require.NoError(t, m.Deliver(RenderedMail{To: "an@example.com", Text: "hello\n",
		Source: []byte("Subject: <b>plain</b>\r\n\r\nhello\r\n")}))
	all := listMails(t, server, "")
	require.Len(t, all, 2)
	require.Equal(t, "an@example.com", all[0].To)
	require.Equal(t, "hello\n", all[0].Text)
	require.Equal(t, all[:1], listMails(t, server, "?limit=1"))
	got := listMails(t, server, "?to=JO@example.com")
	require.Len(t, got, 1)
	one := got[0]
	require.Equal(t, "Käse <hello@example.com>", one.From)
	require.Equal(t, `Your "code"`, one.Subject)
	require.Equal(t, "<1@example.com>", one.MessageID)
	require.Equal(t, []string{"https://x.example/a/T=1"}, one.Links)
	require.Contains(t, one.HTML, "<p>Hi</p>")
	require.Contains(t, one.Headers, headerField{"To", "<jo@example.com>"})
	require.WithinDuration(t, time.Now(), one.ReceivedAt, time.Minute)

	_, body = getPath(t, server, MailboxPath)
	require.Contains(t, body, "&lt;b&gt;plain&lt;/b&gt;")
	res, body := getPath(t, server, MailboxPath+"/"+one.ID)
	require.Contains(t, body, `href="https://x.example/a/T=1"`)
	require.Contains(t, body, `href="/dev/mailbox/`+one.ID+`" aria-current="page"`)
	require.NotContains(t, body, "<script>")
	require.Contains(t, res.header.Get("Content-Security-Policy"), "frame-src 'self'")
	res, body = getPath(t, server, MailboxPath+"/"+one.ID+"/html")
	require.Contains(t, res.header.Get("Content-Security-Policy"), "default-src 'none'")
	require.Contains(t, res.header.Get("Content-Security-Policy"), "sandbox")
	require.Contains(t, body, `target="_blank"`)
	res, body = getPath(t, server, MailboxPath+"/"+one.ID+"/raw")
	require.Equal(t, "text/plain; charset=utf-8", res.header.Get("Content-Type"))
	require.Contains(t, body, "Content-Type: multipart/alternative")
	for _, path := range []string{"/x", "/x/html", "/x/raw", "/..%2f..%2fetc%2fpasswd/raw"} {
		res, _ = getPath(t, server, MailboxPath+path)
		require.Equal(t, http.StatusNotFound, res.status, path)
	}
}

// Whatever a proxy or a browser says of the request, the secret decides.
func TestMailsNeedTheSecret(t *testing.T) {
	t.Parallel()
	m := openMailbox(t, t.TempDir())
	require.NoError(t, m.Deliver(linkMail("jo@example.com")))
	server := m.site(t)
	id := strings.TrimSuffix(m.names[0], mailboxExtension)
	for name, change := range map[string]func(*http.Request){
		"a browser on this machine": func(r *http.Request) { r.Header.Del("Authorization") },
		"a proxy on this machine":   func(r *http.Request) { r.Header.Del("Authorization"); r.Host = "127.0.0.1:8080" },
		"another secret":            func(r *http.Request) { r.Header.Set("Authorization", "Bearer words") },
	} {
		for _, path := range []string{"", ".json", "/" + id, "/" + id + "/html", "/" + id + "/raw"} {
			res, body := getPath(t, server, MailboxPath+path, change)
			require.Equal(t, http.StatusNotFound, res.status, "%s %s", name, path)
			require.NotContains(t, body, "example.com")
		}
	}
	for _, host := range []string{"localhost:8080", "links.example.com"} {
		res, _ := getPath(t, server, MailboxPath, func(r *http.Request) { r.Host = host })
		require.Equal(t, http.StatusOK, res.status, host)
	}
}

func TestMailsStayAndOldOnesGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := openMailbox(t, dir)
	require.NoError(t, first.Deliver(linkMail("jo@example.com")))
	second := openMailbox(t, dir)
	require.Len(t, listMails(t, second.site(t), ""), 1)
	for i := range mailboxSize {
		require.NoError(t, second.Deliver(RenderedMail{To: fmt.Sprintf("%d@example.com", i)}))
	}
	all, err := second.list("", mailboxSize)
	require.NoError(t, err)
	require.Len(t, all, mailboxSize)
	require.Equal(t, "0@example.com", all[mailboxSize-1].To)
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, files, mailboxSize)
	info, err := files[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
}

// What is old is removed also where there are few mails.
func TestOldMailsAreRemoved(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	m, now := openMailbox(t, dir), time.Now()
	for _, age := range []time.Duration{0, 3 * time.Hour, time.Hour} {
		require.NoError(t, m.add(linkMail("jo@example.com"), now.Add(-age)))
	}
	require.NoError(t, m.Prune(now.Add(-2*time.Hour)))
	for _, m := range []*FileMailbox{m, openMailbox(t, dir)} {
		require.Len(t, m.names, 2)
	}
	require.NoError(t, m.Prune(now.Add(time.Hour)))
	require.Empty(t, m.names)
}
