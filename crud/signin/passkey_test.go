package signin_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/auth"
)

// A person adds a passkey, and signs in with it on another browser, without an address.
func TestSignInByPasskey(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	b.signIn(t, "owner@example.com")
	a := newAuthenticator(t)
	o := b.challenge(t, passkeys, b.own(t))
	require.Equal(t, "links.example.com", o.PublicKey.Party.ID)
	require.Equal(t, b64(f.owner[:]), o.PublicKey.User.ID)
	require.Equal(t, "owner@example.com", o.PublicKey.User.Name)
	require.Equal(t, "none", o.PublicKey.Attestation)
	require.Equal(t, "required", o.PublicKey.AuthenticatorSelection.ResidentKey)
	require.Equal(t, "required", o.PublicKey.AuthenticatorSelection.UserVerification)
	require.Empty(t, o.PublicKey.ExcludeCredentials)
	require.Equal(t, passkeys+"?done=passkey", b.add(t, a.create(t, o), "  Ada's\n\tphone "+strings.Repeat("é", 80)))
	require.Equal(t, "Ada's phone "+strings.Repeat("é", 48), one[string](t, f, "SELECT name FROM passkeys"))
	require.Equal(t, b64(a.id), b.challenge(t, passkeys, b.own(t)).PublicKey.ExcludeCredentials[0].ID)

	other := f.browser()
	require.NotContains(t, other.get(t, "/dashboard/sign-in").body, "data-passkey", "there is no script")
	o, token := other.ready(t)
	require.Empty(t, o.PublicKey.AllowCredentials, "the page does not tell whose passkeys there are")
	require.Equal(t, "required", o.PublicKey.UserVerification)
	r := other.press(t, token, a.get(t, o))
	require.Equal(t, 303, r.status, r.body)
	require.Equal(t, "/dashboard/settings?tab=keys", r.header.Get("Location"))
	require.True(t, other.signedIn(t))
	require.Equal(t, f.owner.String(), one[string](t, f, "SELECT user_id::text FROM user_sessions WHERE method = 'passkey'"))
	require.True(t, one[bool](t, f, "SELECT last_used_at IS NOT NULL FROM passkeys"))
	require.Equal(t, "sign-in add-passkey sign-in",
		one[string](t, f, "SELECT string_agg(action, ' ' ORDER BY id) FROM audit_log WHERE user_id = $1", f.owner))
	require.Equal(t, 1, one[int](t, f, "SELECT count(*) FROM passkey_challenges"), "of the one that was not answered")

	// An authenticator without a counter, as those of phones are, always says 0.
	phone := b.addPasskey(t, "phone")
	for range 2 {
		third := f.browser()
		o, token = third.ready(t)
		require.Equal(t, 303, third.press(t, token, phone.sign(t, o)).status)
	}
}

// No one else's answer signs in, nor one that was used, or is of another page, and what was tried
// does not spoil the passkey.
func TestPasskeysThatAreRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.users.Add(t.Context(), f.account, "eve@example.com", auth.Analyst)
	require.NoError(t, err)
	owner, eve := f.browser(), f.browser()
	owner.signIn(t, "owner@example.com")
	eve.signIn(t, "eve@example.com")
	a, hers := owner.addPasskey(t, "mine"), eve.addPasskey(t, "hers")
	a.counter = 7
	first := f.browser()
	o, token := first.ready(t)
	require.Equal(t, 303, first.press(t, token, a.get(t, o)).status)
	as := func(change func(a *authenticator)) func(*testing.T, *browser, options) string {
		return func(t *testing.T, _ *browser, o options) string {
			t.Helper()
			wrong := *a
			change(&wrong)
			return wrong.get(t, o)
		}
	}
	for what, answer := range map[string]func(t *testing.T, b *browser, o options) string{
		"nothing": func(*testing.T, *browser, options) string { return "" },
		"no JSON": func(*testing.T, *browser, options) string { return "{" },
		"a replay": func(t *testing.T, b *browser, o options) string {
			t.Helper()
			text, token := a.get(t, o), csrf(t, b.get(t, "/dashboard/sign-in"))
			require.Equal(t, 303, b.press(t, token, text).status)
			delete(b.cookies, cookieName)
			return text
		},
		"another origin":  as(func(a *authenticator) { a.origin = "https://links.example.com.evil.example" }),
		"plain HTTP":      as(func(a *authenticator) { a.origin = "http://links.example.com" }),
		"another port":    as(func(a *authenticator) { a.origin = site + ":8443" }),
		"a subdomain":     as(func(a *authenticator) { a.origin = "https://evil.links.example.com" }),
		"another party":   as(func(a *authenticator) { a.party = "example.com" }),
		"an unknown user": as(func(a *authenticator) { a.flags = present }),
		"no one there":    as(func(a *authenticator) { a.flags = verified }),
		"an old counter":  as(func(a *authenticator) { a.counter = 7 }),
		"another key":     as(func(a *authenticator) { a.key = hers.key }),
		"another's name":  as(func(a *authenticator) { a.user = hers.user }),
		"no name":         as(func(a *authenticator) { a.user = nil }),
		"another's key":   as(func(a *authenticator) { a.id, a.key = hers.id, hers.key }),
		"an unknown key":  as(func(a *authenticator) { a.id = []byte("unknown") }),
		"a challenge of another browser": func(t *testing.T, _ *browser, _ options) string {
			t.Helper()
			o, _ := f.browser().ready(t)
			return a.get(t, o)
		},
		"a challenge that the site never made": func(t *testing.T, _ *browser, o options) string {
			t.Helper()
			o.PublicKey.Challenge = b64(make([]byte, 32))
			return a.get(t, o)
		},
		"a challenge for a new passkey": func(t *testing.T, _ *browser, _ options) string {
			t.Helper()
			return a.get(t, owner.challenge(t, passkeys, owner.own(t)))
		},
		"an old challenge": func(t *testing.T, _ *browser, o options) string {
			t.Helper()
			f.exec(t, "UPDATE passkey_challenges SET expires_at = clock_timestamp() - interval '1 ms'")
			return a.get(t, o)
		},
	} {
		b := f.browser()
		o, token := b.ready(t)
		r := b.press(t, token, answer(t, b, o))
		require.Equal(t, 422, r.status, what)
		require.Contains(t, r.body, "This passkey was not accepted", what)
		require.False(t, b.signedIn(t), what)
		f.exec(t, "DELETE FROM visitor_counts") // tries are counted
	}
	b := f.browser()
	o, token = b.ready(t)
	r := b.press(t, csrf(t, f.browser().get(t, "/dashboard/sign-in")), a.get(t, o))
	require.Equal(t, 403, r.status, "the token of another browser")
	require.Equal(t, 303, b.press(t, token, a.get(t, o)).status, "the passkey still works")
}

// A removed passkey signs in no more, and only its person removes it.
func TestRemovePasskey(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.users.Add(t.Context(), f.account, "eve@example.com", auth.Analyst)
	require.NoError(t, err)
	owner, eve := f.browser(), f.browser()
	owner.signIn(t, "owner@example.com")
	eve.signIn(t, "eve@example.com")
	a, hers := owner.addPasskey(t, "mine"), eve.addPasskey(t, "hers")
	remove := func(b *browser, of string) int {
		id := one[string](t, f, "SELECT id::text FROM passkeys WHERE name = $1", of)
		return b.send(t, "POST", passkeys+"/remove", url.Values{"csrf": {b.own(t)}, "id": {id}}).status
	}
	require.Equal(t, 404, remove(owner, "hers"))
	require.Equal(t, 404, remove(eve, "mine"))
	b := f.browser()
	o, token := b.ready(t)
	require.Equal(t, 303, remove(owner, "mine"))
	require.Equal(t, 422, b.press(t, token, a.get(t, o)).status)
	require.Equal(t, 1, one[int](t, f, "SELECT count(*) FROM audit_log WHERE action = 'remove-passkey'"))
	require.Equal(t, 1, one[int](t, f, "SELECT count(*) FROM revocations WHERE entity = 'passkeys'"))

	// Those of someone who is in no account any more go with the person.
	f.exec(t, "DELETE FROM memberships WHERE user_id <> $1", f.owner)
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM passkeys"))
	o, token = b.ready(t)
	require.Equal(t, 422, b.press(t, token, hers.get(t, o)).status)
}

// What an authenticator made is taken once, from the session that asked for it.
func TestPasskeysThatAreNotAdded(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.users.Add(t.Context(), f.account, "eve@example.com", auth.Analyst)
	require.NoError(t, err)
	b, eve := f.browser(), f.browser()
	b.signIn(t, "owner@example.com")
	eve.signIn(t, "eve@example.com")
	a := newAuthenticator(t)
	text := a.create(t, b.challenge(t, passkeys, b.own(t)))
	require.Equal(t, passkeys+"?failed=passkey", eve.add(t, text, "x"), "of another session")
	require.Equal(t, passkeys+"?failed=passkey", b.add(t, text, "x"), "of a challenge that was used")
	for what, change := range map[string]func(a *authenticator, o *options){
		"another origin":    func(a *authenticator, _ *options) { a.origin = "https://evil.example" },
		"another party":     func(a *authenticator, _ *options) { a.party = "evil.example" },
		"an unknown user":   func(a *authenticator, _ *options) { a.flags = present },
		"another challenge": func(_ *authenticator, o *options) { o.PublicKey.Challenge = b64(make([]byte, 32)) },
		"a challenge to sign in": func(_ *authenticator, o *options) {
			signIn, _ := f.browser().ready(t)
			o.PublicKey.Challenge = signIn.PublicKey.Challenge
		},
	} {
		wrong, o := newAuthenticator(t), b.challenge(t, passkeys, b.own(t))
		change(wrong, &o)
		require.Equal(t, passkeys+"?failed=passkey", b.add(t, wrong.create(t, o), "x"), what)
	}
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM passkeys"))

	// One that is there, as another person's too.
	mine := b.addPasskey(t, "")
	require.Equal(t, "Passkey", one[string](t, f, "SELECT name FROM passkeys"))
	for _, again := range []*browser{b, eve} {
		require.Equal(t, passkeys+"?failed=passkey",
			again.add(t, mine.create(t, again.challenge(t, passkeys, again.own(t))), "x"))
	}
	for range 19 {
		b.addPasskey(t, "more")
	}
	require.Equal(t, passkeys+"?failed=many",
		b.add(t, newAuthenticator(t).create(t, b.challenge(t, passkeys, b.own(t))), "x"))
	require.Equal(t, 20, one[int](t, f, "SELECT count(*) FROM passkeys"))

	// Forms need the token of the session, and a person.
	require.Equal(t, 403, b.send(t, "POST", passkeys+"/challenge", url.Values{"csrf": {"x"}}).status)
	f.exec(t, "UPDATE user_sessions SET ended_at = now() WHERE user_id = $1", f.owner)
	require.Equal(t, 401, b.send(t, "POST", passkeys+"/challenge", nil, "Sec-Fetch-Dest", "empty").status)
	key := f.browser()
	secret, err := f.accounts.CreateKey(t.Context(), f.account, "robot", auth.Scopes()...)
	require.NoError(t, err)
	page := key.get(t, "/dashboard/sign-in")
	require.Equal(t, 303, key.send(t, "POST", "/dashboard/sign-in/key", url.Values{"csrf": {csrf(t, page)},
		"key": {secret.Text}}).status)
	for _, path := range []string{"", "/challenge", "/remove"} {
		require.Equal(t, 404, key.send(t, "POST", passkeys+path, url.Values{"csrf": {key.own(t)}}).status, path)
	}
}

// Tries are counted with those of the other ways in.
func TestPasskeysAreLimited(t *testing.T) {
	t.Parallel()
	f := start(t)
	b := f.browser()
	form := url.Values{"csrf": {csrf(t, b.get(t, "/dashboard/sign-in"))}, "credential": {"{}"}}
	from := []string{"X-Forwarded-For", "203.0.113.200"}
	for range 60 {
		require.Equal(t, 422, b.send(t, "POST", withPasskey, form, from...).status)
	}
	for _, path := range []string{withPasskey, withPasskey + "/challenge"} {
		require.Equal(t, 429, b.send(t, "POST", path, form, from...).status)
	}
}
