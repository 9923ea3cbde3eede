package landing_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

func TestPageShowsTheOffer(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	r := f.get(t, "/l/"+slug)
	require.Equal(t, http.StatusOK, r.status)
	for _, want := range []string{
		"<title>The Complete Guide</title>", "<h1>The Complete Guide</h1>", "What we learnt in ten years.",
		"<li>PDF</li><li>12 pages</li><li>2.4 MB</li>",
		`<link rel="canonical" href="https://links.example.com/l/` + slug + `">`,
		`<meta property="og:title" content="The Complete Guide">`,
		`<meta property="og:url" content="https://links.example.com/l/` + slug + `">`,
		`<meta name="twitter:card" content="summary">`,
		`<meta property="og:site_name" content="Acme Ltd">`, "Read the document", "Acme Ltd gets your email address",
		`action="/l/` + slug + `"`, `type="email"`,
	} {
		require.Contains(t, r.body, want)
	}
	require.NotContains(t, r.body, `name="name"`)
	require.NotContains(t, r.body, `name="consent"`)
	require.NotContains(t, r.body, "noindex")
	require.Empty(t, r.header.Get("X-Robots-Tag"))
	require.Equal(t, "private, no-cache", r.header.Get("Cache-Control"))

	// What the link says itself counts for more.
	f.exec(t, `UPDATE generic_links SET title = 'Ours', description = E'First part.\n\nSecond\npart.', collect_name = true, button_text = 'Get the checklist',
		consent_text = 'I agree to get mails.', privacy_url = 'https://acme.example/privacy', thumbnail_url = 'https://cdn.example.net/x.png' WHERE slug = $1`, slug)
	f.exec(t, `UPDATE accounts SET brand_color = '#ffcc00'`)
	r = f.get(t, "/l/"+slug)
	for _, want := range []string{
		"<h1>Ours</h1>", "<p>First part.</p><p>Second\npart.</p>", `name="name"`, "Get the checklist",
		"I agree to get mails.", `href="https://acme.example/privacy"`,
		`src="https://cdn.example.net/x.png"`, `content="https://cdn.example.net/x.png"`, "summary_large_image", "--accent:#",
	} {
		require.Contains(t, r.body, want)
	}
	require.Contains(t, r.header.Get("Content-Security-Policy"),
		"img-src 'self' data: https://cdn.example.net https://events.example.com")
	require.Contains(t, r.body, "@media (prefers-color-scheme:dark){:root{--accent:#ffcc00")
	require.Equal(t, 1, strings.Count(r.body, "#ffcc00"), "yellow does not read on white: there it is moved")
}

// The page tells the collector of a view with a token of the link, by script or by image.
func TestViewIsCounted(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	r := f.get(t, "/l/"+slug)
	pixel := regexp.MustCompile(
		`<noscript><img class="pixel" src="https://events\.example\.com/v1/pixel\.gif\?t=([\w-]+)"`).FindStringSubmatch(
		r.body)
	require.NotNil(t, pixel, r.body)
	claims, err := f.tokens.Verify([]byte(pixel[1]))
	require.NoError(t, err)
	require.Equal(t, token.Claims{
		AccountID: f.account, LeadMagnetID: claims.LeadMagnetID, GenericLinkID: claims.GenericLinkID, MagnetVersion: 1,
	}, claims)
	require.Equal(t, slug, one[string](t, f, `SELECT slug FROM generic_links WHERE id = $1`, claims.GenericLinkID))
	require.Contains(t, r.body, `navigator.sendBeacon("https://events.example.com/v1/link-views"`)
	require.Contains(t, r.body, `{token: "`+pixel[1]+`", referrer: "", url: "https://links.example.com/l/`+slug+`"}`)
	// Of addresses, no more is sent than a submission stores.
	from := f.get(t, "/l/"+slug+"?utm_source=news+letter&email=private@example.net&utm_medium=mail", "Referer",
		"https://search.example/find?q=private")
	require.Contains(t, from.body, `referrer: "https://search.example/find", url: "https://links.example.com/l/`+slug+
		`?utm_medium=mail\u0026utm_source=news+letter"}`)
	require.NotContains(t, from.body, "private")
	require.NotContains(t, from.body, "example.net")
	require.Contains(t, r.header.Get("Content-Security-Policy"), "connect-src https://events.example.com")
	// A form that is shown again with a message is the same visit.
	again := f.post(t, "/l/"+slug, "email", "x")
	require.Equal(t, http.StatusUnprocessableEntity, again.status)
	require.NotContains(t, again.body, "pixel.gif")
	require.NotContains(t, again.body, "link-views")
}

func TestWhereThereIsNoPage(t *testing.T) {
	t.Parallel()
	f := start(t)
	deleted, renamed, inactive, closed, empty := f.link(t), f.link(t), f.link(t, "active = false"), f.link(t), f.link(t)
	over, open := f.link(t, "expires_at = '2026-05-04 09:30Z'"), f.link(t, "expires_at = '2026-05-04 09:30:00.001Z'")
	f.exec(t, `DELETE FROM generic_links WHERE slug = $1`, deleted)
	f.exec(t, `UPDATE generic_links SET slug = slug || '-new' WHERE slug = $1`, renamed)
	f.exec(t, `UPDATE lead_magnets SET is_active = false WHERE id = (SELECT lead_magnet_id FROM generic_links WHERE slug = $1)`, closed)
	f.exec(t, `UPDATE lead_magnets SET file_version = 0 WHERE id = (SELECT lead_magnet_id FROM generic_links WHERE slug = $1)`, empty)
	for path, want := range map[string]struct {
		status int
		words  string
	}{
		"/l/nothing-here":                    {404, "Page not found"},
		"/l/" + strings.Repeat("a", 65):      {404, "Page not found"},
		"/l/x%00y":                           {404, "Page not found"},
		"/l/x%2Fy":                           {404, "Page not found"},
		"/l/a/b/c":                           {404, "Page not found"},
		"/l/" + deleted:                      {410, "This page is gone"},
		"/l/" + renamed:                      {410, "This page is gone"},
		"/l/" + renamed + "-new":             {200, "The Complete Guide"},
		"/l/" + inactive:                     {410, "This offer is closed"},
		"/l/" + closed:                       {410, "This offer is closed"},
		"/l/" + over:                         {410, "This offer has ended"},
		"/l/" + open:                         {200, "The Complete Guide"},
		"/l/" + empty:                        {404, "The document isn’t here yet"},
		"/verify/nothing":                    {404, "Page not found"},
		"/verify/sent/nothing":               {404, "Page not found"},
		"/verify/" + strings.Repeat("a", 32): {404, "Page not found"},
		"/verify/sent/" + strings.Repeat("a", 26): {404, "Page not found"},
	} {
		r := f.get(t, path)
		require.Equal(t, want.status, r.status, path)
		require.Contains(t, r.body, want.words, path)
		if r.status != 200 {
			require.Contains(t, r.body, "noindex")
			if path == "/l/a/b/c" {
				continue // nothing takes forms there
			}
			require.Equal(t, want.status, f.post(t, path, "email", "jo@example.com").status, path)
		}
	}
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	// Who knows the account sees whose offer it was.
	require.Contains(t, f.get(t, "/l/"+inactive).body, "Acme Ltd")

	// A slug that is taken again leads there.
	f.exec(t, `UPDATE generic_links SET slug = $1 WHERE slug = $2`, deleted, inactive)
	f.exec(t, `UPDATE generic_links SET active = true WHERE slug = $1`, deleted)
	require.Equal(t, 200, f.get(t, "/l/"+deleted).status)
}

func TestCarelessAddressesLeadToThePage(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	for path, want := range map[string]string{
		"/l/" + strings.ToUpper(slug) + "?utm_source=x": "/l/" + slug + "?utm_source=x",
		"/l/" + slug + "/": "/l/" + slug,
	} {
		r := f.get(t, path)
		require.Equal(t, http.StatusMovedPermanently, r.status, path)
		require.Equal(t, want, r.header.Get("Location"))
	}
}

// Nothing that anybody entered, owner or visitor, becomes part of the page's code.
func TestNothingIsScript(t *testing.T) {
	t.Parallel()
	f := start(t)
	const evil = `</script></style>"'><img src=x onerror=alert(1)><script>alert(2)</script>{{.Nonce}}`
	quoted := strings.ReplaceAll(evil, "'", "''")
	slug := f.link(t, "title = '"+quoted+"'", "description = '"+quoted+"'", "collect_name = true",
		"consent_text = '"+quoted+"'", "button_text = '"+quoted+"'",
		"privacy_url = 'javascript:alert(3)'", "redirect_url = 'javascript:alert(4)'",
		"thumbnail_url = 'https://x;script-src *;/a.png'")
	f.exec(t, `UPDATE accounts SET name = $1`, evil)
	pages := []reply{
		f.get(t, "/l/"+slug+"?utm_source="+`%3C/script%3E%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E`, "Referer",
			`https://x.example/"><img src=x>`),
		f.post(t, "/l/"+slug, "email", evil, "name", evil, "ref", evil, "utm_source", evil,
			"consent_seen", evil, "consent", evil),
	}
	f.exec(t, `UPDATE generic_links SET active = false WHERE slug = $1`, slug)
	pages = append(pages, f.get(t, "/l/"+slug))
	for _, r := range pages {
		require.NotContains(t, r.body, "<img src=x")
		require.NotContains(t, r.body, "<script>alert")
		require.NotContains(t, r.body, `"javascript:`)
		require.LessOrEqual(t, strings.Count(r.body, "<script"), 1)
		policy := r.header.Get("Content-Security-Policy")
		require.Equal(t, 1, strings.Count(policy, "script-src"), policy)
		require.NotContains(t, policy, "*")
	}
	// html/template has taken the owner's javascript: address out.
	require.Contains(t, pages[0].body, "#ZgotmplZ")
}

// What the page weighs before its picture: as much as a browser loads of it.
func TestWeight(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "collect_name = true", "consent_text = repeat('I agree. ', 100)",
		"description = repeat('Many words about the document. ', 160)")
	plain := f.get(t, "/l/"+slug, "Accept-Encoding", "identity")
	require.Equal(t, http.StatusOK, plain.status)
	require.Less(t, len(plain.body), 30_000, "uncompressed")
	packed := f.get(t, "/l/"+slug, "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.header.Get("Content-Encoding"))
	require.Less(t, len(packed.body), 8_000, "as it travels")
	t.Logf("%d bytes, %d compressed", len(plain.body), len(packed.body))
	// Everything is in the page: nothing else is loaded from us.
	require.NotRegexp(t, `<(link rel="stylesheet"|script src|iframe|object|embed)`, plain.body)
}

// A preview of a form with a verification goes on as for a visitor, without a mail: to the code,
// and to the end. It stays a preview.
func TestPreviewOfAVerification(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true", "collect_name = true")
	id := one[string](t, f, `SELECT id::text FROM generic_links WHERE slug = $1`, slug)
	r := f.do(t, "POST", "/api/v1/generic-links/"+id+"/preview", nil, "Authorization", "Bearer "+f.key)
	var preview struct{ URL string }
	require.NoError(t, json.Unmarshal([]byte(r.body), &preview, json.MatchCaseInsensitiveNames(true)))
	path := strings.TrimPrefix(preview.URL, site)
	step := func(status int, says string, fields ...string) {
		t.Helper()
		r := f.post(t, path, fields...)
		require.Equal(t, status, r.status, r.body)
		require.Contains(t, r.body, "This is a preview.")
		require.Contains(t, r.body, says)
		for _, to := range regexp.MustCompile(`(?:href|action)="(/[^"]*)"`).FindAllStringSubmatch(r.body, -1) {
			require.True(t, strings.Contains(to[1], "preview=") || strings.HasPrefix(to[1], "/assets/"),
				"%s leads to the real form", to[1])
		}
	}
	step(http.StatusUnprocessableEntity, `id="name-wrong"`, "email", "jo@example.com")
	step(http.StatusOK, `name="code"`, "email", "jo@example.com", "name", "Jo")
	step(http.StatusUnprocessableEntity, `name="code"`, "email", "jo@example.com", "code", "12")
	step(http.StatusOK, "<h1>", "email", "jo@example.com", "code", "123456")
	for _, table := range []string{"submissions", "verifications", "access_links", "rate_limits"} {
		require.Zero(t, one[int](t, f, `SELECT count(*) FROM `+table), table)
	}
	require.Empty(t, f.mails(t))
}

// An owner sees the page as it will be, and nothing of it counts.
func TestPreview(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug, other := f.link(t, "active = false"), f.link(t, "active = false")
	id := one[string](t, f, `SELECT id::text FROM generic_links WHERE slug = $1`, slug)
	r := f.do(t, "POST", "/api/v1/generic-links/"+id+"/preview", nil, "Authorization", "Bearer "+f.key)
	require.Equal(t, http.StatusOK, r.status, r.body)
	var preview struct {
		URL       string    `json:"url"`
		ExpiresAt time.Time `json:"expires_at"`
	}
	require.NoError(t, json.Unmarshal([]byte(r.body), &preview))
	require.Equal(t, f.now().Add(time.Hour), preview.ExpiresAt)
	path, found := strings.CutPrefix(preview.URL, site)
	require.True(t, found)

	r = f.get(t, path)
	require.Equal(t, http.StatusOK, r.status)
	require.Contains(t, r.body, "This is a preview.")
	require.Contains(t, r.body, "noindex")
	require.Equal(t, "no-store", r.header.Get("Cache-Control"))
	for _, counter := range []string{"link-views", "pixel.gif", collector} {
		require.NotContains(t, r.body, counter)
	}
	action := regexp.MustCompile(`action="([^"]+)"`).FindStringSubmatch(r.body)[1]
	require.Contains(t, action, "preview=")

	// What its owner types is shown, within a page of this site, and nowhere else.
	typed := "&title=%3Cb%3ETyped&collect_name=true&description=&privacy_url=javascript%3Aalert(1)&language=de"
	r = f.get(t, path+typed)
	require.Contains(t, r.body, "&lt;b&gt;Typed</h1>")
	require.Contains(t, r.body, `name="name"`)
	require.Contains(t, r.body, `lang="de"`)
	require.NotContains(t, r.body, "javascript:alert")
	require.Contains(t, r.header.Get("Content-Security-Policy"), "frame-ancestors 'self'")
	r = f.get(t, path)
	require.NotContains(t, r.body, "Typed")
	open := f.link(t)
	r = f.get(t, "/l/"+open+"?"+typed)
	require.NotContains(t, r.body, "Typed")
	require.Contains(t, r.header.Get("Content-Security-Policy"), "frame-ancestors 'none'")

	r = f.post(t, action, "email", "jo@example.com")
	require.Equal(t, http.StatusOK, r.status)
	require.Contains(t, r.body, "This is a preview.")
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Empty(t, f.mails(t))

	// It is of this link and of this hour.
	_, query, _ := strings.Cut(path, "?")
	require.Equal(t, http.StatusGone, f.get(t, "/l/"+other+"?"+query).status)
	require.Equal(t, http.StatusGone, f.get(t, path+"x").status)
	f.pass(time.Hour)
	require.Equal(t, http.StatusGone, f.get(t, path).status)
	require.Equal(t, http.StatusNotFound,
		f.do(t, "POST", "/api/v1/generic-links/01900000-0000-7000-8000-000000000000/preview", nil,
			"Authorization", "Bearer "+f.key).status)
	require.Equal(t, http.StatusUnauthorized, f.do(t, "POST", "/api/v1/generic-links/"+id+"/preview", nil).status)
}
