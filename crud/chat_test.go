package crud_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/pdf/pdftest"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/enginetest"
)

const chatsPath = "/api/v1/chat-channels"

// chatServer is the incoming webhooks of a chat program. It answers with the statuses that are
// given, and then with 200.
type chatServer struct {
	*httptest.Server
	mu       sync.Mutex
	statuses []int
	bodies   []string
}

func newChatServer(t *testing.T) *chatServer {
	t.Helper()
	s := &chatServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.bodies = append(s.bodies, string(text))
		if len(s.statuses) == 0 {
			return
		}
		if s.statuses[0] == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		w.WriteHeader(s.statuses[0])
		s.statuses = s.statuses[1:]
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *chatServer) answer(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.statuses = statuses
}

func (s *chatServer) got() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.bodies...)
}

func (u *user) channel(t *testing.T, kind, address string) (id string) {
	t.Helper()
	id, _ = u.post(t, chatsPath, fmt.Sprintf(`{"kind":%q,"name":"Sales","url":%q}`, kind, address)).object(t)["id"].(string)
	require.NotEmpty(t, id)
	return id
}

func (u *user) shownChannel(t *testing.T, id string) map[string]any {
	t.Helper()
	return u.send(t, "GET", chatsPath+"/"+id, http.NoBody).object(t)
}

// fillIn sends the form of a landing page.
func (f *fixture) fillIn(t *testing.T, slug, email string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/l/"+slug, strings.NewReader(url.Values{"email": {email}}.Encode()))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := f.http.Transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
}

// A new lead is sent to the channel, once, also after it was refused for a while, and the URL is
// shown nowhere.
func TestNoticesInChat(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	chat := newChatServer(t)
	secret := chat.URL + "/services/T0/B0/verysecretverysecret"
	id := u.channel(t, "slack", secret)
	require.NoError(t, f.service.Queue().Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, f.service.Queue().Stop(context.WithoutCancel(t.Context()))) })
	chat.answer(http.StatusTooManyRequests, http.StatusOK)
	magnet := u.magnet(t)
	_, err := u.UploadFile(t.Context(), magnet.ID, "a.pdf", bytes.NewReader(pdftest.Strip(1, 0)))
	require.NoError(t, err)
	link := u.link(t, magnet.ID).Slug
	f.fillIn(t, link, "jo@example.com")
	require.Eventually(t, func() bool { return len(chat.got()) == 2 }, enginetest.Timeout, 20*time.Millisecond)
	for _, text := range chat.got() {
		require.True(t, json.Valid([]byte(text)))
		require.Contains(t, text, "jo@example.com")
		require.Contains(t, text, "/dashboard/readers/")
	}
	require.Eventually(t, func() bool { return u.shownChannel(t, id)["last_sent_at"] != nil }, enginetest.Timeout, 20*time.Millisecond)
	shown := u.shownChannel(t, id)
	require.Nil(t, shown["last_error"])
	require.Equal(t, strings.TrimPrefix(chat.URL, "http://")+"/…cret", shown["url_hint"])

	// Whoever deleted the webhook there sees that here, and gets no more.
	chat.answer(http.StatusNotFound)
	f.fillIn(t, link, "ada@example.com")
	require.Eventually(t, func() bool { return u.shownChannel(t, id)["is_active"] == false }, enginetest.Timeout, 20*time.Millisecond)
	shown = u.shownChannel(t, id)
	require.Contains(t, shown["disabled_reason"], "404")
	f.fillIn(t, link, "kay@example.com")
	require.Len(t, chat.got(), 3)
	require.Equal(t, true, u.patch(t, chatsPath+"/"+id, `{"is_active":true}`).object(t)["is_active"])
	require.Nil(t, u.shownChannel(t, id)["disabled_reason"])

	for _, table := range []string{"chat_channels", "river_job", "idempotency_keys", "audit_log"} {
		var found bool
		require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT coalesce(bool_or(t::text LIKE '%verysecret%'), false) FROM "+table+" t").Scan(&found))
		require.False(t, found, table)
	}
	require.NotContains(t, f.log.String(), "verysecret")
}

// A channel gets only what it asks for, and a notice that is not committed is not sent.
func TestSubjectsOfChat(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	chat := newChatServer(t)
	id := u.channel(t, "discord", chat.URL+"/api/webhooks/1/token")
	require.Equal(t, []any{"leads", "readers", "weekly", "webhooks"}, u.shownChannel(t, id)["about"])
	magnet := u.magnet(t)
	_, err := u.UploadFile(t.Context(), magnet.ID, "a.pdf", bytes.NewReader(pdftest.Strip(1, 0)))
	require.NoError(t, err)
	link := u.link(t, magnet.ID).Slug
	u.patch(t, chatsPath+"/"+id, `{"about":["readers"]}`)
	f.fillIn(t, link, "jo@example.com")
	var jobs int
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'chat-message'").Scan(&jobs))
	require.Zero(t, jobs)
	u.patch(t, chatsPath+"/"+id, `{"about":["leads"]}`)
	f.fillIn(t, link, "ada@example.com")
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM river_job WHERE kind = 'chat-message'").Scan(&jobs))
	require.Equal(t, 1, jobs)
	var text string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT args::text FROM river_job WHERE kind = 'chat-message'").Scan(&text))
	require.NotContains(t, text, "ada@example.com", "what waits is sealed")
}

// A test message shows how the channel answered, and addresses that are not public are refused.
func TestChatChannelIsTested(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	chat := newChatServer(t)
	id := u.channel(t, "teams", chat.URL+"/workflows/1")
	for body, field := range map[string]string{`{"about":["leads","leads"]}`: "about[1]", `{"about":[]}`: "about", `{"about":["news"]}`: "about[0]"} {
		p := u.patch(t, chatsPath+"/"+id, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
	trial := u.send(t, "POST", chatsPath+"/"+id+"/test", http.NoBody).object(t)
	require.Equal(t, map[string]any{"sent": true, "error": nil}, trial)
	require.Contains(t, chat.got()[0], "AdaptiveCard")
	chat.answer(http.StatusBadRequest)
	trial = u.send(t, "POST", chatsPath+"/"+id+"/test", http.NoBody).object(t)
	require.Equal(t, map[string]any{"sent": false, "error": "It answered with 400."}, trial)
	for _, bad := range []string{"http://10.0.0.1/x", "ftp://example.com", "hooks.slack.com/services/x", "https://user:pass@hooks.slack.com/x"} {
		p := u.post(t, chatsPath, fmt.Sprintf(`{"kind":"slack","name":"x","url":%q}`, bad)).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, bad)
		require.Equal(t, "url", fields(p), bad)
	}
}
