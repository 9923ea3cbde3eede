package signin_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/signin"
	"lodestone/pkg/auth"
)

// A page without a session leads to the sign-in page and from there back.
func TestSignInByCode(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	r := b.get(t, "/dashboard/settings?tab=keys")
	require.Equal(t, 303, r.status)
	require.Equal(t, "/dashboard/sign-in?next=%2Fdashboard%2Fsettings%3Ftab%3Dkeys", r.header.Get("Location"))

	waiting := b.ask(t, " Owner@Example.com ", "/dashboard/settings?tab=keys")
	page := b.get(t, waiting)
	require.Contains(t, page.body, "Owner@Example.com")
	code := f.mails.last(t, "owner@example.com").Code
	wrong := strings.Map(func(r rune) rune { return '0' + (r-'0'+1)%10 }, code)
	r = b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, page)}, "code": {wrong}})
	require.Equal(t, 422, r.status)
	require.Contains(t, r.body, "isn’t the code")
	r = b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, page)}, "code": {code[:3] + " " + code[3:]}})
	require.Equal(t, 303, r.status, r.body)
	require.Equal(t, "/dashboard/settings?tab=keys", r.header.Get("Location"))
	r = b.get(t, "/dashboard/settings")
	require.Equal(t, 200, r.status)
	require.Contains(t, r.body, `"name":"Acme Ltd"`)

	// The code works once, and the page that waited says so.
	r = b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, page)}, "code": {code}})
	require.Equal(t, 422, r.status)
	require.Contains(t, r.body, "You’ve signed in")
	require.Equal(t, 303, b.get(t, "/dashboard/sign-in?next=/dashboard/live").status,
		"a browser with a session is not asked")
}

// The page says so when the SMTP server cannot be given the address that is typed, and no mail is
// waited for.
func TestAddressesThatNoMailReaches(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.mails.unknown = "jörg@example.com"
	b := f.browser()
	r := b.send(t, "POST", "/dashboard/sign-in", url.Values{"csrf": {csrf(t, b.get(t, "/dashboard/sign-in"))},
		"email": {f.mails.unknown}})
	require.Equal(t, 422, r.status)
	require.Contains(t, r.body, "can’t send to this address")
	require.Contains(t, r.body, `aria-invalid="true"`)
	require.Empty(t, f.mails.mails)
}

func TestACodeIsGuessedFiveTimesAtMost(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	waiting := b.ask(t, "owner@example.com", "")
	token := csrf(t, b.get(t, waiting))
	m := f.mails.last(t, "owner@example.com")
	wrong := strings.Map(func(r rune) rune { return '0' + (r-'0'+1)%10 }, m.Code)
	for range 5 {
		require.Equal(t, 422, b.send(t, "POST", waiting, url.Values{"csrf": {token}, "code": {wrong}}).status)
	}
	r := b.send(t, "POST", waiting, url.Values{"csrf": {token}, "code": {m.Code}})
	require.Equal(t, 422, r.status)
	require.Contains(t, r.body, "five wrong codes")
	require.False(t, b.signedIn(t))
	// The link was not guessed.
	r = b.send(t, "POST", strings.TrimPrefix(m.URL, site), url.Values{"csrf": {token}})
	require.Equal(t, 303, r.status, r.body)
	require.True(t, b.signedIn(t))
}

// Programs follow the links of mails; only a press of the button in the browser that asked signs
// in, once.
func TestSignInByLink(t *testing.T) {
	t.Parallel()
	f := start(t)
	b, other := f.browser(), f.browser()
	b.ask(t, "owner@example.com", "/dashboard/live")
	link := strings.TrimPrefix(f.mails.last(t, "owner@example.com").URL, site)
	for range 3 {
		require.Equal(t, 200, other.get(t, link).status)
		require.Equal(t, 200, other.send(t, "HEAD", link, nil).status)
	}
	require.Contains(t, other.get(t, link).body, "another browser")
	other.get(t, "/dashboard/sign-in")
	r := other.send(t, "POST", link, url.Values{"csrf": {"x"}})
	require.Contains(t, r.body, "another browser")
	require.False(t, other.signedIn(t))

	page := b.get(t, link)
	require.Contains(t, page.body, "owner@example.com")
	require.False(t, b.signedIn(t))
	token := csrf(t, page)
	r = b.send(t, "POST", link, url.Values{"csrf": {token}})
	require.Equal(t, 303, r.status)
	require.Equal(t, "/dashboard/live", r.header.Get("Location"))
	require.True(t, b.signedIn(t))

	// A replay, by the same browser as well.
	b.cookies[cookieName] = ""
	require.Equal(t, 410, b.get(t, link).status)
	r = b.send(t, "POST", link, url.Values{"csrf": {token}})
	require.NotEqual(t, 303, r.status)
	require.Empty(t, b.cookies[cookieName])
}

func TestALinkIsOverAfterAWhile(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	waiting := b.ask(t, "owner@example.com", "")
	m := f.mails.last(t, "owner@example.com")
	link, token := strings.TrimPrefix(m.URL, site), csrf(t, b.get(t, waiting))
	f.exec(t, "UPDATE sign_ins SET expires_at = clock_timestamp() + interval '1 minute' - interval '15 minutes'")
	require.Equal(t, 410, b.get(t, link).status)
	require.NotEqual(t, 303, b.send(t, "POST", link, url.Values{"csrf": {token}}).status)
	require.Equal(t, 422, b.send(t, "POST", waiting, url.Values{"csrf": {token}, "code": {m.Code}}).status)
	require.Contains(t, b.get(t, waiting).body, "Sign-in timed out")
	require.False(t, b.signedIn(t))
}

// An address that is no one's is answered in the same way.
func TestUnknownAddressesGetTheSameAnswer(t *testing.T) {
	t.Parallel()
	f := start(t)
	var bodies []string
	for _, address := range []string{"owner@example.com", "no-one@example.com"} {
		b := f.browser()
		waiting := b.ask(t, address, "")
		page := b.get(t, waiting)
		body := strings.NewReplacer(address, "ADDRESS", csrf(t, page), "TOKEN", waiting, "WAITING").Replace(page.body)
		bodies = append(bodies, nonce.ReplaceAllString(body, ""))
		wrong := b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, page)}, "code": {"000000"}})
		require.Equal(t, 422, wrong.status)
	}
	require.Equal(t, bodies[0], bodies[1])
	require.Equal(t, 1, f.mails.sent("owner@example.com"))
	require.Zero(t, f.mails.sent("no-one@example.com"))
	require.Len(t, f.mails.mails, 2, "the time of a mail is taken for both")
	require.Empty(t, one[*string](t, f, "SELECT user_id::text FROM sign_ins WHERE email = 'no-one@example.com'"))
}

// A sign-in always begins a session with a secret of its own, and ends the one before.
func TestSessionsCannotBeFixed(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	planted := auth.NewSession().Secret
	b.cookies[cookieName] = planted
	b.signIn(t, "owner@example.com")
	first := b.cookies[cookieName]
	require.NotEqual(t, planted, first)
	f.exec(t, "DELETE FROM visitor_counts")
	b.cookies[cookieName] = "" // else there is nothing to sign in to
	b.signIn(t, "owner@example.com")
	require.NotEqual(t, first, b.cookies[cookieName])

	// Whoever had a session in this browser loses it when someone signs in.
	key, err := f.accounts.CreateKey(t.Context(), f.account, "visitor", auth.Read)
	require.NoError(t, err)
	before := f.browser()
	before.cookies[cookieName] = b.cookies[cookieName]
	page := f.browser()
	token := csrf(t, page.get(t, "/dashboard/sign-in"))
	page.cookies[cookieName] = b.cookies[cookieName]
	r := page.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {token}, "key": {key.Text}})
	require.Equal(t, 303, r.status, r.body)
	require.False(t, before.signedIn(t))
	require.True(t, page.signedIn(t))
}

func TestNextLeadsNowhereElse(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, next := range []string{
		"https://evil.example", "//evil.example", "/\\evil.example", "\\\\evil.example", "/dashboard/../l/x", "/dashboardx",
		"javascript:alert(1)", "/dashboard/\\..",
		"/%2f/evil.example", "/dashboard//evil.example", "/dashboard/sign-in/sent/x", "/dashboard/sign-out",
		"/dashboard\n/x", "http:/dashboard", "",
	} {
		b := f.browser()
		f.exec(t, "DELETE FROM visitor_counts")
		waiting := b.ask(t, "owner@example.com", next)
		r := b.send(t, "POST", waiting, url.Values{"csrf": {csrf(t, b.get(t, waiting))},
			"code": {f.mails.last(t, "owner@example.com").Code}})
		require.Equal(t, "/dashboard", r.header.Get("Location"), next)
	}
}

// Forms of other sites, and forms without the token of the session, are refused.
func TestFormsOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	token := csrf(t, b.get(t, "/dashboard/settings"))
	good := url.Values{"csrf": {token}, "name": {"x"}}
	for name, r := range map[string]reply{
		"no token": b.send(t, "POST", "/dashboard/settings", url.Values{"name": {"x"}}),
		"another token": b.send(t, "POST", "/dashboard/settings",
			url.Values{"csrf": {auth.NewSession().CSRF}, "name": {"x"}}),
		"another site": b.send(t, "POST", "/dashboard/settings", good, "Sec-Fetch-Site", "cross-site",
			"Origin", "https://evil.example"),
		"another origin": b.send(t, "POST", "/dashboard/settings", good, "Sec-Fetch-Site", "",
			"Origin", "https://evil.example"),
		"sign-out": b.send(t, "POST", "/dashboard/sign-out", url.Values{}),
	} {
		require.Equal(t, 403, r.status, name)
	}
	require.Empty(t, f.handled)
	require.Equal(t, 303, b.send(t, "POST", "/dashboard/settings", good).status)
	require.Equal(t, url.Values{"name": {"x"}}, <-f.handled)
	require.Equal(t, 303, b.send(t, "POST", "/dashboard/settings", url.Values{}, signin.FormHeader, token).status)
	<-f.handled

	// The forms before a session as well, so that no one is signed in as someone else.
	outside := f.browser()
	sign := url.Values{"csrf": {csrf(t, outside.get(t, "/dashboard/sign-in"))}, "email": {"owner@example.com"}}
	require.Equal(t, 403, outside.send(t, "POST", "/dashboard/sign-in", sign, "Sec-Fetch-Site", "cross-site", "Origin",
		"https://evil.example").status)
	require.Equal(t, 403, f.browser().send(t, "POST", "/dashboard/sign-in", sign).status, "without the cookie")
	require.Equal(t, 403, b.send(t, "POST", "/dashboard/sign-in", sign).status, "with another browser's token")
}

func TestSessionsEnd(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, end := range []string{
		"UPDATE user_sessions SET last_active_at = clock_timestamp() - interval '12 hours'",
		"UPDATE user_sessions SET started_at = clock_timestamp() - interval '30 days'",
		"UPDATE user_sessions SET ended_at = clock_timestamp() - interval '1 ms'",
		"DELETE FROM memberships WHERE role = 'analyst'",
	} {
		_, err := f.users.Add(t.Context(), f.account, "analyst@example.com", auth.Analyst)
		require.NoError(t, err)
		f.exec(t, "DELETE FROM visitor_counts")
		b := f.browser()
		b.signIn(t, "analyst@example.com")
		status, _ := f.api(t, b.key(t), "GET", "/api/v1/sessions", "")
		require.Equal(t, 200, status)
		f.exec(t, end)
		require.False(t, b.signedIn(t), end)
		require.Eventually(t, func() bool {
			status, _ := f.api(t, b.key(t), "GET", "/api/v1/sessions", "")
			return status == 401
		}, testTimeout, poll, end)
	}
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM users WHERE email_key = 'analyst@example.com'"),
		"the last removal erased the person")
}

func TestSignOutEverywhere(t *testing.T) {
	t.Parallel()
	f := start(t)
	phone, desk := f.browser(), f.browser()
	phone.signIn(t, "owner@example.com")
	desk.signIn(t, "owner@example.com")
	r := desk.send(t, "POST", "/dashboard/sign-out", url.Values{"csrf": {csrf(t, desk.get(t, "/dashboard/settings"))}})
	require.Equal(t, 303, r.status)
	require.Empty(t, desk.cookies[cookieName])
	require.False(t, desk.signedIn(t))
	require.True(t, phone.signedIn(t))
	desk.signIn(t, "owner@example.com")
	desk.send(t, "POST", "/dashboard/sign-out",
		url.Values{"csrf": {csrf(t, desk.get(t, "/dashboard/settings"))}, "everywhere": {"1"}})
	require.False(t, desk.signedIn(t))
	require.False(t, phone.signedIn(t))
}

// A session by an API key has the scopes of the key, never manages people or keys, and ends with
// the key.
func TestSignInByAPIKey(t *testing.T) {
	t.Parallel()
	f := start(t)
	key, err := f.accounts.CreateKey(t.Context(), f.account, "all", auth.Scopes()...)
	require.NoError(t, err)
	b := f.browser()
	token := csrf(t, b.get(t, "/dashboard/sign-in"))
	for _, bad := range []string{"", "x", auth.NewKey().Text, auth.NewSession().Key} {
		r := b.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {token}, "key": {bad}})
		require.Equal(t, 422, r.status)
	}
	r := b.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {token}, "key": {key.Text},
		"next": {"/dashboard/settings"}})
	require.Equal(t, 303, r.status, r.body)
	require.Contains(t, b.get(t, "/dashboard/settings").body, `"name":"Acme Ltd"`)
	for path, want := range map[string]int{"/api/v1/account": 200, "/api/v1/sessions": 200, "/api/v1/keys": 403,
		"/api/v1/users": 403, "/api/v1/invitations": 403} {
		status, _ := f.api(t, b.key(t), "GET", path, "")
		require.Equal(t, want, status, path)
	}
	require.NoError(t, f.accounts.RevokeKey(t.Context(), key.ID))
	require.False(t, b.signedIn(t))

	// A session's key is in no list of keys, and is none that signs in.
	owner := f.browser()
	owner.signIn(t, "owner@example.com")
	_, keys := f.api(t, owner.key(t), "GET", "/api/v1/keys", "")
	require.Empty(t, keys["data"])
}

// The link that `lodestone up` prints signs in the browser that opens it first.
func TestTheLinkOfUpWorksOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	path, err := signin.NewLink(t.Context(), f.db, signin.Link{User: f.owner, Lasts: testTimeout})
	require.NoError(t, err)
	b, second := f.browser(), f.browser()
	require.Equal(t, 204, b.send(t, "HEAD", path, nil).status)
	require.Equal(t, 204, b.get(t, path, "Sec-Purpose", "prefetch").status)
	r := b.get(t, path)
	require.Equal(t, 303, r.status, r.body)
	require.Equal(t, "/dashboard", r.header.Get("Location"))
	require.True(t, b.signedIn(t))
	require.Equal(t, 303, b.get(t, path).status, "whoever is signed in goes on")
	require.Equal(t, 410, second.get(t, path).status)
	require.False(t, second.signedIn(t))

	// The next start makes another one, and ends the one before.
	first, err := signin.NewLink(t.Context(), f.db, signin.Link{User: f.owner, Lasts: testTimeout})
	require.NoError(t, err)
	_, err = signin.NewLink(t.Context(), f.db, signin.Link{User: f.owner, Lasts: testTimeout})
	require.NoError(t, err)
	require.Equal(t, 404, second.get(t, first).status)
	require.False(t, second.signedIn(t))
}

// Who tries too often has to wait, by client and by mailbox.
func TestSigningInIsLimited(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	for range 5 {
		b.ask(t, "owner@example.com", "")
	}
	page := b.get(t, "/dashboard/sign-in")
	r := b.send(t, "POST", "/dashboard/sign-in", url.Values{"csrf": {csrf(t, page)}, "email": {"owner@example.com"}})
	require.Equal(t, http.StatusTooManyRequests, r.status)
	require.NotEmpty(t, r.header.Get("Retry-After"))
	for range 60 {
		r = b.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {csrf(t, page)}, "key": {"x"}},
			"X-Forwarded-For", "203.0.113.200")
	}
	require.Equal(t, 422, r.status)
	r = b.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {csrf(t, page)}, "key": {"x"}},
		"X-Forwarded-For", "203.0.113.200")
	require.Equal(t, http.StatusTooManyRequests, r.status)
}

// A form that is sent after the end of its session, or where the person has signed out or signed in
// again in another tab, is shown to be copied: nothing of it is done or stored.
func TestWhatWasTypedIsShownWhereItCannotBeTaken(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	token := csrf(t, b.get(t, "/dashboard/settings"))
	typed := url.Values{"csrf": {token}, "name": {"Long <text>\nthat took an hour"}, "tags": {"a", "b"}, "empty": {" "},
		"first.name": {"", "Short"}, "zone": {"UTC"}, "first.zone": {"", "UTC"}}
	send := func(form url.Values, header ...string) reply {
		return b.send(t, "POST", "/dashboard/settings?tab=keys", form,
			append([]string{"Referer", site + "/dashboard/settings?tab=keys"}, header...)...)
	}
	requireShown := func(r reply, status int, link string) {
		t.Helper()
		require.Equal(t, status, r.status, r.body)
		require.Contains(t, r.body,
			"<dt>name</dt><dd>Long &lt;text&gt;\nthat took an hour</dd><dt>tags</dt><dd>a</dd><dt>tags</dt><dd>b</dd></dl>")
		require.Contains(t, r.body, `href="`+link+`" target="_blank"`)
		require.NotContains(t, r.body, "<form")
		require.NotContains(t, r.body, token)
		require.Contains(t, r.header.Get("Cache-Control"), "no-store")
	}

	f.exec(t, "UPDATE user_sessions SET last_active_at = clock_timestamp() - interval '12 hours'")
	requireShown(send(typed), 401, "/dashboard/sign-in?next=%2Fdashboard%2Fsettings%3Ftab%3Dkeys")
	withFile := b.upload(t, "/dashboard/new?csrf="+url.QueryEscape(token), "guide.pdf", strings.Repeat("%PDF ", 1<<16),
		url.Values{"title": {"Long <text>\r\nthat took an hour"}})
	require.Equal(t, 401, withFile.status)
	require.Contains(t, withFile.body, "Long &lt;text&gt;\nthat took an hour")
	f.exec(t, "UPDATE user_sessions SET last_active_at = clock_timestamp()")
	b.send(t, "POST", "/dashboard/sign-out", url.Values{"csrf": {token}})
	requireShown(send(typed), 401, "/dashboard/sign-in?next=%2Fdashboard%2Fsettings%3Ftab%3Dkeys")
	require.Contains(t, send(typed, "Referer", "https://evil.example//x").body,
		`href="/dashboard/sign-in?next=%2Fdashboard"`)
	for name, r := range map[string]reply{
		"nothing typed": send(url.Values{"csrf": {token}}),
		"no browser":    send(typed, "Sec-Fetch-Site", ""),
		"signing out":   b.send(t, "POST", "/dashboard/sign-out", url.Values{"csrf": {token}}),
	} {
		require.Equal(t, 303, r.status, name)
		require.Contains(t, r.header.Get("Location"), "/dashboard/sign-in?ended=lost", name)
	}
	require.Equal(t, 401, send(typed, "Sec-Fetch-Dest", "empty").status)
	require.Empty(t, send(typed, "Sec-Fetch-Dest", "empty").body, "a script keeps the form")

	b.signIn(t, "owner@example.com")
	requireShown(send(typed), 403, "/dashboard/settings?tab=keys")
	require.NotContains(t, send(typed, "Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example").body, "an hour")
	require.NotContains(t, send(typed, "Sec-Fetch-Site", "").body, "an hour")
	require.Empty(t, f.handled)
}
