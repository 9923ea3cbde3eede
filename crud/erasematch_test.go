package crud_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
)

// An address is found however it is escaped and its domain is written, and those that end with it are others'.
func TestErasingFindsEveryFormOfAnAddress(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u := f.user(t, account.Team).at(t, f.service)
	f = u.fixture
	u.channel(t, "slack", "https://example.com/services/x")
	_, err := f.db.Unscoped().Exec(t.Context(), `UPDATE accounts SET notify_email = 'owner@example.com', notify = 'each', notify_confirmed_at = now(), notify_asked_at = now()`)
	require.NoError(t, err)
	m := u.file(t)
	link := u.link(t, m)
	for _, address := range []string{"A&n@Bücher.example", "joa&n@bücher.example"} {
		f.fillIn(t, link.Slug, address)
	}
	once := func(key, address string) reply {
		return u.send(t, "POST", "/api/v1/access-links", strings.NewReader(`{"lead_magnet_id":"`+m+`","email":"`+address+`"}`), "Content-Type", "application/json", "Idempotency-Key", key)
	}
	require.Equal(t, http.StatusCreated, once("hers", "a&n@xn--bcher-kva.example").status)
	require.Equal(t, http.StatusCreated, once("his", "joa&n@bücher.example").status)
	require.Contains(t, f.waiting(t), `A\u0026n@Bücher.example`)

	done := u.post(t, erasePath, `{"email":"a&n@XN--bcher-kva.example"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	removed := done.object(t)["removed"].(map[string]any)
	require.EqualValues(t, 1, removed["chat_messages"])
	require.EqualValues(t, 2, removed["mails"]) // the document's and the notice
	require.NotContains(t, f.waiting(t), `A\u0026n@`)
	require.GreaterOrEqual(t, strings.Count(f.waiting(t), `joa\u0026n@`), 3)
	require.Equal(t, http.StatusConflict, once("hers", "a&n@xn--bcher-kva.example").status)
	require.Equal(t, http.StatusCreated, once("his", "joa&n@bücher.example").status)
}

// Before an address had one form, both forms of its letters could be sent to one landing page. Both rows are erased.
func TestErasingFindsAnAddressOfDecomposedLetters(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.file(t))
	f.fillIn(t, link.Slug, "zo\u00eb@example.com")
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object(
		'id', gen_random_uuid(), 'email', $1::text, 'email_key', $1::text))).* FROM submissions s`, "zoe\u0308@example.com")
	require.NoError(t, err)
	done := u.post(t, erasePath, `{"email":"zo\u00eb@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	require.EqualValues(t, 2, done.object(t)["removed"].(map[string]any)["submissions"])
}
