//go:build long

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// secrets are the tokens and links that `up` issued under its first token key.
type secrets struct {
	t       *testing.T
	u       *up
	owner   asker
	links   []client.AccessLink
	texts   map[string]string // secrets that may stand nowhere, by what they are
	visited map[string]string // URLs that have to open, by what they are
	wait    visitor           // a browser that waits for its address to be confirmed
	page    string            // where
	confirm string            // link of the mail
}

// give uses every way to get a secret from a `lodestone up`.
func give(t *testing.T, u *up) *secrets {
	t.Helper()
	site := u.env["LODESTONE_URL"]
	s := &secrets{t: t, u: u, owner: asker{site, u.env["LODESTONE_API_KEY"]}, texts: map[string]string{},
		visited: map[string]string{}}
	c := clienttest.New(client.Config{URL: site, Key: s.owner.key})
	m := u.newGuide("Guide")
	last := func(address string) string {
		at, err := url.Parse(address)
		require.NoError(t, err)
		return path.Base(at.Path)
	}

	hook := s.owner.must(t, "POST", "/api/v1/webhooks",
		`{"url":"http://127.0.0.1:9/","kinds":["form.submitted","link.created"]}`)["secret"].(string)
	s.texts["secret of a webhook"] = hook
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(hook, "whsec_"))
	require.NoError(t, err)
	s.texts["key of a webhook"] = string(raw)
	s.texts["API key"] = s.owner.must(t, "POST", "/api/v1/keys", `{"name":"marker","scopes":["read"]}`)["key"].(string)
	chat := uuid.NewString()
	s.owner.must(t, "POST", "/api/v1/webhooks", `{"format":"slack","url":"https://hooks.slack.com/services/T0000/B0000/`+
		chat+`","kinds":["notice.leads"]}`)
	s.texts["URL of a chat channel"] = chat
	shared := s.owner.must(t, "POST", "/api/v1/lead-magnets/"+m.ID+"/shares", `{"name":"Board"}`)["url"].(string)
	s.texts["share"], s.visited["share"] = last(shared), shared
	s.owner.must(t, "POST", "/api/v1/invitations", `{"email":"ada@example.com","role":"analyst"}`)
	for _, l := range u.mailTo("ada@example.com", "") {
		if strings.Contains(l, "/dashboard/") {
			s.texts["invitation "+last(l)] = last(l)
		}
	}

	s.links, err = c.CreateAccessLinks(t.Context(), m.ID,
		clienttest.NewAccessLinks{Emails: []string{"jo@example.com", "an@example.com"}})
	require.NoError(t, err)
	for i, l := range s.links {
		name := fmt.Sprintf("access link %d", i)
		s.texts[name], s.visited[name] = last(l.URL), l.URL
	}
	s.visited["preview of an access link"] = s.owner.must(t, "POST", "/api/v1/access-links/"+s.links[0].ID+
		"/preview", "")["url"].(string)

	link, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, RequireVerification: true})
	require.NoError(t, err)
	s.visited["preview of a landing page"] = s.owner.must(t, "POST", "/api/v1/generic-links/"+link.ID+
		"/preview", "")["url"].(string)
	s.wait = visitor{t, &http.Client{Timeout: time.Minute}}
	s.page = s.wait.submit(link.URL, url.Values{"email": {"bo@example.com"}}).String()
	s.confirm = u.mailTo("bo@example.com", "")[0]
	s.texts["link that confirms an address"], s.texts["page that is waiting for it"] = last(s.confirm), last(s.page)

	open, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
	require.NoError(t, err)
	s.wait.submit(open.URL, url.Values{"email": {"eve@example.com"}})
	s.texts["link of a form"] = last(u.mailTo("eve@example.com", "Your document")[0])
	for _, l := range u.mailTo(demoOwner, "New lead: eve@example.com") {
		if strings.HasPrefix(l, site+"/notices/") {
			s.visited["link that ends notices"] = l
		}
	}
	require.Contains(t, s.visited, "link that ends notices")
	signIn(t, u)
	return s
}

// check fails unless everything that was given opens.
func (s *secrets) check() {
	s.t.Helper()
	for name, address := range s.visited {
		status, body := get(s.t, address, "")
		require.Equal(s.t, http.StatusOK, status, "%s: %s", name, body)
	}
	for _, l := range s.links {
		s.u.read(s.t, l, "agent")
	}
}

// No secret is in any row of Postgres in clear, so a dump of it opens nothing.
func TestADumpOpensNothing(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample"}
	u.start()
	s := give(t, u)
	db := u.stores(t)
	defer db.close(t)
	rows, err := db.pool.Unscoped().Query(t.Context(),
		`SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = current_schema()`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	conn, err := db.pool.Unscoped().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	var all bytes.Buffer
	for _, table := range tables {
		var rows bytes.Buffer
		_, err := conn.Conn().PgConn().CopyTo(t.Context(), &rows, "COPY "+table+" TO STDOUT (FORMAT binary)")
		require.NoError(t, err)
		for name, text := range s.texts {
			for _, form := range []string{text, hex.EncodeToString([]byte(text)),
				base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))} {
				require.False(t, bytes.Contains(rows.Bytes(), []byte(form)), "%s has the %s", table, name)
			}
		}
		_, _ = rows.WriteTo(&all)
	}
	require.Contains(t, all.String(), "jo@example.com", "the search finds what is in clear")
}

// The token keys change twice while events arrive and links are opened: nothing fails, what was
// given stays valid, and what is given afterwards has the new key.
func TestTokenKeysChangeWhileUpRuns(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample"}
	u.start()
	s := give(t, u)
	file := filepath.Join(u.dir, "data", "token-keys")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	old, fresh := strings.TrimSpace(string(text)), token.NewKeys(2).Keys
	metric := func(line string) {
		t.Helper()
		require.Eventually(t, func() bool {
			_, body := get(t, u.env["LODESTONE_ADMIN_URL"]+"/metrics", "")
			return strings.Contains(body, line+"\n")
		}, enginetest.Timeout, interval, line)
	}
	stop, served := make(chan struct{}), &atomic.Int64{}
	var load sync.WaitGroup
	for i := range 2 {
		load.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if status, body := get(t, s.links[i].URL, ""); status != http.StatusOK {
					t.Errorf("a link does not open: %d %s", status, body)
					return
				}
				event := fmt.Sprintf(`{"token":%q,"event_type":"page_viewed","event_data":{"page":1},"session_id":%q}`,
					s.links[i].TrackingToken, uuid.NewString())
				answer, err := http.Post(u.env["LODESTONE_COLLECTOR_URL"]+"/v1/events",
					"application/json", strings.NewReader(event))
				if err != nil || answer.StatusCode != http.StatusAccepted {
					t.Errorf("an event is not taken: %v %v", err, answer)
					return
				}
				_ = answer.Body.Close()
				served.Add(1)
			}
		})
	}
	for i, keys := range []string{old + "," + fresh, fresh + "," + old} {
		require.NoError(t, os.WriteFile(file, []byte(keys+"\n"), 0o600))
		metric(fmt.Sprintf(`lodestone_secret_file_changes_total{setting="--token-keys"} %d`, i+1))
		before := served.Load()
		require.Eventually(t, func() bool { return served.Load() > before+10 || t.Failed() }, enginetest.Timeout, interval)
		s.check()
	}
	require.NoError(t, os.WriteFile(file, []byte("3:nonsense"), 0o600))
	metric(`lodestone_secret_file_refused{setting="--token-keys"} 1`)
	s.check()
	require.NotContains(t, u.out.String(), "nonsense")
	require.NoError(t, os.WriteFile(file, []byte(fresh+","+old), 0o600))
	metric(`lodestone_secret_file_refused{setting="--token-keys"} 0`)
	close(stop)
	load.Wait()

	_, body := s.wait.send("GET", s.confirm, "", "") // the mail of before the change
	require.NotContains(t, body, "no longer valid")
	again := s.owner.must(t, "GET", "/api/v1/access-links/"+s.links[0].ID, "")
	require.NotEqual(t, s.links[0].TrackingToken, again["tracking_token"], "new tokens have the new key")
	require.Equal(t, s.links[0].URL, again["url"])
	counted := u.command("token-keys")
	require.Equal(t, exitUnfinished, counted.code, counted.out)
	require.Regexp(t, `access_links.token_sealed +0 +[1-9]`, counted.out, "crud encrypts them again within an hour")
	u.interrupt(enginetest.Timeout)
	u.start()
	s.check()
	require.Eventually(t, func() bool {
		return regexp.MustCompile(
			`access_links.token_sealed +[1-9]\d* +0 +0\n(.*\n)*webhook_secrets.sealed +[1-9]\d* +0 +0\n`).MatchString(
			u.command("token-keys").out)
	}, enginetest.Timeout, interval)
	for line := range strings.Lines(u.command("token-keys").out) {
		if strings.Contains(line, ".") || strings.Contains(line, "river_job") {
			require.Regexp(t, ` 0\n$`, line, "every secret is opened by a key")
		}
	}
}
