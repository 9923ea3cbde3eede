package crud_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/problem"
)

const (
	companyField = `{"key":"company","kind":"company","label":"Company","required":true}`
	teamField    = `{"key":"team","kind":"choice","label":"Team","labels":{"de":"Gruppe"},"options":["1–10","11–50"],` +
		`"option_labels":{"de":{"11–50":"11 bis 50"}}}`
)

func TestFieldsOfALink(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","fields":[`+companyField+`,`+teamField+`]}`).object(t)
	company := map[string]any{"key": "company", "kind": "company", "label": "Company", "labels": map[string]any{},
		"required": true, "options": []any{}, "option_labels": map[string]any{}}
	team := map[string]any{"key": "team", "kind": "choice", "label": "Team", "labels": map[string]any{"de": "Gruppe"},
		"required": false, "options": []any{"1–10", "11–50"},
		"option_labels": map[string]any{"de": map[string]any{"11–50": "11 bis 50"}}}
	require.Equal(t, []any{company, team}, link["fields"])
	path := linksPath + "/" + link["id"].(string)
	require.Equal(t, []any{company, team}, u.patch(t, path, `{"title":"New"}`).object(t)["fields"])
	require.Equal(t, []any{team}, u.patch(t, path, `{"fields":[`+teamField+`]}`).object(t)["fields"])
	require.Equal(t, []any{team}, u.get(t, path).object(t)["fields"])
	require.Empty(t, u.patch(t, path, `{"fields":[]}`).object(t)["fields"])
	require.Equal(t, []any{}, u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"}`).object(t)["fields"])

	for body, wrong := range map[string]string{
		`null`: "fields", `[{}]`: "fields[0].key fields[0].kind fields[0].label",
		`[{"key":"A b","kind":"company","label":"x"}]`:                  "fields[0].key",
		`[{"key":"a","kind":"date","label":" "}]`:                       "fields[0].kind fields[0].label",
		`[` + companyField + `,` + companyField + `]`:                   "fields[1].key",
		`[{"key":"a","kind":"choice","label":"x"}]`:                     "fields[0].options",
		`[{"key":"a","kind":"hidden","label":"x","required":true}]`:     "fields[0].required",
		`[{"key":"a","kind":"text","label":"x","labels":{"xx":"x"}}]`:   "fields[0].labels.xx",
		`[` + strings.Repeat(companyField+",", 12) + companyField + `]`: "fields",
	} {
		for _, p := range []problem.Problem{u.patch(t, path, `{"fields":`+body+`}`).problem(t),
			u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","fields":`+body+`}`).problem(t)} {
			require.Equal(t, problem.ValidationError, p.Code, body)
			require.Equal(t, wrong, fields(p), body)
		}
	}
}

// What a visitor answers is in every list, file and message about the submission.
func TestAnswers(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.file(t)
	const origin = "https://www.example.com"
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m+`","slug":"asking","allowed_origins":["`+origin+`"],"fields":[`+
		companyField+`,`+teamField+`,{"key":"plan","kind":"hidden","label":"Plan"}]}`).object(t)
	id := link["id"].(string)
	_, form := f.ask(t, "GET", "asking", origin, nil)
	require.Equal(t, []any{"plan"}, form["hidden"])
	require.Equal(t, map[string]any{"name": "field.company", "label": "Company", "type": "text", "mode": "text",
		"fill": "organization", //nolint:misspell // because HTML spells the token so
		"max":  200.0, "options": []any{}, "words": []any{}, "missing": "Fill in “Company”.", "required": true},
		form["fields"].([]any)[0])
	_, german := f.ask(t, "GET", "asking", origin, nil, "Accept-Language", "de")
	require.Equal(t, []any{"1–10", "11 bis 50"}, german["fields"].([]any)[1].(map[string]any)["words"])
	page, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.url+"/l/asking", http.NoBody)
	require.NoError(t, err)
	page.Header.Set("Accept-Language", "de")
	shown, err := f.http.Transport.RoundTrip(page)
	require.NoError(t, err)
	html, err := io.ReadAll(shown.Body)
	require.NoError(t, errors.Join(err, shown.Body.Close()))
	require.Contains(t, string(html), `<option value="11–50">11 bis 50</option>`)
	send := func(values ...string) (*http.Response, map[string]any) {
		q := url.Values{"token": {form["token"].(string)}}
		for i := 0; i < len(values); i += 2 {
			q.Set(values[i], values[i+1])
		}
		return f.ask(t, "POST", "asking", origin, q)
	}
	res, out := send("email", "ada@example.com", "field.team", "none")
	require.Equal(t, 422, res.StatusCode)
	require.Equal(t, map[string]any{"field.company": "Fill in “Company”.", "field.team": "Choose an answer for “Team”."},
		out["errors"])
	res, out = send("email", "ada@example.com", "field.company", "=Acme, Ltd", "field.team", "1–10", "hidden.plan", "pro")
	require.Equal(t, 200, res.StatusCode, out)
	res, _ = send("email", "bob@example.com", "field.company", "Other")
	require.Equal(t, 200, res.StatusCode)

	ada := map[string]any{"company": "=Acme, Ltd", "team": "1–10", "plan": "pro"}
	list := func(query string) (found []any) {
		for _, one := range u.get(t, linksPath+"/"+id+"/submissions"+query).object(t)["data"].([]any) {
			found = append(found, one.(map[string]any)["answers"])
		}
		return found
	}
	require.Equal(t, []any{map[string]any{"company": "Other"}, ada}, list(""))
	require.Equal(t, []any{ada}, list("?field=company:"+url.QueryEscape("=ACME, ltd")))
	require.Equal(t, []any{ada}, list("?sort=submitted_at&field=plan:pro&field=team:1%E2%80%9310"))
	require.Empty(t, list("?field=plan:pro&field=company:Other"))
	require.Empty(t, list("?field=company:Acme"), "the whole answer")
	for _, query := range []string{"?field=", "?field=company", "?field=A:x", "?field=plan:a&field=plan:b",
		"?" + strings.Repeat("field=plan:a&", 13)} {
		p := u.get(t, linksPath+"/"+id+"/submissions"+query).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, query)
		require.Equal(t, "field", fields(p), query)
	}

	// A field that the form no longer has keeps its column.
	require.Equal(t, 200, u.patch(t, linksPath+"/"+id, `{"fields":[`+teamField+`]}`).status)
	rows := cellsOf(t, u.download(t, id, "csv", "field", "plan:pro"))
	require.Len(t, rows, 1)
	require.Equal(t, []string{"'=Acme, Ltd", "1–10", "pro"},
		[]string{rows[0]["answers.company"], rows[0]["answers.team"], rows[0]["answers.plan"]})
	file := u.download(t, id, "parquet", "field", "plan:pro")
	columns := columnsOf(t, file)[0]["answers"].(map[string]any)
	require.Equal(t, "=Acme, Ltd", string(columns["company"].([]byte)))
	require.Len(t, columns, 3)
}
