package crud_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/token"
)

// ask sends what the script on a page of an origin sends.
func (f *fixture) ask(t *testing.T, method, slug, origin string, form url.Values,
	header ...string) (*http.Response, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+"/embed/"+slug, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")
	req.Header.Set("Sec-Fetch-Site", "cross-site")
	if origin != "" {
		req.Header.Set("Origin", origin)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := f.http.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Empty(t, res.Header.Get("Set-Cookie"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Contains(t, res.Header.Values("Vary"), "Origin")
	var out map[string]any
	require.NoError(t, json.Unmarshal(text, &out), "%s", text)
	return res, out
}

func TestEmbeddedForm(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.CollectorURL = "https://events.example.com" })
	u := f.user(t, account.Team)
	m := u.file(t)
	link := u.post(t, linksPath,
		`{"lead_magnet_id":"`+m+
			`","slug":"embedded","collect_name":true,"consent_text":"I agree.","allowed_origins":["https://WWW.example.com:443","https://www.example.com/","http://localhost:3000"]}`).object(t)
	require.Equal(t, []any{"https://www.example.com", "http://localhost:3000"},
		link["allowed_origins"], "as browsers write them")
	state := linksPath + "/" + link["id"].(string) + "/embed"
	got := u.get(t, state).object(t)
	require.Equal(t, `<script src="`+site+`/embed.js" data-link="embedded" async></script><noscript><a href="`+site+
		`/l/embedded">Get the document</a></noscript>`, got["script"])
	require.Equal(t, "script-src "+site+"; connect-src "+site+" https://events.example.com",
		got["content_security_policy"])
	require.Nil(t, got["last_seen_at"])

	const origin = "https://www.example.com"
	res, form := f.ask(t, "GET", "embedded", origin, nil)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, origin, res.Header.Get("Access-Control-Allow-Origin"))
	require.Empty(t, res.Header.Get("Access-Control-Allow-Credentials"))
	require.Equal(t, "https://events.example.com/v1/link-views", form["views"])
	claims, err := f.tokens.Verify([]byte(form["tracking_token"].(string)))
	require.NoError(t, err)
	require.Equal(t, token.Claims{AccountID: u.account, LeadMagnetID: uuid.MustParse(m),
		GenericLinkID: uuid.MustParse(link["id"].(string)), MagnetVersion: 1}, claims)
	got = u.get(t, state).object(t)
	require.NotNil(t, got["last_seen_at"])
	require.Equal(t, origin, got["last_seen_origin"])

	// What is wrong is named by field; then the form leads to the document.
	values := url.Values{"token": {form["token"].(string)}, "email": {"ada"},
		"consent_seen": {form["consent_version"].(string)}, "utm_source": {"blog"}, "ref": {"https://search.example/a?q=x"}}
	res, out := f.ask(t, "POST", "embedded", origin, values)
	require.Equal(t, 422, res.StatusCode)
	require.Equal(t, origin, res.Header.Get("Access-Control-Allow-Origin"), "the page must be able to read it")
	require.Equal(t, map[string]any{"email": "Enter an email address like jo@example.com.", "name": "Enter your name.",
		"consent": "Tick the box to continue."}, out["errors"])
	values.Set("email", "ada@example.com")
	values.Set("name", "Ada")
	values.Set("consent", "yes")
	res, out = f.ask(t, "POST", "embedded", origin, values)
	require.Equal(t, 200, res.StatusCode, out)
	require.Equal(t, "ready", out["state"])
	require.Regexp(t, "^"+site+"/a/", out["url"])
	values.Set("email", "bob@example.com")
	res, _ = f.ask(t, "POST", "embedded", origin, values, "Sec-GPC", "1")
	require.Equal(t, 200, res.StatusCode)
	submissions := u.get(t, linksPath+"/"+link["id"].(string)+"/submissions").object(t)["data"].([]any)
	require.Len(t, submissions, 2)
	require.Empty(t, submissions[0].(map[string]any)["utm"], "who asks for privacy is not traced")
	require.Nil(t, submissions[0].(map[string]any)["referrer"])
	require.Equal(t, map[string]any{"utm_source": "blog"}, submissions[1].(map[string]any)["utm"])

	// A form needs the token of a visit: of this link, and of this origin.
	for _, wrong := range []string{"", "x", form["tracking_token"].(string)} {
		values.Set("token", wrong)
		res, _ = f.ask(t, "POST", "embedded", origin, values)
		require.Equal(t, 409, res.StatusCode)
	}
	values.Set("token", form["token"].(string))
	res, _ = f.ask(t, "POST", "embedded", "http://localhost:3000", values)
	require.Equal(t, 409, res.StatusCode)
	require.Len(t, u.get(t, linksPath+"/"+link["id"].(string)+"/submissions").object(t)["data"], 2)

	// Other origins read nothing and send nothing; the owner learns which one asked.
	for _, other := range []string{"https://evil.example", "http://www.example.com", "https://example.com", "null", ""} {
		for _, method := range []string{"GET", "POST"} {
			res, out = f.ask(t, method, "embedded", other, values)
			require.Equal(t, 403, res.StatusCode)
			require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
			require.NotContains(t, out, "token")
		}
	}
	require.Equal(t, "https://evil.example", u.get(t, state).object(t)["last_refused_origin"])
	require.Equal(t, origin, u.get(t, state).object(t)["last_seen_origin"])

	// A link that is closed says so, and one that is not there is not known.
	require.Equal(t, 200, u.send(t, "PATCH", linksPath+"/"+link["id"].(string), strings.NewReader(`{"active":false}`),
		"Content-Type", "application/json").status)
	res, out = f.ask(t, "GET", "embedded", origin, nil)
	require.Equal(t, 410, res.StatusCode)
	require.Equal(t, origin, res.Header.Get("Access-Control-Allow-Origin"))
	require.Equal(t, "This offer is closed", out["message"])
	res, _ = f.ask(t, "GET", "unknown", origin, nil)
	require.Equal(t, 404, res.StatusCode)

	require.Equal(t, 404, f.user(t, account.Free).get(t, state).status)
	require.Equal(t, 403, f.userOf(t, u.account, auth.Write).get(t, state).status)
}

func TestEmbeddedFormLeadsOn(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.file(t)
	const origin = "https://www.example.com"
	for slug, want := range map[string]string{
		`"slug":"checked","require_verification":true`:            "^" + site + "/verify/sent/",
		`"slug":"away","redirect_url":"https://example.com/done"`: "^https://example.com/done$",
	} {
		link := u.post(t, linksPath, `{"lead_magnet_id":"`+m+`","allowed_origins":["`+origin+`"],`+slug+`}`).object(t)
		_, form := f.ask(t, "GET", link["slug"].(string), origin, nil)
		res, out := f.ask(t, "POST", link["slug"].(string), origin, url.Values{"token": {form["token"].(string)},
			"email": {"ada@example.com"}})
		require.Equal(t, 200, res.StatusCode, out)
		require.Regexp(t, want, out["url"])
	}
}

func TestAllowedOrigins(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	for _, wrong := range []string{"example.com", "https://example.com/page", "ftp://example.com", "https://*.example.com",
		"*", "null", "", "https://u:p@example.com", "https://example.com?x"} {
		p := u.post(t, linksPath,
			`{"lead_magnet_id":"`+m.ID+`","allowed_origins":["https://example.com","`+wrong+`"]}`).problem(t)
		require.Equal(t, 422, p.Status, wrong)
		require.Equal(t, "allowed_origins[1]", p.Errors[0].Field)
	}
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","allowed_origins":["https://exämple.com"]}`).object(t)
	require.Equal(t, []any{"https://xn--exmple-cua.com"}, link["allowed_origins"])
	one := linksPath + "/" + link["id"].(string)
	change := func(body string) any {
		return u.send(t, "PATCH", one, strings.NewReader(body), "Content-Type",
			"application/json").object(t)["allowed_origins"]
	}
	require.Equal(t, link["allowed_origins"], change(`{"title":"x"}`))
	require.Equal(t, link["allowed_origins"], change(`{}`))
	require.Equal(t, []any{"https://example.org"}, change(`{"allowed_origins":["https://example.org"]}`))
	require.Equal(t, []any{}, change(`{"allowed_origins":[]}`))
}

// The form, its mistakes and its mails are in the language of the link, else of the account, else
// of the browser.
func TestEmbeddedFormSpeaksTheLanguageOfItsVisitor(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	const origin = "https://www.example.com"
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+u.file(t)+
		`","slug":"spoken","collect_name":true,"allowed_origins":["`+origin+`"]}`).object(t)
	one := linksPath + "/" + link["id"].(string)
	for accept, want := range map[string][3]string{
		"":               {"en", "Get the document", "Email address"},
		"de-AT,de;q=0.9": {"de", "Dokument erhalten", "E-Mail-Adresse"},
		"tlh,pl;q=0.5":   {"pl", "Otrzymaj dokument", "Adres e-mail"}, //nolint:misspell // Polish
		"ja":             {"en", "Get the document", "Email address"},
	} {
		res, form := f.ask(t, "GET", "spoken", origin, nil, "Accept-Language", accept)
		words := form["words"].(map[string]any)
		require.Equal(t, want, [3]string{form["language"].(string), form["button"].(string), words["landing.email"].(string)},
			accept)
		require.Subset(t, res.Header.Values("Vary"), []string{"Origin", "Accept-Language"})
		for key, text := range words {
			require.NotEqual(t, key, text, "a text that the catalogue lacks")
		}
	}
	_, form := f.ask(t, "GET", "spoken", origin, nil)
	values := url.Values{"token": {form["token"].(string)}, "email": {"ada"}}
	_, out := f.ask(t, "POST", "spoken", origin, values, "Accept-Language", "de")
	require.Equal(t, map[string]any{"email": "Geben Sie eine E-Mail-Adresse wie jo@example.com ein.",
		"name": "Geben Sie Ihren Namen ein."}, out["errors"])
	values.Set("token", "old")
	_, out = f.ask(t, "POST", "spoken", origin, values, "Accept-Language", "fr")
	require.Equal(t, "La page est restée ouverte trop longtemps. Envoyez de nouveau le formulaire.", out["message"])

	// The language of the account counts for more than the browser's, and that of the link for more
	// than both.
	change := func(path, body string) {
		require.Equal(t, 200, u.send(t, "PATCH", path, strings.NewReader(body), "Content-Type", "application/json").status)
	}
	change("/api/v1/account", `{"language":"nl"}`)
	res, form := f.ask(t, "GET", "spoken", origin, nil, "Accept-Language", "de")
	require.Equal(t, "nl", form["language"])
	require.NotContains(t, res.Header.Values("Vary"), "Accept-Language", "no other language can be the answer")
	require.Contains(t, u.get(t, one+"/embed").object(t)["script"], ">Het document ontvangen</a>")
	change(one, `{"language":"es"}`)
	_, form = f.ask(t, "GET", "spoken", origin, nil, "Accept-Language", "de")
	require.Equal(t, "es", form["language"])
	require.Contains(t, u.get(t, one+"/embed").object(t)["script"], ">Obtener el documento</a>")
	change(one, `{"active":false}`)
	_, out = f.ask(t, "GET", "spoken", origin, nil, "Accept-Language", "de")
	require.Equal(t, "Esta oferta está cerrada", out["message"])
}

// Who lets a form onto a site, or shares statistics, stands in the audit log.
func TestOriginsAndSharesAreRecorded(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.file(t)
	link := u.post(t, linksPath,
		`{"lead_magnet_id":"`+m+`","allowed_origins":["https://www.example.com"]}`).object(t)["id"].(string)
	for _, origins := range []string{`["https://www.example.com","https://example.org"]`, `[]`} {
		r := u.send(t, "PATCH", linksPath+"/"+link, strings.NewReader(`{"allowed_origins":`+origins+`}`),
			"Content-Type", "application/json")
		require.Equal(t, 200, r.status, r.body)
	}
	share := u.post(t, "/api/v1/lead-magnets/"+m+"/shares", `{"password":"correct horse"}`).object(t)["id"].(string)
	require.Equal(t, 204, u.send(t, "DELETE", "/api/v1/lead-magnets/"+m+"/shares/"+share, nil).status)
	type act struct{ action, object string }
	var acts []act
	for _, e := range f.audited(t, u.account) {
		require.Equal(t, u.keyID, *e.key)
		if id := e.object.String(); id == link || id == share {
			acts = append(acts, act{e.action, id})
		}
	}
	require.Equal(t, []act{
		{"create-generic-link", link}, {"update-generic-link", link}, {"update-generic-link", link},
		{"create-share", share}, {"revoke-share", share},
	}, acts)
}
