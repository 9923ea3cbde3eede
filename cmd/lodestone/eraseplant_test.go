package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/client/clienttest"
)

// planted is a person whose data has the marker wherever it can be.
type planted struct {
	address string
	link    client.AccessLink
	repeat  func() (status int) // repeats a request with its Idempotency-Key
}

// plant lets a person leave the marker in everything that has a field for it, and others write about the person: the personal columns of docs/data.md
// about readers. Views of landing pages are of no known person. A second person leaves the same things.
func (u *up) plant(t *testing.T, s stores, magnet string) planted {
	t.Helper()
	p := planted{address: marker + "@" + marker + ".example"}
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	owner := asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	u.listen(t, owner)

	// The form, with and without a mail that confirms the address.
	for _, verified := range []bool{false, true} {
		link, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet, CollectName: true, RequireVerification: verified})
		require.NoError(t, err)
		v.submit(link.URL, url.Values{
			"email": {p.address}, "name": {marker}, "utm_source": {marker}, "utm_campaign": {marker}, "ref": {"https://" + marker + ".example/" + marker},
		})
		if verified {
			u.keepForm(t, s, "/dashboard/links/"+link.ID, p.address)
		} else {
			v.submit(link.URL, url.Values{"email": {"bob@example.com"}, "name": {"Bob Byron"}})
		}
	}
	// Links by the API: for a list of people, for one with a key that names the person, and one that is deleted, whose event stays.
	made, err := c.CreateAccessLinks(t.Context(), magnet, clienttest.NewAccessLinks{Emails: []string{strings.ToUpper(marker) + "@" + marker + ".example", "bob@example.com"}})
	require.NoError(t, err)
	p.link = made[0]
	p.repeat = func() int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, owner.base+"/api/v1/access-links", strings.NewReader(`{"lead_magnet_id":"`+magnet+`","email":"`+p.address+`"}`))
		require.NoError(t, err)
		r.Header = http.Header{"Authorization": {"Bearer " + owner.key}, "Content-Type": {"application/json"}, "Idempotency-Key": {"invite-" + p.address}}
		answer, err := v.http.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Equal(t, http.StatusCreated, p.repeat())
	deleted, err := c.CreateAccessLinks(t.Context(), magnet, clienttest.NewAccessLinks{Emails: []string{p.address}})
	require.NoError(t, err)
	u.read(t, deleted[0], marker)
	require.NoError(t, c.DeleteAccessLink(t.Context(), deleted[0].ID))

	u.read(t, made[0], marker)
	u.read(t, made[1], "bob-agent")
	u.download(t, made[0], marker)
	_, err = s.pool.Unscoped().Exec(t.Context(), "ANALYZE") //nolint:misspell // it is SQL: Postgres does so by itself now and then
	require.NoError(t, err)
	return p
}

// listen has webhooks and a chat channel whose answers repeat what they were sent: one takes it, the others refuse, so that it waits.
func (u *up) listen(t *testing.T, owner asker) {
	t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(echo.Close)
	for _, path := range []string{"/take", "/refuse"} {
		owner.must(t, "POST", "/api/v1/webhooks", `{"url":"`+echo.URL+path+`","kinds":["link.created","link.accessed","form.submitted","download.completed"]}`)
	}
	owner.must(t, "POST", "/api/v1/chat-channels", `{"kind":"slack","name":"Leads","url":"`+echo.URL+`/refuse","about":["leads","readers"]}`)
}

// keepForm sends a form of the dashboard with an address once its session is over: it is kept until its sender has signed in again.
func (u *up) keepForm(t *testing.T, s stores, path, address string) {
	t.Helper()
	v := signIn(t, u)
	form := v.open(path)
	_, err := s.pool.Unscoped().Exec(t.Context(), "UPDATE user_sessions SET ended_at = now()")
	require.NoError(t, err)
	v.send(form, path+"/recipients", url.Values{"emails": {address}})
}

// download opens a link in the viewer and downloads the document, by a browser that calls itself so.
func (u *up) download(t *testing.T, l client.AccessLink, agent string) {
	t.Helper()
	ask := func(method, address, body string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		require.NoError(t, err)
		r.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {agent}}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { require.NoError(t, answer.Body.Close()) }()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Less(t, answer.StatusCode, 300, "%s %s: %s", method, address, text)
		return text
	}
	var session struct{ Download string }
	require.NoError(t, json.Unmarshal(ask(http.MethodPost, l.URL+"/sessions", "{}"), &session))
	ask(http.MethodGet, u.env["LODESTONE_URL"]+session.Download+"&d="+uuid.NewString(), "")
}
