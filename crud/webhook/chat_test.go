package webhook_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
	"lodestone/crud/webhook"
)

func (r *rig) notify(about webhook.Kind, subject string) {
	r.t.Helper()
	require.NoError(r.t, r.db.Account(r.t.Context(), r.owner, func(tx pgx.Tx) error {
		return webhook.Emit(r.t.Context(), tx, r.tokens, r.owner,
			webhook.Notice{About: about, Words: mail.Words{Subject: subject}})
	}))
}

// A chat program gets the notices that its webhook asks for, as it shows them and not signed, until
// its own webhook is deleted. The URL is a secret.
func TestChatPrograms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var answer atomic.Int64
	answer.Store(http.StatusOK)
	to := newReceiver(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(int(answer.Load())) })
	const token = "averysecrettoken"
	made := r.must("POST", "", `{"format":"slack","url":"`+to.url+`/`+token+`","kinds":["notice.leads"]}`)
	id := made["id"].(string)
	require.Nil(t, made["secret"])
	r.notify(webhook.KindWeekly, "The week")
	r.notify(webhook.KindLeads, "New lead")
	sent := r.only(id, "delivered", inState("delivered"))
	got := to.next(t)
	require.Empty(t, got.header.Get("Webhook-Signature"))
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	var body any
	require.NoError(t, json.Unmarshal(got.body, &body))
	require.Equal(t, sent["body"], body)
	require.Equal(t, "New lead", body.(object)["text"])
	trial := r.must("POST", "/"+id+"/test", "")
	require.Equal(t, "delivered", trial["state"])
	require.Contains(t, string(to.next(t).body), "This is a test of the webhook.")

	answer.Store(http.StatusNotFound)
	r.notify(webhook.KindLeads, "Another lead")
	require.Eventually(t, func() bool { return r.must("GET", "/"+id, "")["is_active"] == false },
		testTimeout, 20*time.Millisecond)
	hook := r.must("GET", "/"+id, "")
	require.Equal(t, "It answered with 404: it wants no more messages.", hook["disabled_reason"])
	for _, shown := range []object{made, sent, trial, hook} {
		text, err := json.Marshal(shown)
		require.NoError(t, err)
		require.NotContains(t, string(text), token)
	}
	require.NotContains(t, r.log.String(), token)
	for _, table := range []string{"webhook_endpoints", "webhook_deliveries"} {
		var found bool
		require.NoError(t, r.db.Unscoped().QueryRow(t.Context(), "SELECT bool_or(t::text LIKE '%"+token+
			"%') FROM "+table+" t").Scan(&found))
		require.False(t, found, table)
	}
}

// A webhook takes the kinds of its format, which stays. One of a chat program has no secret.
func TestKindsOfFormats(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	chat := "/" + r.must("POST", "",
		`{"format":"teams","url":"https://example.com/","kinds":["notice.leads"]}`)["id"].(string)
	hook, _ := r.create("https://example.com/")
	for _, bad := range []struct{ method, path, body, field string }{
		{"POST", "", `{"url":"https://example.com/","kinds":["form.submitted","notice.leads"]}`, "kinds[1]"},
		{"POST", "", `{"format":"discord","url":"https://example.com/","kinds":["form.submitted"]}`, "kinds[0]"},
		{"POST", "", `{"format":"irc","url":"https://example.com/","kinds":["notice.leads"]}`, "format"},
		{"PATCH", chat, `{"kinds":["link.created"]}`, "kinds[0]"},
		{"PATCH", "/" + hook, `{"kinds":["notice.weekly"]}`, "kinds[0]"},
		{"PATCH", chat, `{"format":"slack"}`, "format"},
	} {
		status, out, _ := r.ask(bad.method, bad.path, bad.body)
		require.Equal(t, http.StatusUnprocessableEntity, status, bad)
		require.Equal(t, bad.field, out["errors"].([]any)[0].(object)["field"], bad)
	}
	status, _, _ := r.ask("POST", chat+"/rotate-secret", "")
	require.Equal(t, http.StatusConflict, status)
}
