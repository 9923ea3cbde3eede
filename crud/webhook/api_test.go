package webhook_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
	"lodestone/pkg/auth"
)

func TestEndpoints(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	code, made, tag := r.ask("POST", "",
		`{"url":"https://example.com/hooks?to=crm","description":"CRM","kinds":["form.submitted","link.created"]}`)
	require.Equal(t, 201, code)
	require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, made["secret"])
	require.NotEmpty(t, tag)
	id := made["id"].(string)
	delete(made, "secret")
	code, got, tag := r.ask("GET", "/"+id, "")
	require.Equal(t, 200, code)
	require.Equal(t, made, got)
	require.ElementsMatch(t, []string{
		"id", "format", "url", "description", "kinds", "is_active", "disabled_reason", "disabled_at",
		"failing_since", "created_at", "updated_at",
	}, keys(got))
	require.Equal(t, []any{"form.submitted", "link.created"}, got["kinds"])
	require.Equal(t, true, got["is_active"])
	list := r.must("GET", "", "")
	require.Equal(t, []any{got}, list["data"])

	code, changed, tag2 := r.ask("PATCH", "/"+id, `{"description":null,"kinds":["session.ended"]}`, "If-Match", tag)
	require.Equal(t, 200, code)
	require.Nil(t, changed["description"])
	require.Equal(t, []any{"session.ended"}, changed["kinds"])
	require.Equal(t, got["url"], changed["url"])
	code, _, _ = r.ask("PATCH", "/"+id, `{"url":"https://example.com/"}`, "If-Match", tag)
	require.Equal(t, http.StatusPreconditionFailed, code)
	code, _, _ = r.ask("PATCH", "/"+id, `{}`, "If-Match", tag)
	require.Equal(t, http.StatusPreconditionFailed, code)
	code, _, _ = r.ask("PATCH", "/"+id, `{}`)
	require.Equal(t, 200, code)
	code, _, _ = r.ask("DELETE", "/"+id, "", "If-Match", tag)
	require.Equal(t, http.StatusPreconditionFailed, code)
	code, _, _ = r.ask("DELETE", "/"+id, "", "If-Match", tag2)
	require.Equal(t, http.StatusNoContent, code)
	for _, path := range []string{"/" + id, "/" + id + "/deliveries", "/" + id + "/deliveries/" + id} {
		code, _, _ = r.ask("GET", path, "")
		require.Equal(t, http.StatusNotFound, code, path)
	}
	for _, path := range []string{"/test", "/rotate-secret", "/deliveries/" + id + "/replay"} {
		code, _, _ = r.ask("POST", "/"+id+path, "")
		require.Equal(t, http.StatusNotFound, code, path)
	}
}

func keys(o object) []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	return names
}

func TestEndpointsAreChecked(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	strict := newQuietRig(t, func(c *webhook.Config) { c.AllowNetworks = nil })
	for _, test := range []struct {
		rig          *rig
		url, message string
	}{
		{r, "ftp://example.com", "must be a full https URL"},
		{r, "example.com", "must be a full https URL"},
		{r, "https://", "must be a full https URL"},
		{r, "https://example.com:65536/", "ports are 1 to 65535"},
		{r, "https://example.com:0/", "ports are 1 to 65535"},
		{r, "https:example.com", "must be a full https URL"},
		{r, "//example.com/", "must be a full https URL"},
		{r, "https://jo:pw@example.com/", "must not hold a user name"},
		{r, "https://example.com/#x", "must not have a fragment"},
		{strict, "http://example.com/", "must begin with https"},
		{r, "http://1.1.1.1/", "must begin with https"},
		{r, "https://10.0.0.1/", "must be on the public internet"},
		{r, "https://[::1]:8443/", "must be on the public internet"},
		{r, "https://[::ffff:10.0.0.1]/", "must be on the public internet"},
		{r, "https://169.254.169.254/latest/meta-data", "must be on the public internet"},
		{strict, "https://localhost/", "must be on the public internet"},
		{strict, "https://api.localhost./", "must be on the public internet"},
		{strict, "https://127.0.0.1/", "must be on the public internet"},
	} {
		code, p, _ := test.rig.ask("POST", "", fmt.Sprintf(`{"url":%q,"kinds":["link.created"]}`, test.url))
		require.Equal(t, 422, code, test.url)
		require.Contains(t, p["detail"], test.message, test.url)
	}
	for body, field := range map[string]string{
		`{"url":"https://example.com","kinds":[]}`:                                "kinds",
		`{"url":"https://example.com","kinds":["link.opened"]}`:                   "kinds[0]",
		`{"url":"https://example.com","kinds":["webhook.test"]}`:                  "kinds[0]",
		`{"url":"https://example.com","kinds":["link.created","link.created"]}`:   "kinds",
		`{"url":"https://example.com"}`:                                           "kinds",
		`{"kinds":["link.created"]}`:                                              "url",
		`{"url":"https://example.com","kinds":["link.created"],"secret":"x"}`:     "secret",
		`{"url":"https://example.com","kinds":["link.created"],"is_active":true}`: "is_active",
	} {
		code, p, _ := r.ask("POST", "", body)
		require.Equal(t, 422, code, body)
		require.True(t, strings.HasPrefix(p["errors"].([]any)[0].(object)["field"].(string), field), "%s: %v", body, p)
	}
}

func TestEndpointLimit(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t, func(c *webhook.Config) { c.MaxEndpoints = 2 })
	r.create("https://example.com/1")
	id, _ := r.create("https://example.com/2")
	code, p, _ := r.ask("POST", "", `{"url":"https://example.com/3","kinds":["link.created"]}`)
	require.Equal(t, http.StatusForbidden, code)
	require.Equal(t, "limit_reached", p["code"])
	r.must("DELETE", "/"+id, "")
	r.create("https://example.com/3")
}

// Another account sees nothing of an endpoint and cannot touch it; neither can a key without the
// scope.
func TestStrangers(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, nil)
	id, _ := r.create(to.url)
	r.emit(1)
	d := r.only(id, "delivered", inState("delivered"))
	log := "/" + id + "/deliveries/" + d["id"].(string)
	own := r.key
	r.key = r.newKey(newAccount(t, r.db))
	require.Empty(t, r.must("GET", "", "")["data"])
	other, _ := r.create(to.url)
	for _, q := range [][2]string{
		{"GET", "/" + id}, {"PATCH", "/" + id}, {"DELETE", "/" + id}, {"POST", "/" + id + "/test"},
		{"POST", "/" + id + "/rotate-secret"},
		{"GET", "/" + id + "/deliveries"}, {"GET", log}, {"POST", log + "/replay"},
		{"GET", "/" + other + "/deliveries/" + d["id"].(string)},
		{"POST", "/" + other + "/deliveries/" + d["id"].(string) + "/replay"},
	} {
		code, _, _ := r.ask(q[0], q[1], map[bool]string{true: "{}"}[q[0] == "PATCH"])
		require.Equal(t, http.StatusNotFound, code, q)
	}
	r.key = r.newKey(r.owner, auth.Read, auth.Write, auth.Leads, auth.Keys)
	for _, q := range [][2]string{{"GET", ""}, {"GET", "/" + id}, {"GET", "/" + id + "/deliveries"}, {"GET", log},
		{"DELETE", "/" + id}, {"POST", "/" + id + "/test"}, {"POST", "/" + id + "/rotate-secret"},
		{"POST", log + "/replay"}} {
		code, _, _ := r.ask(q[0], q[1], "")
		require.Equal(t, http.StatusForbidden, code, q)
	}
	r.key = own
	r.must("GET", "/"+id, "")
	to.next(t)
	require.Empty(t, to.got)
}

// While secrets rotate, messages carry a signature of each; afterwards the old one is of no use.
func TestRotation(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, nil)
	id, first := r.create(to.url)
	_, _, tag := r.ask("GET", "/"+id, "")
	second := r.must("POST", "/"+id+"/rotate-secret", "")["secret"].(string)
	require.NotEqual(t, first, second)
	code, _, _ := r.ask("PATCH", "/"+id, `{"description":"x"}`, "If-Match", tag)
	require.Equal(t, http.StatusPreconditionFailed, code)
	r.emit(1)
	both := to.next(t)
	both.verify(t, first)
	both.verify(t, second)
	require.Len(t, strings.Fields(both.header.Get("Webhook-Signature")), 2)

	r.delivered(id, 1)
	r.clock.advance(25 * time.Hour)
	r.emit(1)
	one := to.next(t)
	one.verify(t, second)
	require.Len(t, strings.Fields(one.header.Get("Webhook-Signature")), 1)

	third := r.must("POST", "/"+id+"/rotate-secret?keep_previous_hours=0", "")["secret"].(string)
	r.emit(1)
	one = to.next(t)
	one.verify(t, third)
	require.Len(t, strings.Fields(one.header.Get("Webhook-Signature")), 1)

	for range 4 {
		r.must("POST", "/"+id+"/rotate-secret?keep_previous_hours=168", "")
	}
	code, _, _ = r.ask("POST", "/"+id+"/rotate-secret", "")
	require.Equal(t, http.StatusConflict, code)
	r.must("POST", "/"+id+"/rotate-secret?keep_previous_hours=0", "")
	for _, hours := range []string{"-1", "169", "x"} {
		code, _, _ = r.ask("POST", "/"+id+"/rotate-secret?keep_previous_hours="+hours, "")
		require.Equal(t, 400, code, hours)
	}
}

// A test is sent at once, also to an endpoint that is not active, and says how it went.
func TestTest(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	var code atomic.Int64
	code.Store(200)
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(code.Load()))
		_, _ = w.Write([]byte("hello"))
	})
	id, secret := r.create(to.url)
	r.must("PATCH", "/"+id, `{"is_active":false}`)
	d := r.must("POST", "/"+id+"/test", "")
	got := to.next(t)
	got.verify(t, secret)
	require.Equal(t, "webhook.test", d["kind"])
	require.Equal(t, "webhook.test", d["body"].(object)["type"])
	require.Equal(t, "delivered", d["state"])
	require.Equal(t, "hello", attempt(d, 0)["response"])
	require.Equal(t, d, r.only(id, "in the log", inState("delivered")))
	code.Store(410)
	r.must("PATCH", "/"+id, `{"is_active":true}`)
	d = r.must("POST", "/"+id+"/test", "")
	require.Equal(t, "failed", d["state"])
	require.Equal(t, "It answered with 410.", attempt(d, 0)["error"])
	hook := r.must("GET", "/"+id, "")
	require.Equal(t, true, hook["is_active"])
	require.Nil(t, hook["failing_since"])
}

// A replay sends the same message again, whatever became of it.
func TestReplay(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var code atomic.Int64
	code.Store(500)
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(code.Load())) })
	id, secret := r.create(to.url)
	r.emit(1)
	first := to.next(t)
	d := r.only(id, "tried", tried(1))
	replay := "/" + id + "/deliveries/" + d["id"].(string) + "/replay"
	code.Store(200)
	status, out, _ := r.ask("POST", replay, "") // one that waits need not wait any longer
	require.Equal(t, http.StatusAccepted, status)
	require.Equal(t, "pending", out["state"])
	again := to.next(t)
	again.verify(t, secret)
	require.Equal(t, first.header.Get("Webhook-Id"), again.header.Get("Webhook-Id"))
	require.Equal(t, first.body, again.body)
	r.only(id, "delivered", func(d object) bool { return inState("delivered")(d) && tried(2)(d) })
	r.must("POST", replay, "")
	require.Equal(t, first.header.Get("Webhook-Id"), to.next(t).header.Get("Webhook-Id"))
	d = r.only(id, "delivered again", func(d object) bool { return inState("delivered")(d) && tried(3)(d) })
	require.Equal(t, d, r.must("GET", "/"+id+"/deliveries/"+d["id"].(string), ""))
}

// The log is read page by page, by number or from a cursor.
func TestLogPages(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	id, _ := r.create("https://example.com/")
	r.emit(25)
	seen := map[any]bool{}
	next := ""
	for pages := 1; ; pages++ {
		page := r.must("GET", "/"+id+"/deliveries?per_page=10&state=pending"+next, "")
		for _, d := range page["data"].([]any) {
			seen[d.(object)["id"]] = true
		}
		cursor := page["pagination"].(object)["next_cursor"]
		if cursor == nil {
			require.Equal(t, 3, pages)
			break
		}
		next = "&cursor=" + cursor.(string)
	}
	require.Len(t, seen, 25)
	require.Len(t, r.must("GET", "/"+id+"/deliveries?per_page=10&page=3", "")["data"], 5)
	require.Empty(t, r.must("GET", "/"+id+"/deliveries?state=failed", "")["data"])
	for _, query := range []string{"?per_page=10" + next, "?per_page=10&state=pending&page=1" + next,
		"?state=gone", "?cursor=x"} {
		code, _, _ := r.ask("GET", "/"+id+"/deliveries"+query, "")
		require.Equal(t, 400, code, query)
	}
	other, _ := r.create("https://example.com/")
	code, _, _ := r.ask("GET", "/"+other+"/deliveries?state=pending"+next, "")
	require.Equal(t, 400, code)
}

// Nothing that a secret could be made of is in an answer but the two that hand it out, nor in the
// log.
func TestSecretIsShownOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, status(http.StatusTeapot))
	id, secret := r.create(to.url)
	r.emit(1)
	r.only(id, "tried", tried(1))
	for _, path := range []string{"", "/" + id, "/" + id + "/deliveries"} {
		require.NotContains(t, fmt.Sprint(r.must("GET", path, "")), secret)
		require.NotContains(t, fmt.Sprint(r.must("GET", path, "")), "whsec_")
	}
	require.NotContains(t, fmt.Sprint(r.must("PATCH", "/"+id, `{"description":"x"}`)), "whsec_")
	require.NotContains(t, r.log.String(), secret)
	err := r.db.Account(t.Context(), r.owner, func(tx pgx.Tx) error {
		var n int
		return tx.QueryRow(t.Context(), "SELECT octet_length(sealed) FROM webhook_secrets").Scan(&n)
	})
	require.ErrorContains(t, err, "permission denied")
}
