package crud_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
)

// What waits about a person is in the export, as an erasure finds it: messages to chat channels, notices of visits, and keys of repeated requests. Those of others are not, nor what names others beside the person.
func TestExportHasWhatWaits(t *testing.T) {
	t.Parallel()
	query := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // has no events
	defer query.Close()
	f := startAlone(t, withLog(t.TempDir()), func(c *crud.Config) { c.QueryURL = query.URL })
	u := f.user(t, account.Team).at(t, f.service)
	f = u.fixture
	channel := u.channel(t, "slack", "https://example.com/services/x")
	_, err := f.db.Unscoped().Exec(t.Context(), `UPDATE accounts SET notify_email = 'owner@example.com', notify = 'each', notify_confirmed_at = now(), notify_asked_at = now()`)
	require.NoError(t, err)
	m := u.file(t)
	for _, address := range []string{"Ada@Example.com", "bob@example.com"} {
		f.fillIn(t, u.link(t, m).Slug, address)
		made := u.send(t, "POST", "/api/v1/access-links", strings.NewReader(`{"lead_magnet_id":"`+m+`","email":"`+address+`"}`), "Content-Type", "application/json", "Idempotency-Key", "invite-"+address)
		require.Equal(t, http.StatusCreated, made.status, made.body)
	}
	_, err = f.db.Unscoped().Exec(t.Context(), `WITH begun AS (INSERT INTO sessions (id, account_id, access_link_id, magnet_version)
			SELECT gen_random_uuid(), account_id, id, 1 FROM access_links WHERE source = 'api' RETURNING id, account_id, access_link_id)
		INSERT INTO reading_notices (session_id, account_id, access_link_id, news, send) SELECT id, account_id, access_link_id, '{finished,opened}', 'daily' FROM begun`)
	require.NoError(t, err)

	export := func() (text string, found map[string][]map[string]any) {
		t.Helper()
		got := u.post(t, "/api/v1/people/export", `{"email":"ada@example.com"}`)
		require.Equal(t, http.StatusOK, got.status, got.body)
		var fields map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(got.body), &fields))
		found = map[string][]map[string]any{}
		for name, field := range fields {
			if field[0] == '[' {
				var list []map[string]any
				require.NoError(t, json.Unmarshal(field, &list))
				found[name] = list
			}
		}
		return got.body, found
	}
	text, found := export()
	require.Len(t, found["chat_messages"], 1)
	message := found["chat_messages"][0]
	require.Equal(t, channel, message["channel_id"])
	require.Equal(t, "available", message["state"])
	require.Contains(t, message["text"], "Email: Ada@Example.com")
	require.Len(t, found["notices"], 1)
	require.Equal(t, []any{"finished", "opened"}, found["notices"][0]["news"])
	require.Nil(t, found["notices"][0]["settled_at"])
	require.Len(t, found["idempotency_keys"], 1)
	require.Equal(t, "invite-Ada@Example.com", found["idempotency_keys"][0]["key"])
	require.Equal(t, "create-access-link", found["idempotency_keys"][0]["operation"])
	require.Len(t, found["answers"], 1)
	require.NotContains(t, text, "bob@")

	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"ada@example.com"}`).status)
	_, found = export()
	require.Contains(t, found, "chat_messages")
	for name, list := range found {
		require.Empty(t, list, name)
	}
}
