package signin_test

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
)

// What each role may do is decided by the API, also for the dashboard, whose pages ask it.
func TestRoles(t *testing.T) {
	t.Parallel()
	f := start(t)
	for role, want := range map[auth.Role][]int{
		// account, change it, keys, people, sessions
		auth.Owner:   {200, 200, 200, 200, 200},
		auth.Editor:  {200, 200, 403, 403, 200},
		auth.Analyst: {200, 403, 403, 403, 200},
	} {
		address := string(role) + "@example.com"
		_, err := f.users.Add(t.Context(), f.account, address, role)
		require.NoError(t, err)
		b := f.browser()
		b.signIn(t, address)
		for i, request := range []string{"GET /api/v1/account", "PATCH /api/v1/account", "GET /api/v1/keys",
			"GET /api/v1/users", "GET /api/v1/sessions"} {
			method, path, _ := strings.Cut(request, " ")
			body := map[bool]string{true: `{"brand_color":"#112233"}`}[method == "PATCH"]
			status, _ := f.api(t, b.key(t), method, path, body)
			require.Equal(t, want[i], status, "%s %s", role, request)
		}
	}
	status, _ := f.api(t, auth.NewSession().Key, "GET", "/api/v1/account", "")
	require.Equal(t, 401, status)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	status, _ = f.api(t, b.cookies[cookieName], "GET", "/api/v1/account", "")
	require.Equal(t, 401, status, "the cookie is no key")
}

// A key that a person creates works on after the session.
func TestKeysOutliveTheSession(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	status, key := f.api(t, b.key(t), "POST", "/api/v1/keys", `{"name":"mine","scopes":["read"]}`)
	require.Equal(t, 201, status)
	require.Nil(t, key["created_by"])
	require.Nil(t, key["expires_at"])
	b.send(t, "POST", "/dashboard/sign-out", url.Values{"csrf": {csrf(t, b.get(t, "/dashboard/settings"))}})
	status, _ = f.api(t, key["key"].(string), "GET", "/api/v1/account", "")
	require.Equal(t, 200, status)
}

func TestOwnersManagePeople(t *testing.T) {
	t.Parallel()
	f := start(t)
	owner := f.browser()
	owner.signIn(t, "owner@example.com")
	key := owner.key(t)

	status, invited := f.api(t, key, "POST", "/api/v1/invitations", `{"email":"Ada@example.com","role":"editor"}`)
	require.Equal(t, 201, status, invited)
	m := f.mails.last(t, "Ada@example.com")
	require.Equal(t, "Acme Ltd", m.Account)
	first := strings.TrimPrefix(m.URL, site)
	// Repeating it ends the first link, and keeps the id.
	status, again := f.api(t, key, "POST", "/api/v1/invitations", `{"email":"ada@example.com","role":"analyst"}`)
	require.Equal(t, 201, status)
	require.Equal(t, invited["id"], again["id"])
	second := strings.TrimPrefix(f.mails.last(t, "ada@example.com").URL, site)
	ada := f.browser()
	require.Equal(t, 410, ada.get(t, first).status)
	page := ada.get(t, second)
	require.Equal(t, 200, page.status)
	require.Contains(t, page.body, "analyst")
	require.False(t, ada.signedIn(t))
	require.Equal(t, 303, ada.send(t, "POST", second, url.Values{}).status)
	require.True(t, ada.signedIn(t))
	require.Equal(t, 410, f.browser().send(t, "POST", second, url.Values{}).status, "it works once")

	_, list := f.api(t, key, "GET", "/api/v1/users", "")
	people := list["data"].([]any)
	require.Len(t, people, 2)
	person := people[0].(map[string]any)
	for _, p := range people {
		require.NotNil(t, p.(map[string]any)["last_seen_at"], "who has just signed in was seen")
	}
	require.Equal(t, "ada@example.com", person["email"])
	require.Equal(t, "analyst", person["role"])
	path := "/api/v1/users/" + person["id"].(string)
	status, _ = f.api(t, key, "PATCH", path, `{"role":"editor"}`)
	require.Equal(t, 200, status)
	status, _ = f.api(t, ada.key(t), "GET", "/api/v1/users", "")
	require.Equal(t, 403, status)
	status, problem := f.api(t, key, "POST", "/api/v1/invitations", `{"email":"ada@example.com","role":"analyst"}`)
	require.Equal(t, 409, status, problem)

	// The last owner stays, whatever order is tried.
	own := "/api/v1/users/" + f.owner.String()
	for _, try := range [][2]string{{"DELETE", ""}, {"PATCH", `{"role":"analyst"}`}} {
		status, _ = f.api(t, key, try[0], own, try[1])
		require.Equal(t, 409, status)
	}
	status, _ = f.api(t, key, "PATCH", path, `{"role":"owner"}`)
	require.Equal(t, 200, status)
	status, _ = f.api(t, key, "DELETE", own, "")
	require.Equal(t, 204, status)
	require.False(t, owner.signedIn(t))
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM user_sessions WHERE user_id = $1", f.owner))
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM users WHERE id = $1", f.owner))

	// Invitations are taken back, and expire.
	key = ada.key(t)
	require.Eventually(t, func() bool {
		status, _ := f.api(t, key, "GET", "/api/v1/users", "")
		return status == 200
	}, testTimeout, poll)
	status, invited = f.api(t, key, "POST", "/api/v1/invitations", `{"email":"bob@example.com","role":"owner"}`)
	require.Equal(t, 201, status)
	bob := strings.TrimPrefix(f.mails.last(t, "bob@example.com").URL, site)
	status, _ = f.api(t, key, "DELETE", "/api/v1/invitations/"+invited["id"].(string), "")
	require.Equal(t, 204, status)
	require.Equal(t, 410, f.browser().send(t, "POST", bob, url.Values{}).status)
	f.api(t, key, "POST", "/api/v1/invitations", `{"email":"bob@example.com","role":"owner"}`)
	bob = strings.TrimPrefix(f.mails.last(t, "bob@example.com").URL, site)
	f.exec(t, "UPDATE invitations SET expires_at = clock_timestamp() - interval '1 ms'")
	require.Equal(t, 410, f.browser().send(t, "POST", bob, url.Values{}).status)
}

// Two owners who remove each other at the same time leave one.
func TestTwoOwnersLeaveOne(t *testing.T) {
	t.Parallel()
	f := start(t)
	second, err := f.users.Add(t.Context(), f.account, "second@example.com", auth.Owner)
	require.NoError(t, err)
	key, err := f.accounts.CreateKey(t.Context(), f.account, "people", auth.Scopes()...)
	require.NoError(t, err)
	statuses, failures := make(chan int, 2), make(chan error, 2)
	for _, id := range []uuid.UUID{f.owner, second} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodDelete,
			f.url+"/api/v1/users/"+id.String(), http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+key.Text)
		go func() {
			res, err := http.DefaultClient.Do(req)
			if err == nil {
				statuses <- res.StatusCode
				err = res.Body.Close()
			}
			failures <- err
		}()
	}
	require.NoError(t, errors.Join(<-failures, <-failures))
	require.ElementsMatch(t, []int{204, 409}, []int{<-statuses, <-statuses})
}

func TestSessionsAreListedAndEnded(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.users.Add(t.Context(), f.account, "editor@example.com", auth.Editor)
	require.NoError(t, err)
	owner, editor := f.browser(), f.browser()
	owner.signIn(t, "owner@example.com")
	editor.signIn(t, "editor@example.com")
	ids := func(key string) (list []string) {
		_, answer := f.api(t, key, "GET", "/api/v1/sessions", "")
		for _, s := range answer["data"].([]any) {
			list = append(list, s.(map[string]any)["email"].(string))
		}
		return list
	}
	require.Equal(t, []string{"editor@example.com", "owner@example.com"}, ids(owner.key(t)))
	require.Equal(t, []string{"editor@example.com"}, ids(editor.key(t)))
	of := func(email string) string {
		return "/api/v1/sessions/" + one[string](t, f,
			"SELECT s.id::text FROM user_sessions s JOIN users u ON u.id = s.user_id WHERE u.email_key = $1", email)
	}
	status, _ := f.api(t, editor.key(t), "DELETE", of("owner@example.com"), "")
	require.Equal(t, 404, status)
	status, _ = f.api(t, owner.key(t), "DELETE", of("editor@example.com"), "")
	require.Equal(t, 204, status)
	require.False(t, editor.signedIn(t))
	require.True(t, owner.signedIn(t))
}

// People of one account see and change nothing of another, and someone in both is in each with a
// role of its own.
func TestAccountsAreApart(t *testing.T) {
	t.Parallel()
	f := start(t)
	other, err := f.accounts.Create(t.Context(), "Other", account.Team)
	require.NoError(t, err)
	stranger, err := f.users.Add(t.Context(), other, "stranger@example.com", auth.Owner)
	require.NoError(t, err)
	both, err := f.users.Add(t.Context(), f.account, "both@example.com", auth.Owner)
	require.NoError(t, err)
	same, err := f.users.Add(t.Context(), other, "Both@example.com", auth.Analyst)
	require.NoError(t, err)
	require.Equal(t, both, same)
	b := f.browser()
	b.signIn(t, "stranger@example.com")
	_, list := f.api(t, b.key(t), "GET", "/api/v1/users", "")
	require.Len(t, list["data"], 2)
	for _, path := range []string{"/api/v1/users/" + f.owner.String()} {
		for _, method := range []string{"GET", "DELETE"} {
			status, _ := f.api(t, b.key(t), method, path, "")
			require.Equal(t, 404, status)
		}
	}
	// Whoever is in both goes from one to the other, with a session of its own, and to no third one.
	two := f.browser()
	two.signIn(t, "both@example.com")
	before := two.cookies[cookieName]
	page := two.get(t, "/dashboard/sign-in/account")
	require.Contains(t, page.body, "Acme Ltd")
	require.Contains(t, page.body, "Other")
	target := map[string]string{f.account.String(): other.String(),
		other.String(): f.account.String()}[one[string](t, f, "SELECT account_id::text FROM user_sessions WHERE user_id = $1",
		both)]
	require.Equal(t, 303, two.send(t, "POST", "/dashboard/sign-in/account",
		url.Values{"csrf": {csrf(t, page)}, "account": {target}}).status)
	require.NotEqual(t, before, two.cookies[cookieName])
	_, object := f.api(t, two.key(t), "GET", "/api/v1/account", "")
	require.Equal(t, target, object["id"])
	third, err := f.accounts.Create(t.Context(), "Third", account.Free)
	require.NoError(t, err)
	page = two.get(t, "/dashboard/sign-in/account")
	require.Equal(t, 404, two.send(t, "POST", "/dashboard/sign-in/account",
		url.Values{"csrf": {csrf(t, page)}, "account": {third.String()}}).status)
	require.True(t, two.signedIn(t))

	// Removing someone from one account leaves the other alone.
	status, _ := f.api(t, b.key(t), "DELETE", "/api/v1/users/"+both.String(), "")
	require.Equal(t, 204, status)
	require.Equal(t, "owner", one[string](t, f, "SELECT role FROM memberships WHERE user_id = $1", both))
	status, _ = f.api(t, b.key(t), "GET", "/api/v1/users/"+stranger.String(), "")
	require.Equal(t, 200, status)
}

// Signing in and out, and what is done in a session, names the person in the audit log.
func TestSessionsAreAudited(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	key := b.key(t)
	f.api(t, key, "PATCH", "/api/v1/account", `{"brand_color":"#112233"}`)
	b.send(t, "POST", "/dashboard/sign-out", url.Values{"csrf": {csrf(t, b.get(t, "/dashboard/settings"))}})
	b.signIn(t, "owner@example.com")
	_, log := f.api(t, b.key(t), "GET", "/api/v1/audit-log?user_id="+f.owner.String(), "")
	var actions []string
	for _, e := range log["data"].([]any) {
		entry := e.(map[string]any)
		actions = append(actions, entry["action"].(string))
		require.Equal(t, "owner@example.com", entry["actor"])
		require.NotNil(t, entry["session_id"])
		require.Nil(t, entry["key_id"])
	}
	require.Equal(t, []string{"sign-in", "sign-out", "update-account", "sign-in"}, actions)
}

// Whoever signed in switches their own weekly report on and off, whatever their role; those of
// others, owners only.
func TestOwnWeeklyReport(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.users.Add(t.Context(), f.account, "analyst@example.com", auth.Analyst)
	require.NoError(t, err)
	owner, analyst := f.browser(), f.browser()
	owner.signIn(t, "owner@example.com")
	analyst.signIn(t, "analyst@example.com")
	path := func(email string) string {
		return "/api/v1/users/" + one[string](t, f, "SELECT id::text FROM users WHERE email_key = $1", email) +
			"/weekly-report"
	}
	enabled := func(key, email string) any {
		status, report := f.api(t, key, "GET", path(email), "")
		require.Equal(t, 200, status)
		require.Equal(t, email, report["email"])
		return report["enabled"]
	}
	require.Equal(t, true, enabled(owner.key(t), "owner@example.com"))
	require.Equal(t, false, enabled(analyst.key(t), "analyst@example.com"))
	status, report := f.api(t, analyst.key(t), "PUT", path("analyst@example.com"), `{"enabled":true}`)
	require.Equal(t, 200, status)
	require.Equal(t, true, report["enabled"])
	for _, method := range []string{"GET", "PUT"} {
		status, _ = f.api(t, analyst.key(t), method, path("owner@example.com"),
			map[bool]string{true: `{"enabled":false}`}[method == "PUT"])
		require.Equal(t, 404, status)
	}
	require.Equal(t, true, enabled(owner.key(t), "owner@example.com"))
	require.Equal(t, true, enabled(owner.key(t), "analyst@example.com"))
	status, _ = f.api(t, owner.key(t), "PUT", path("analyst@example.com"), `{"enabled":false}`)
	require.Equal(t, 200, status)
	require.Equal(t, false, enabled(analyst.key(t), "analyst@example.com"))
	require.Equal(t, 2, one[int](t, f, "SELECT count(*)::int FROM audit_log WHERE action = 'set-weekly-report'"))
}

// Mails to sign in and invitations are in the language of the account.
func TestMailsAreInTheLanguageOfTheAccount(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	require.Equal(t, locale.English, f.mails.last(t, "owner@example.com").Language)
	f.exec(t, "UPDATE accounts SET language = 'pl'")
	b = f.browser()
	b.signIn(t, "owner@example.com")
	require.Equal(t, locale.Language("pl"), f.mails.last(t, "owner@example.com").Language)
	status, _ := f.api(t, b.key(t), "POST", "/api/v1/invitations", `{"email":"ada@example.com","role":"analyst"}`)
	require.Equal(t, 201, status)
	require.Equal(t, locale.Language("pl"), f.mails.last(t, "ada@example.com").Language)
}
