package crud_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/pkg/auth"
)

// A person of whom there is only a form that waits has a screen, until they have a page.
func TestAFormThatWaitsHasAScreen(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.QueryURL = numbers(t) })
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	id := u.make(t, u.file(t), "waits", `,"require_verification":true,"collect_name":true,
		"fields":[{"key":"size","kind":"text","label":"Team size"}]`)
	sent, err := http.PostForm(f.url+"/l/waits?utm_source=letter", url.Values{"email": {"Eve@acme.example"},
		"name": {"Eve <3"}, "field.size": {"12"}})
	require.NoError(t, err)
	require.NoError(t, sent.Body.Close())
	submissions := linksPath + "/" + id + "/submissions"
	one := u.get(t, submissions).object(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, "awaiting_verification", one["state"])
	ends, err := time.Parse(time.RFC3339, one["verification_ends_at"].(string))
	require.NoError(t, err)
	at, err := time.Parse(time.RFC3339, one["submitted_at"].(string))
	require.NoError(t, err)
	require.Equal(t, capturing.VerificationTime, ends.Sub(at).Round(time.Minute))
	for only, n := range map[string]int{one["id"].(string): 1, uuid.NewString(): 0} {
		require.Len(t, u.get(t, submissions+"?submission_id="+only).object(t)["data"], n)
		require.Len(t, u.get(t, submissions+"?sort=submitted_at&submission_id="+only).object(t)["data"], n)
	}

	b, screen := u.signIn(t), "/dashboard/links/"+id+"/submissions/"+one["id"].(string)
	require.Contains(t, b.get("/dashboard/links/"+id+"?state=awaiting_verification").text, `href="`+screen+`?list=state`)
	p := b.get(screen + "?list=state%3Dawaiting_verification")
	require.Equal(t, http.StatusOK, p.status, p.text)
	for _, want := range []string{"Eve &lt;3", `href="mailto:Eve@acme.example"`, "Company: acme.example",
		"Team size", `<dd dir="auto">12`, "letter", "isn’t confirmed yet", ends.UTC().Format("15:04"),
		`href="/dashboard/links/` + id + `?state=awaiting_verification#submissions"`} {
		require.Contains(t, p.text, want)
	}
	require.Equal(t, http.StatusNotFound, other.signIn(t).get(screen).status)
	require.Equal(t, http.StatusForbidden, f.userOf(t, u.account, auth.Read).signIn(t).get(screen).status)
	for _, none := range []string{"none", uuid.NewString()} {
		require.Equal(t, http.StatusNotFound, b.get("/dashboard/links/"+id+"/submissions/"+none).status)
	}

	_, err = f.db.Unscoped().Exec(t.Context(), `UPDATE verifications SET expires_at = now() - interval '1 hour'`)
	require.NoError(t, err)
	require.Contains(t, b.get(screen).text, "has expired")
	_, err = f.db.Unscoped().Exec(t.Context(), `UPDATE verifications SET expires_at = now() + interval '1 hour'`)
	require.NoError(t, err)
	letter := u.letters(t, mail.KindConfirm)["Eve@acme.example"][0]
	confirmed, err := http.PostForm(f.url+strings.TrimPrefix(letter.URL, site), nil)
	require.NoError(t, err)
	require.NoError(t, confirmed.Body.Close())
	one = u.get(t, submissions).object(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, []any{true, nil}, []any{one["verified"], one["verification_ends_at"]})
	p = b.get(screen)
	require.Equal(t, http.StatusSeeOther, p.status, p.text)
	require.Contains(t, p.header.Get("Location"), "/dashboard/readers/")
}
