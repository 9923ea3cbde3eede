package main

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Links that show statistics, addresses for campaigns, and the form on other sites are handled in
// the dashboard.
func TestDashboardShares(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	magnet := u.newGuide("The Guide " + evil)
	_, link := v.api("POST", "/api/v1/generic-links", object{"lead_magnet_id": magnet.ID, "slug": "winter"})
	v.shares(magnet.ID)
	v.pagePictures(magnet.ID)
	v.campaigns("/dashboard/links/" + link["id"].(string))
	v.ownSite("/dashboard/links/"+link["id"].(string), link["id"].(string))
}

// shares makes a link that shows statistics, and revokes it.
func (v *owner) shares(magnet string) {
	t := v.t
	t.Helper()
	path, api := "/dashboard/magnets/"+magnet+"/shares", "/api/v1/lead-magnets/"+magnet+"/shares"
	s := v.open(path)
	s.has("No shared links yet.")
	s = v.send(s, path, url.Values{"name": {evil}, "password": {"short"}, "expires_at": {"2020-01-01"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotEmpty(t, s.wrong())
	s.has("&lt;img src=x")
	day := time.Now().AddDate(0, 0, 40).UTC()
	s = v.send(s, path, url.Values{"name": {evil}, "password": {"long enough"}, "expires_at": {day.Format(time.DateOnly)}})
	require.Equal(t, http.StatusCreated, s.status, s.text)
	address := textOf(s.byID("made"))
	require.True(t, strings.HasPrefix(address, v.site+"/s/"), address)
	status, page := get(t, address, "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, `name="password"`)
	_, list := v.api("GET", api, nil)
	made := list["data"].([]any)[0].(object)
	require.Equal(t, object{"name": evil, "has_password": true}, pick(made, "name", "has_password"))
	until, err := time.Parse(time.RFC3339, made["expires_at"].(string))
	require.NoError(t, err)
	require.Equal(t, day.AddDate(0, 0, 1).Format(time.DateOnly), until.UTC().Format(time.DateOnly), "the end of the day")

	s = v.open(path)
	s.harmless()
	s.lacks(address, "it is shown once")
	reads := v.signInWithKey("read")
	require.Empty(t, reads.open(path).find("button", "danger"))
	require.Nil(t, reads.open(path).byID("password"), "no form for a role that reads")
	require.Equal(t, http.StatusForbidden, reads.forge(path, url.Values{"name": {"x"}}).status)
	v.send(s, path+"/"+made["id"].(string)+"/delete", nil)
	status, _ = get(t, address, "")
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, http.StatusNotFound, v.open("/dashboard/magnets/nothing/shares").status)
}

// pagePictures reads the picture of a page, as the curve shows it.
func (v *owner) pagePictures(magnet string) {
	t := v.t
	t.Helper()
	path := "/dashboard/magnets/" + magnet + "/pages/"
	for page, want := range map[string]int{"1?version=1": http.StatusOK, "2": http.StatusOK, "99": http.StatusNotFound,
		"1?version=7": http.StatusNotFound} {
		res, err := v.http.Get(v.site + path + page)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, want, res.StatusCode, page)
		if want == http.StatusOK {
			require.Contains(t, res.Header.Get("Content-Type"), "image/")
			require.Contains(t, res.Header.Get("Cache-Control"), "private")
		}
	}
	res, err := http.Get(v.site + path + "1")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "/dashboard/sign-in", res.Request.URL.Path, "not without a session")
}

// campaigns makes an address with parameters, and keeps them.
func (v *owner) campaigns(path string) {
	t := v.t
	t.Helper()
	path += "/campaigns"
	s := v.open(path)
	s.has("No templates yet.")
	s = v.open(path + "?" + url.Values{"utm_source": {"news & views"}, "utm_term": {evil}}.Encode())
	s.harmless()
	want := v.site + "/l/winter?utm_source=news+%26+views&utm_term=" + url.QueryEscape(evil)
	require.Equal(t, want, textOf(s.byID("address")))
	for _, n := range s.find("img", "") {
		res, err := v.http.Get(v.site + attr(n, "src"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode, "the code of the address")
	}
	s = v.send(s, path, nil)
	require.Equal(t, http.StatusUnprocessableEntity, s.status, "a name is missing")
	require.Equal(t, want, textOf(s.byID("address")), "nothing is lost")
	s = v.send(s, path, url.Values{"name": {evil}})
	require.Equal(t, http.StatusOK, s.status)
	_, list := v.api("GET", "/api/v1/utm-templates", nil)
	saved := list["data"].([]any)[0].(object)
	require.Equal(t, object{"name": evil, "source": "news & views", "term": evil, "medium": nil},
		pick(saved, "name", "source", "term", "medium"))
	id := saved["id"].(string)
	require.Equal(t, want, textOf(v.open(path).byID("t"+id)))
	require.Equal(t, "news & views",
		attr(v.open(v.open(path).linkTo("/campaigns?", "utm_source=news")).byID("utm_source"), "value"))
	v.send(v.open(path+"?template="+id+"&utm_source=letter&utm_medium=post"), path+"/"+id, nil)
	_, saved = v.api("GET", "/api/v1/utm-templates/"+id, nil)
	require.Equal(t, object{"name": evil, "source": "letter", "term": nil, "medium": "post"},
		pick(saved, "name", "source", "term", "medium"))
	reads := v.signInWithKey("read")
	require.Nil(t, reads.open(path+"?utm_source=x").byID("name"))
	v.send(v.open(path), path+"/"+id+"/delete", nil)
	v.open(path).has("No templates yet.")
	require.Equal(t, http.StatusNotFound, v.open("/dashboard/links/nothing/campaigns").status)
}

// ownSite shows whether the tag works, while a page asks for the form, is refused, and is allowed.
func (v *owner) ownSite(path, id string) {
	t := v.t
	t.Helper()
	works := func() (tone, text string) {
		n := v.open(path + "/site").byID("works")
		return strings.TrimSpace(strings.TrimPrefix(attr(n, "class"), "light")), textOf(n)
	}
	tone, text := works()
	require.Empty(t, tone)
	require.Contains(t, text, "No site may show the form yet.")
	v.open(path).has("Put the form on your site")
	s := v.open(path + "/site")
	require.Contains(t, textOf(s.byID("snippet")), `data-link="winter"`)

	s = v.send(s, path+"/site", url.Values{"allowed_origins": {"https://example.com/with/a/path"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, s.wrong(), 1)
	s.has("with/a/path")
	v.send(s, path+"/site", url.Values{"allowed_origins": {"https://example.com\r\nhttps://www.example.com\r\n"}})
	_, l := v.api("GET", "/api/v1/generic-links/"+id, nil)
	require.Equal(t, []any{"https://example.com", "https://www.example.com"}, l["allowed_origins"])
	tone, text = works()
	require.Empty(t, tone)
	require.Contains(t, text, "No page has shown the form yet.")

	ask := func(origin string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.site+"/embed/winter", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
	ask("https://other.example")
	tone, text = works()
	require.Equal(t, "bad", tone)
	require.Contains(t, text, "https://other.example")
	v.open(path).has("A site isn’t allowed to show the form")
	v.send(v.open(path+"/site"), path+"/site", nil)
	_, l = v.api("GET", "/api/v1/generic-links/"+id, nil)
	require.Equal(t, []any{"https://example.com", "https://www.example.com", "https://other.example"},
		l["allowed_origins"], "one press allows it")
	ask("https://other.example")
	tone, text = works()
	require.Equal(t, "good", tone)
	require.Contains(t, text, "It works: https://other.example")
	v.open(path).has("The form works on https://other.example")
	reads := v.signInWithKey("read")
	require.Nil(t, reads.open(path+"/site").byID("allowed_origins"))
}
