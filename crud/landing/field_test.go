package landing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const fields = `fields = '[{"key":"team","kind":"choice","label":"Team","labels":{"de":"Gruppe"},"required":true,"options":["1–10","<b>"]},
	{"key":"company","kind":"company","label":"Company","labels":{},"required":false,"options":[]},
	{"key":"plan","kind":"hidden","label":"Plan","labels":{},"required":false,"options":[]}]'`

// The page asks for the fields of the owner, in their order and its language. What is wrong is
// beside its field, and nothing that was entered is lost.
func TestFieldsOfTheForm(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, fields, "language = 'de'", "collect_name = true")
	page := f.get(t, "/l/"+slug+"?plan=pro&team=x").body
	require.Regexp(t, `(?s)name="name".*<label for="field.team">Gruppe</label>.*<option value="">Bitte auswählen</option><option value="1–10">1–10</option>`+
		`<option value="&lt;b&gt;">&lt;b&gt;</option>.*<label for="field.company">Company \(optional\)</label>.*name="field.company" type="text" inputmode="text" autocomplete="organization"`, page) //nolint:misspell // because HTML spells the token so
	require.Contains(t, page, `<input type="hidden" name="hidden.plan" value="pro">`)
	require.NotContains(t, page, "Plan")

	r := f.post(t, "/l/"+slug, "email", "jo@example.com", "name", "Jo", "field.team", "many", "field.company",
		"Acme", "hidden.plan", "pro")
	require.Equal(t, 422, r.status)
	require.Contains(t, r.body, "Wählen Sie bei „Gruppe“ eine Antwort aus.")
	require.Contains(t, r.body, `aria-describedby="field.team-wrong" required data-missing="Wählen Sie bei „Gruppe“ eine Antwort aus." aria-invalid="true" autofocus`)
	require.Contains(t, r.body, `value="Acme"`)
	require.Contains(t, r.body, `name="hidden.plan" value="pro"`)

	f.post(t, "/l/"+slug, "email", "jo@example.com", "name", "Jo", "field.team", "<b>", "hidden.plan", "pro",
		"hidden.team", "x", "field.else", "x").location(t)
	answers := func(email string) string {
		return one[string](t, f, `SELECT answers::text FROM submissions WHERE email_key = $1`, email)
	}
	require.JSONEq(t, `{"team":"<b>","plan":"pro"}`, answers("jo@example.com"))
	// Anyone can type anyone's address: what is there stays.
	f.post(t, "/l/"+slug, "email", "jo@example.com", "name", "Jo", "field.team", "1–10",
		"field.company", "Acme").location(t)
	require.JSONEq(t, `{"team":"<b>","plan":"pro","company":"Acme"}`, answers("jo@example.com"))

	// Who asks for privacy is not asked where they came from.
	require.NotContains(t, f.get(t, "/l/"+slug+"?plan=pro", "Sec-GPC", "1").body, `name="hidden.plan"`)
	f.do(t, "POST", "/l/"+slug, values("email", "al@example.com", "name", "Al", "field.team", "1–10",
		"hidden.plan", "pro"), "Sec-Fetch-Site", "same-origin", "Sec-GPC", "1").location(t)
	require.JSONEq(t, `{"team":"1–10"}`, answers("al@example.com"))
	require.Equal(t, 1, strings.Count(page, "<select"))
}
