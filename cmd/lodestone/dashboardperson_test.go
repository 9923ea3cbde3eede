package main

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// A person has one page, whichever of their links leads there, and their name in every list. Who
// finished a document is called, until the account closes them.
func TestDashboardPerson(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	magnet := u.newGuide("The Guide")
	_, page := v.api("POST", "/api/v1/generic-links", object{"lead_magnet_id": magnet.ID, "collect_name": true})
	visitor{t, &http.Client{Timeout: time.Minute}}.submit(page["url"].(string),
		url.Values{"email": {"rita@acme.example"}, "name": {"Rita One"}})
	_, personal := v.api("POST", "/api/v1/access-links", object{"lead_magnet_id": magnet.ID, "email": "rita@acme.example"})
	u.event(t, client.AccessLink{TrackingToken: personal["tracking_token"].(string)}, "Mozilla/5.0 (iPhone)",
		map[string]any{"event_type": "page_viewed", "session_id": uuid.NewString(),
			"event_data": map[string]any{"page": *magnet.PageCount, "duration_ms": 900}})
	require.Eventually(t, func() bool {
		_, calls := v.api("GET", "/api/v1/analytics/call-list", nil)
		return len(calls["data"].([]any)) == 1
	}, enginetest.Timeout, 50*time.Millisecond)

	for _, path := range []string{"/dashboard", "/dashboard/readers?q=rita+one", "/dashboard/live"} {
		v.open(path).has("Rita One")
	}
	v.open("/dashboard/readers?q=two").lacks("Rita One")
	v.open("/dashboard").has("Read The Guide to the end.")

	first := v.open("/dashboard/readers/" + personal["id"].(string))
	path := first.path
	require.NotContains(t, path, personal["id"], "the oldest link has the page")
	for _, text := range []string{"Rita One</h1>", `href="mailto:rita@acme.example"`, "Company: acme.example", "from the form",
		"by mail", "personal", fmt.Sprintf("Finished: 1 of %d pages", *magnet.PageCount)} {
		first.has(text)
	}
	saved := v.send(first, path+"/person", url.Values{"status": {"Won"}, "note": {"Called\r\ntwice"}})
	saved.has("Saved.")
	saved.has("Called\ntwice")
	stale := v.send(first, path+"/person", url.Values{"note": {"mine"}})
	require.Equal(t, http.StatusConflict, stale.status)
	stale.has("Someone else changed this person")
	v.send(stale, path+"/person", url.Values{"name": {"Rita Two"}, "status": {"Won"}}).has("Rita Two</h1>")
	require.Empty(t, v.open("/dashboard").find("ul", "calls"))
	list := v.open("/dashboard/readers?q=mine")
	list.has("Rita Two")
	list.has("Won")

	v.send(v.open(settings), settings, url.Values{"open_statuses": {"Cold,  Warm"}, "closed_statuses": {""}}).has("Saved.")
	_, account := v.api("GET", "/api/v1/account", nil)
	require.Equal(t, object{"open_statuses": []any{"Cold", "Warm"}, "closed_statuses": []any{}},
		pick(account, "open_statuses", "closed_statuses"))
	v.open(path).has(">Won") // which is none of the words any more

	left := v.send(v.open(path), path+"/links/"+path[len("/dashboard/readers/"):]+"/delete", nil)
	require.NotEqual(t, path, left.path)
	left.has("Rita Two</h1>")
}
