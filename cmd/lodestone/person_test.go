package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

const adasAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"

// requireAll requires that an event of a document has what is stored of it, column by column.
func (s stores) requireAll(t *testing.T, event map[string]any) {
	t.Helper()
	elsewhere := map[string]string{
		"account_id": "who asks", "event_id": "id", "agent_names": "browser and os", "origin": "country and language",
		"device":         "computed of user_agent and bot",
		"kafka_topic_id": "place in the log", "kafka_partition": "place in the log", "kafka_offset": "place in the log",
		"stored_at": "place in the list",
		"in_time":   "always 0", "insert_before": "not stored",
	}
	rows, err := s.conn.Query(t.Context(),
		"SELECT name FROM system.columns WHERE database = 'lodestone' AND table = 'events'")
	require.NoError(t, err)
	var names []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, errors.Join(rows.Err(), rows.Close()))
	require.Greater(t, len(names), len(elsewhere))
	for _, name := range names {
		if elsewhere[name] != "" {
			continue
		}
		require.Contains(t, event, name)
		column := map[string]string{"ip_hash": "lower(hex(ip_hash))",
			"created_at":  "replace(toString(created_at), ' ', 'T') || 'Z'",
			"received_at": "replace(toString(received_at), ' ', 'T') || 'Z'"}[name]
		if column == "" {
			column = "toString(" + name + ")"
		}
		var stored string
		require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT "+column+" FROM lodestone.events WHERE event_id = '"+
			event["id"].(string)+"'").Scan(&stored))
		switch value := event[name].(type) {
		case nil:
			require.Empty(t, strings.Trim(stored, "0-"), name)
		case map[string]any:
			text, err := json.Marshal(value)
			require.NoError(t, err)
			require.JSONEq(t, stored, string(text), name)
		default:
			require.Equal(t, stored, fmt.Sprint(value), name)
		}
	}
}

// Everything that the account has of an address is in one document, and nothing of anyone else. Who
// asks is in the audit log, without the address.
func TestExportOfAPerson(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	site := u.env["LODESTONE_URL"]
	c := clienttest.New(client.Config{URL: site, Key: u.env["LODESTONE_API_KEY"]})
	owner := asker{site, u.env["LODESTONE_API_KEY"]}
	m := u.newGuide("Guide")
	link, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, CollectName: true})
	require.NoError(t, err)
	owner.must(t, "PATCH", "/api/v1/generic-links/"+link.ID, `{"fields":[{"key":"company","kind":"company","label":"C"}]}`)
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	v.submit(link.URL, url.Values{"email": {"Ada@Example.com"}, "name": {"Ada Lovelace"}, "field.company": {"Acme"},
		"utm_source": {"letter"}})
	v.submit(link.URL, url.Values{"email": {"bob@example.com"}, "name": {"Bob Byron"}})
	made, err := c.CreateAccessLinks(t.Context(), m.ID,
		clienttest.NewAccessLinks{Emails: []string{"ada@example.com", "bob@example.com"}})
	require.NoError(t, err)
	session := uuid.NewString()
	for i, l := range made {
		agent := []string{adasAgent, "bob-agent"}[i]
		body := fmt.Sprintf(`{"token":%q,"event_type":"page_viewed","event_data":{"page":1},"session_id":%q}`,
			l.TrackingToken, session)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.env["LODESTONE_COLLECTOR_URL"]+
			"/v1/events", strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("User-Agent", agent)
		r.Header.Set("Accept-Language", "hi-IN")
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusAccepted, answer.StatusCode)
	}
	require.Eventually(t, func() bool {
		events, err := c.Events(t.Context(), client.EventFilter{})
		return err == nil && events.Pagination.Total >= 2
	}, enginetest.Timeout, seldom)

	ask := func(address string) (map[string]any, string) {
		t.Helper()
		found := owner.must(t, "POST", "/api/v1/people/export", `{"email":"`+address+`"}`)
		text, err := json.Marshal(found)
		require.NoError(t, err)
		return found, string(text)
	}
	found, text := ask("ADA@example.com")
	one := func(list string) map[string]any {
		t.Helper()
		require.Len(t, found[list], 1, list)
		return found[list].([]any)[0].(map[string]any)
	}
	submission := one("submissions")
	require.Equal(t, "Ada@Example.com", submission["email"])
	require.Equal(t, "Ada Lovelace", submission["name"])
	require.Equal(t, map[string]any{"company": "Acme"}, submission["answers"])
	require.Equal(t, map[string]any{"utm_source": "letter"}, submission["utm"])
	event := one("events")
	require.Equal(t, adasAgent, event["user_agent"])
	require.Equal(t, []any{"Firefox", "Linux", "hi", nil},
		[]any{event["browser"], event["os"], event["language"], event["country"]})
	require.Equal(t, made[0].ID, event["access_link_id"])
	s := u.stores(t)
	s.requireAll(t, event)
	s.close(t)
	require.Len(t, found["access_links"], 3) // of the form, its mail, and the API
	require.Contains(t, text, made[0].ID)
	for _, other := range []string{"bob@example.com", "Bob Byron", "bob-agent", made[1].ID} {
		require.NotContains(t, text, other)
	}

	none, _ := ask("no.one@example.com")
	for name, list := range none {
		if list, ok := list.([]any); ok {
			require.Empty(t, list, name)
		}
	}
	log := owner.must(t, "GET", "/api/v1/audit-log?action=export-person", "")
	require.Len(t, log["data"], 2)
	require.Equal(t, found["person_id"], log["data"].([]any)[1].(map[string]any)["object_id"])
	logged, err := json.Marshal(log)
	require.NoError(t, err)
	require.NotContains(t, strings.ToLower(string(logged)), "ada@example.com")
}
