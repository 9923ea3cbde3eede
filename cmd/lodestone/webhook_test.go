package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// received is a message that a webhook got.
type received struct {
	Type string         `json:"type"`
	Data map[string]any `json:"data"`
	id   string         // the same when it is sent again
}

// visitor is a browser without scripts, as far as this test needs one.
type visitor struct {
	t    *testing.T
	http *http.Client
}

// send makes a request and returns where it led to, and what is there.
func (v visitor) send(method, address, kind, body string) (at *url.URL, text string) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(body))
	require.NoError(v.t, err)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	answer, err := v.http.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = answer.Body.Close() }()
	out, err := io.ReadAll(answer.Body)
	require.NoError(v.t, err)
	require.Less(v.t, answer.StatusCode, 300, "%s %s: %s", method, address, out)
	return answer.Request.URL, string(out)
}

func (v visitor) submit(address string, fields url.Values) *url.URL {
	v.t.Helper()
	at, _ := v.send("POST", address, "application/x-www-form-urlencoded", fields.Encode())
	return at
}

// The complete story of a lead, as a webhook receives it: captured, verified, given a link, which
// is opened, downloaded and read, until the session is over.
func TestWebhooksTellTheStory(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--session-idle=20s"}
	u.start()
	site := u.env["LODESTONE_URL"]
	api := client.New(client.Config{URL: site, Key: u.env["LODESTONE_API_KEY"]})

	got := make(chan received, 100)
	var check *standard.Webhook
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			err = check.Verify(body, r.Header)
		}
		var m received
		if err != nil || json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		m.id = r.Header.Get("Webhook-Id")
		got <- m
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(receiver.Close)
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	hook := struct{ Secret string }{}
	u.post(t, "/api/v1/webhooks", map[string]any{"url": receiver.URL + "/", "kinds": []string{
		"link.created", "link.accessed", "form.submitted", "form.verified", "session.ended", "download.completed",
	}}, &hook)
	check, _ = standard.NewWebhook(hook.Secret)
	require.NotNil(t, check)
	story, seen := map[string]map[string]any{}, map[string]bool{}
	await := func(kind string) map[string]any {
		t.Helper()
		deadline := time.After(enginetest.Timeout)
		for story[kind] == nil {
			select {
			case m := <-got:
				if seen[m.id] { // what is not answered in time is sent again
					continue
				}
				seen[m.id] = true
				require.NotContains(t, story, m.Type, "sent twice")
				story[m.Type] = m.Data
			case <-deadline:
				require.Fail(t, "no message about "+kind)
			}
		}
		return story[kind]
	}

	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "The Guide"})
	require.NoError(t, err)
	pdf, err := os.ReadFile(filepath.Join("demo", "guide.pdf"))
	require.NoError(t, err)
	_, err = api.UploadFile(t.Context(), magnet.ID, "guide.pdf", bytes.NewReader(pdf))
	require.NoError(t, err)
	link, err := api.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet.ID,
		RequireVerification: true, ReadingNotices: new("each")})
	require.NoError(t, err)

	_, err = api.Do(t.Context(), http.MethodPatch, "/api/v1/generic-links/"+link.ID,
		http.Header{"Content-Type": {"application/json"}},
		strings.NewReader(`{"fields":[{"key":"company","kind":"company","label":"Company"}]}`), nil)
	require.NoError(t, err)
	v.submit(link.URL, url.Values{"email": {"ada@example.com"}, "utm_source": {"letter"}, "field.company": {"Acme"}})
	submitted := await("form.submitted")
	require.Equal(t, map[string]any{"company": "Acme"}, submitted["answers"])
	require.Equal(t, "ada@example.com", submitted["email"])
	require.Equal(t, link.ID, submitted["generic_link_id"])
	require.Equal(t, true, submitted["verification_required"])
	require.Equal(t, map[string]any{"utm_source": "letter"}, submitted["utm"])

	at := v.submit(u.confirmation(t, "ada@example.com"), nil)
	verified := await("form.verified")
	require.Equal(t, []any{submitted["submission_id"], submitted["answers"]},
		[]any{verified["submission_id"], verified["answers"]})
	created := await("link.created")
	require.Equal(t, submitted["submission_id"], created["submission_id"])
	require.Equal(t, site+at.Path, created["url"])

	var session struct {
		SessionID uuid.UUID `json:"session_id"`
		Token     string    `json:"tracking_token"`
		Download  string    `json:"download"`
	}
	_, text := v.send("POST", site+at.Path+"/sessions", "application/json", "{}")
	require.NoError(t, json.Unmarshal([]byte(text), &session))
	var events []map[string]any
	for page, duration := range map[int]int{1: 1500, 2: 2500, 5: 500} {
		events = append(events, map[string]any{
			"token": session.Token, "event_type": "page_viewed", "event_id": uuid.New(), "session_id": session.SessionID,
			"event_data": map[string]int{"page": page, "duration_ms": duration},
		})
	}
	read, err := json.Marshal(events)
	require.NoError(t, err)
	v.send("POST", u.env["LODESTONE_COLLECTOR_URL"]+"/v1/events", "application/json", string(read))
	// What a visitor does is done before the webhook is waited for: who does nothing for long has
	// left.
	_, text = v.send("GET", site+session.Download+"&d="+uuid.NewString(), "", "")
	require.Len(t, text, len(pdf))

	accessed := await("link.accessed")
	require.Equal(t, session.SessionID.String(), accessed["session_id"])
	require.Equal(t, created["access_link_id"], accessed["access_link_id"])
	downloaded := await("download.completed")
	require.Equal(t, "guide.pdf", downloaded["file_name"])
	require.EqualValues(t, len(pdf), downloaded["file_size"])
	require.Equal(t, session.SessionID.String(), downloaded["session_id"])

	ended := await("session.ended")
	require.Equal(t, session.SessionID.String(), ended["session_id"])
	require.Equal(t, created["access_link_id"], ended["access_link_id"])
	require.Equal(t, []any{1.0, 2.0, 5.0}, ended["pages"])
	require.EqualValues(t, 4500, ended["duration_ms"])
	require.Len(t, story, 6)
	for kind, data := range story {
		require.Equal(t, false, data["bot"], kind)
	}
	u.readingNotice(t, fmt.Sprint(created["access_link_id"]))
	require.NotContains(t, u.out.String(), hook.Secret)
}

// readingNotice waits for the owner's mail about the visit of a link, in which the document was
// downloaded.
func (u *up) readingNotice(t *testing.T, link string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, text := get(t, u.env["LODESTONE_URL"]+"/dev/mailbox.json?to="+demoOwner, u.env["LODESTONE_DEV_SECRET"])
		var box struct {
			Mails []struct {
				Subject string
				Text    string
				Links   []string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &box), text)
		for _, m := range box.Mails {
			if slices.Contains(m.Links, u.env["LODESTONE_URL"]+"/dashboard/readers/"+link) &&
				m.Subject == "ada@example.com downloaded “The Guide”" {
				require.Contains(t, m.Text, "Downloaded · Opened for the first time")
				require.Contains(t, m.Text, "3 of 12 pages")
				return true
			}
		}
		return false
	}, enginetest.Timeout, interval)
}

// post sends JSON to the API and reads the answer.
func (u *up) post(t *testing.T, path string, body, into any) {
	t.Helper()
	text, err := json.Marshal(body)
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		u.env["LODESTONE_URL"]+path, bytes.NewReader(text))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+u.env["LODESTONE_API_KEY"])
	answer, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	out, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Less(t, answer.StatusCode, 300, string(out))
	require.NoError(t, json.Unmarshal(out, into))
}

// confirmation returns the link of the mail that asks someone to confirm an address.
func (u *up) confirmation(t *testing.T, to string) (address string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, text := get(t, u.env["LODESTONE_URL"]+"/dev/mailbox.json?to="+to, u.env["LODESTONE_DEV_SECRET"])
		var box struct {
			Mails []struct {
				To    string
				Links []string
			}
		}
		require.NoError(t, json.Unmarshal([]byte(text), &box), text)
		for _, m := range box.Mails {
			for _, l := range m.Links {
				if strings.Contains(m.To, to) && strings.Contains(l, "/verify/") {
					address = l
				}
			}
		}
		return address != ""
	}, enginetest.Timeout, interval)
	return address
}
