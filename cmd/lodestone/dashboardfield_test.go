package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Fields of the form are added, moved and removed without a script, and answers are columns of the
// list.
func TestDashboardFields(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	magnet := u.newGuide("Fields")
	const create = "/dashboard/links/new"
	s := v.send(v.open(create+"?magnet="+magnet.ID), create, url.Values{"fields": {"add"}, "title": {"Kept"}})
	require.Equal(t, http.StatusOK, s.status)
	s.has(`value="Kept"`)
	s = v.send(s, create, url.Values{"fields": {"add"}, "field.0.label": {"Company"}})
	s = v.send(s, create, url.Values{"fields": {"add"}, "field.1.label": {"Size of your team?"},
		"field.1.kind":    {"choice"},
		"field.1.options": {"1–10\r\n 11–50 \r\n\r\n"}, "field.1.required": {"true"}, "field.1.labels.de": {"Teamgröße"}})
	s = v.send(s, create, url.Values{"fields": {"up.1"}})
	require.Equal(t, "Size of your team?", attr(s.byID("field.0.label"), "value"))
	require.Equal(t, "Company", attr(s.byID("field.1.label"), "value"))
	s = v.send(s, create, url.Values{"field.0.options": {"one"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Equal(t, []string{"Must have 2 to 50 elements: the field is a choice."}, s.wrong())
	s = v.send(s, create, url.Values{"field.0.options": {"1–10\n11–50"}})
	s.has("The page is live.")
	id, _, _ := strings.Cut(strings.TrimPrefix(s.path, "/dashboard/links/"), "?")
	path, api := "/dashboard/links/"+id, "/api/v1/generic-links/"+id
	team := object{"key": "size_of_your_team", "kind": "choice", "label": "Size of your team?", "required": true,
		"labels": object{"de": "Teamgröße"}, "options": []any{"1–10", "11–50"}, "option_labels": object{}}
	company := object{"key": "company", "kind": "company", "label": "Company", "required": false, "labels": object{},
		"options": []any{}, "option_labels": object{}}
	_, l := v.api("GET", api, nil)
	require.Equal(t, []any{team, company}, l["fields"], "what was left empty is no field")
	v.send(v.open(path+"/edit"), path, nil)
	_, same := v.api("GET", api, nil)
	require.Equal(t, l["updated_at"], same["updated_at"])

	for email, answer := range map[string]string{"ada@example.com": "Acme", "bob@example.com": evil} {
		res, err := http.PostForm(v.site+"/l/"+l["slug"].(string), url.Values{"email": {email}, "field.company": {answer},
			"field.size_of_your_team": {"1–10"}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	s = v.open(path)
	s.harmless()
	s = v.open(s.linkTo("field=company%3AAcme"))
	s.has("ada@example.com")
	s.lacks("bob@example.com")
	s.has("Company: Acme")

	s = v.send(v.open(path+"/edit"), path, url.Values{"fields": {"remove.0"}})
	require.Equal(t, http.StatusOK, s.status)
	v.send(s, path, nil).has("Saved.")
	_, l = v.api("GET", api, nil)
	require.Equal(t, []any{company}, l["fields"])
}
