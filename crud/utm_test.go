package crud_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
)

const templatesPath = "/api/v1/utm-templates"

func TestUTMTemplates(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","slug":"utm-guide"}`).object(t)

	r := u.post(t, templatesPath,
		`{"name":"Spring mail","source":"newsletter","medium":"email","campaign":"Spring & summer"}`)
	require.Equal(t, 201, r.status, r.body)
	made := r.object(t)
	one := templatesPath + "/" + made["id"].(string)
	require.Equal(t, one, r.header.Get("Location"))
	want := map[string]any{
		"id": made["id"], "name": "Spring mail", "source": "newsletter", "medium": "email", "campaign": "Spring & summer",
		"content": nil, "term": nil,
		"url": nil, "created_at": made["created_at"], "updated_at": made["updated_at"],
	}
	require.Equal(t, want, made)
	require.Equal(t, want, u.get(t, one).object(t))

	// The answer gives the address of a link with the parameters.
	of := "?generic_link_id=" + link["id"].(string)
	const address = site + "/l/utm-guide?utm_source=newsletter&utm_medium=email&utm_campaign=Spring+%26+summer"
	require.Equal(t, address, u.get(t, one+of).object(t)["url"])
	listed := u.get(t, templatesPath+of).object(t)["data"].([]any)
	require.Len(t, listed, 1)
	require.Equal(t, address, listed[0].(map[string]any)["url"])
	require.Equal(t, 404, u.get(t, templatesPath+"?generic_link_id="+uuid.NewString()).status)

	// A change of an outdated state is refused; null removes a parameter, but never the last one.
	tag := u.get(t, one).header.Get("ETag")
	changed := u.send(t, "PATCH", one, strings.NewReader(`{"medium":null,"campaign":null,"term":"pdf"}`), "Content-Type",
		"application/json", "If-Match", tag).object(t)
	require.Nil(t, changed["medium"])
	require.Equal(t, "newsletter", changed["source"])
	require.Equal(t, "pdf", changed["term"])
	require.Equal(t, 412, u.send(t, "PATCH", one, strings.NewReader(`{"name":"x"}`), "Content-Type",
		"application/json", "If-Match", tag).status)
	require.Equal(t, 412, u.send(t, "DELETE", one, nil, "If-Match", tag).status)
	require.Equal(t, 422, u.send(t, "PATCH", one, strings.NewReader(`{"source":null,"term":null}`),
		"Content-Type", "application/json").status)
	require.Equal(t, "newsletter", u.get(t, one).object(t)["source"])
	for _, wrong := range []string{`{"name":"x"}`, `{"name":" ","source":"s"}`, `{"name":"x","source":""}`,
		`{"name":"x","source":"` + strings.Repeat("x", 201) + `"}`} {
		require.Equal(t, 422, u.post(t, templatesPath, wrong).status, wrong)
	}

	// Another account sees nothing of it, and a key that reads changes nothing.
	other := f.user(t, account.Free)
	require.Equal(t, 404, other.get(t, one).status)
	require.Equal(t, 404, other.send(t, "DELETE", one, nil).status)
	require.Empty(t, other.get(t, templatesPath).object(t)["data"])
	require.Equal(t, 404, other.get(t, templatesPath+of).status)
	require.Equal(t, 403, f.userOf(t, u.account, auth.Read).send(t, "DELETE", one, nil).status)

	require.Equal(t, 204, u.send(t, "DELETE", one, nil).status)
	require.Equal(t, 404, u.get(t, one).status)
}
