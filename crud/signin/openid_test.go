package signin_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/signin"
	"lodestone/pkg/auth"
)

const client = "lodestone"

// issuer is an OpenID Connect provider that does as a test says, also what it must not. (The
// laboratory's module has the test with a real one.)
type issuer struct {
	url string
	key *rsa.PrivateKey

	mu         sync.Mutex
	metadata   map[string]any                     // besides what every provider has
	claims     map[string]any                     // of the ID token, over the right ones
	without    []string                           // claims that the ID token lacks
	info       map[string]any                     // about the user
	forge      func(claims map[string]any) string // makes the ID token; nil: it is signed as it should be
	challenges map[string]string
	nonces     map[string]string
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	p := &issuer{key: key, challenges: map[string]string{}, nonces: map[string]string{}}
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body) //nolint:errchkjson // of texts and lists
	}
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		body := map[string]any{
			"issuer": p.url, "authorization_endpoint": p.url + "/authorize", "token_endpoint": p.url + "/token",
			"jwks_uri":          p.url + "/keys",
			"userinfo_endpoint": p.url + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256"},
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		maps.Copy(body, p.metadata)
		answer(w, body)
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []any{map[string]any{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": "1", "n": encode(key.N.Bytes()),
			"e": encode(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		code := r.PostFormValue("code")
		_, given, ok := r.BasicAuth()
		if !ok {
			given = r.PostFormValue("client_secret")
		}
		if given != "secret" {
			w.WriteHeader(http.StatusUnauthorized)
			answer(w, map[string]any{"error": "invalid_client"})
			return
		}
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if p.challenges[code] != encode(sum[:]) {
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]any{"error": "invalid_grant"})
			return
		}
		delete(p.challenges, code)
		c := map[string]any{
			"iss": p.url, "aud": client, "sub": "subject", "nonce": p.nonces[code], "iat": time.Now().Unix(),
			"exp":   time.Now().Add(time.Minute).Unix(),
			"email": "owner@example.com", "email_verified": true,
		}
		maps.Copy(c, p.claims)
		for _, name := range p.without {
			delete(c, name)
		}
		sign := p.sign
		if p.forge != nil {
			sign = p.forge
		}
		answer(w, map[string]any{"access_token": "x", "token_type": "Bearer", "id_token": sign(c)})
	})
	mux.HandleFunc("GET /userinfo", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		answer(w, p.info)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

func (p *issuer) sign(claims map[string]any) string {
	body, _ := json.Marshal(claims) //nolint:errchkjson // of strings and numbers
	text := encode([]byte(`{"alg":"RS256","kid":"1","typ":"JWT"}`)) + "." + encode(body)
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, sum[:]) // the key is good
	return text + "." + encode(signature)
}

// says sets what the ID token says beside the right claims.
func (p *issuer) says(claims map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claims = claims
}

// forges sets how the ID token is made; nil: as it should be.
func (p *issuer) forges(forge func(claims map[string]any) string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forge = forge
}

// agree is the user's consent at the provider: it returns where the browser is led back to.
func (p *issuer) agree(t *testing.T, to string) url.Values {
	t.Helper()
	u, err := url.Parse(to)
	require.NoError(t, err)
	q := u.Query()
	require.Equal(t, p.url+"/authorize", u.Scheme+"://"+u.Host+u.Path)
	require.Equal(t, "S256", q.Get("code_challenge_method"))
	require.Equal(t, site+"/dashboard/sign-in/openid/callback", q.Get("redirect_uri"))
	require.Equal(t, "openid email", q.Get("scope"))
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.challenges[code], p.nonces[code] = q.Get("code_challenge"), q.Get("nonce")
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

func (p *issuer) settings(c *signin.Config) {
	c.OpenIDIssuer, c.OpenIDClientID, c.OpenIDClientSecret, c.OpenIDName = p.url, client, "secret", "Acme"
}

const callback = "/dashboard/sign-in/openid/callback?"

// leave follows the link to the provider, and returns its address.
func (b *browser) leave(t *testing.T) string {
	t.Helper()
	require.Contains(t, b.get(t, "/dashboard/sign-in?next=/dashboard/live").body, "Sign in with Acme")
	r := b.get(t, "/dashboard/sign-in/openid?next=/dashboard/live")
	require.Equal(t, 303, r.status, r.body)
	return r.header.Get("Location")
}

// visit signs in at the provider, and returns what comes of it.
func (b *browser) visit(t *testing.T, p *issuer) reply {
	t.Helper()
	return b.get(t, callback+p.agree(t, b.leave(t)).Encode())
}

func TestSignInByOpenID(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	f := start(t, p.settings)
	b := f.browser()
	r := b.visit(t, p)
	require.Equal(t, 303, r.status, r.body)
	require.Equal(t, "/dashboard/live", r.header.Get("Location"))
	require.True(t, b.signedIn(t))

	// From now on the identity is issuer and subject, whatever the address is.
	p.says(map[string]any{"email": "renamed@example.com", "email_verified": false})
	again := f.browser()
	require.Equal(t, 303, again.visit(t, p).status)
	require.True(t, again.signedIn(t))
	require.Equal(t, f.owner.String(), one[string](t, f, "SELECT user_id::text FROM openid_identities"))
	// Another subject with the old address is another person only if the address is verified.
	p.says(map[string]any{"sub": "other", "email_verified": false})
	require.Equal(t, 403, f.browser().visit(t, p).status)
	require.Equal(t, 1, one[int](t, f, "SELECT count(*) FROM openid_identities"))
	// An address that is not in the ID token is asked for, about the same subject.
	p.says(map[string]any{"sub": "other", "email": nil, "email_verified": nil})
	p.info = map[string]any{"sub": "third", "email": "owner@example.com", "email_verified": "true"}
	require.Equal(t, 400, f.browser().visit(t, p).status)
	p.info["sub"] = "other"
	require.Equal(t, 303, f.browser().visit(t, p).status)
}

// An address counts if the provider says that it is verified, in the ID token or about the user, or
// if the operator trusts the provider for addresses and it says nothing of it. The page and the log
// name the claim that is at fault.
func TestWhoseAddressesCount(t *testing.T) {
	t.Parallel()
	type test struct {
		name      string
		trusted   bool
		claim     any    // email_verified of the ID token; absent: none
		info      any    // what is known about the user besides, likewise
		email     string // of the ID token
		says, log string // "": signed in
	}
	type absent struct{}
	none := absent{}
	const missing, untrue = "no email_verified claim", "email_verified claim is not true"
	for _, c := range []test{
		{"true", false, true, none, "owner@example.com", "", ""},
		{"a text", false, "true", none, "owner@example.com", "", ""},
		{"no claim", false, none, none, "owner@example.com", missing, "email_verified is missing"},
		{"no claim, and trusted", true, none, none, "owner@example.com", "", ""},
		{"false", false, false, none, "owner@example.com", untrue, "email_verified is not true"},
		{"false, and trusted", true, false, none, "owner@example.com", untrue, "email_verified is not true"},
		{"false as a text, and trusted", true, "false", none, "owner@example.com", untrue, "email_verified is not true"},
		{"null, and trusted", true, nil, none, "owner@example.com", untrue, "email_verified is not true"},
		{"a number, and trusted", true, 1, none, "owner@example.com", untrue, "email_verified is not true"},
		{"True, and trusted", true, "True", none, "owner@example.com", untrue, "email_verified is not true"},
		{"an object, and trusted", true, map[string]any{"true": true}, none, "owner@example.com", untrue,
			"email_verified is not true"},
		{"claimed about the user", false, none, true, "owner@example.com", "", ""},
		{"denied about the user", false, none, false, "owner@example.com", untrue, "email_verified is not true"},
		{"no address, and trusted", true, none, none, "", "no email claim.", "claim email is missing"},
		{"nonsense, and trusted", true, none, none, "owner", "No account has a member", "the claim email"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newIssuer(t)
			f := start(t, p.settings, func(s *signin.Config) { s.OpenIDTrustEmail = c.trusted })
			p.mu.Lock()
			p.claims, p.info = map[string]any{"email": c.email}, map[string]any{"sub": "subject", "email": c.email}
			p.without = []string{"email_verified"}
			if c.claim != none {
				p.claims["email_verified"], p.without = c.claim, nil
			}
			if c.info != none {
				p.info["email_verified"] = c.info
			}
			p.mu.Unlock()
			b := f.browser()
			r := b.visit(t, p)
			if c.says == "" {
				require.Equal(t, 303, r.status, r.body)
				require.True(t, b.signedIn(t))
				return
			}
			require.Equal(t, 403, r.status, r.body)
			require.Contains(t, r.body, c.says)
			require.False(t, b.signedIn(t))
			require.Contains(t, f.logged.String(), c.log)
			require.Zero(t, one[int](t, f, "SELECT count(*) FROM openid_identities"))
		})
	}
}

// Someone new has to be invited, or may join the one account that is open to everyone, as an
// analyst.
func TestNewPeopleByOpenID(t *testing.T) {
	t.Parallel()
	p := newIssuer(t)
	f := start(t, p.settings)
	b := f.browser()
	p.says(map[string]any{"sub": "ada", "email": "Ada@example.com"})
	r := b.visit(t, p)
	require.Equal(t, 403, r.status)
	require.Contains(t, r.body, "Ask an owner to invite you")
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM users WHERE email_key = 'ada@example.com'"))
	key, err := f.accounts.CreateKey(t.Context(), f.account, "people", auth.Scopes()...)
	require.NoError(t, err)
	status, _ := f.api(t, key.Text, "POST", "/api/v1/invitations", `{"email":"ada@example.com","role":"editor"}`)
	require.Equal(t, 201, status)
	require.Equal(t, 303, b.visit(t, p).status)
	require.True(t, b.signedIn(t))
	require.Equal(t, "editor",
		one[string](t, f, "SELECT role FROM memberships JOIN users ON id = user_id WHERE email_key = 'ada@example.com'"))
	require.Zero(t, one[int](t, f, "SELECT count(*) FROM invitations"))
	// Who was removed does not come back.
	f.exec(t, "DELETE FROM memberships USING users WHERE id = user_id AND email_key = 'ada@example.com'")
	require.Equal(t, 403, b.visit(t, p).status)

	open := newIssuer(t)
	g := start(t, open.settings)
	g2 := startOn(t, g, func(c *signin.Config) { c.OpenIDAccount = g.account.String() })
	open.says(map[string]any{"sub": "bob", "email": "bob@example.com"})
	bob := g2.browser()
	require.Equal(t, 303, bob.visit(t, open).status)
	require.Equal(t, "analyst",
		one[string](t, g2, "SELECT role FROM memberships JOIN users ON id = user_id WHERE email_key = 'bob@example.com'"))
}

// What is not of this provider, for this client, for this request, in time, and signed, signs no
// one in.
func TestOpenIDIsNotFooled(t *testing.T) {
	t.Parallel()
	p, evil := newIssuer(t), newIssuer(t)
	f := start(t, p.settings)
	refused := func(name string, b *browser, r reply) {
		t.Helper()
		require.Equal(t, 400, r.status, name)
		require.Contains(t, r.body, "didn’t work", name)
		require.False(t, b.signedIn(t), name)
		f.exec(t, "DELETE FROM visitor_counts")
	}
	for name, claims := range map[string]map[string]any{
		"wrong issuer":   {"iss": evil.url},
		"wrong audience": {"aud": "another"},
		"expired":        {"exp": time.Now().Add(-time.Minute).Unix()},
		"nonce replayed": {"nonce": "of another request"},
		"no nonce":       {"nonce": nil},
	} {
		p.says(claims)
		b := f.browser()
		refused(name, b, b.visit(t, p))
	}
	p.says(nil)

	// A state works once, in the browser that asked, and for a while.
	b, other := f.browser(), f.browser()
	back := p.agree(t, b.leave(t))
	other.get(t, "/dashboard/sign-in")
	refused("another browser", other, other.get(t, callback+back.Encode()))
	refused("state used up by another browser", b, b.get(t, callback+back.Encode()))
	back = p.agree(t, b.leave(t))
	require.Equal(t, 303, b.get(t, callback+back.Encode()).status)
	replay := f.browser()
	replay.cookies = map[string]string{}
	maps.Copy(replay.cookies, b.cookies)
	delete(replay.cookies, cookieName)
	refused("state replayed", replay, replay.get(t, callback+back.Encode()))
	late := f.browser()
	back = p.agree(t, late.leave(t))
	f.exec(t, "UPDATE openid_requests SET expires_at = clock_timestamp() - interval '1 ms'")
	refused("too late", late, late.get(t, callback+back.Encode()))
	refused("no state", late, late.get(t, callback+url.Values{"code": {"x"}}.Encode()))

	// A code of another request has another verifier.
	first, second := f.browser(), f.browser()
	stolen := p.agree(t, first.leave(t))
	back = p.agree(t, second.leave(t))
	back.Set("code", stolen.Get("code"))
	refused("stolen code", second, second.get(t, callback+back.Encode()))

	// Mix-up: another issuer leads back. One that says that it names itself has to.
	b = f.browser()
	back = p.agree(t, b.leave(t))
	back.Set("iss", evil.url)
	refused("mix-up", b, b.get(t, callback+back.Encode()))
	back = p.agree(t, b.leave(t))
	back.Set("iss", p.url)
	require.Equal(t, 303, b.get(t, callback+back.Encode()).status)
	named := newIssuer(t)
	named.metadata = map[string]any{"authorization_response_iss_parameter_supported": true}
	g := start(t, named.settings)
	b = g.browser()
	r := b.visit(t, named)
	require.Equal(t, 400, r.status, "it did not name itself")
	back = named.agree(t, b.leave(t))
	back.Set("iss", named.url)
	require.Equal(t, 303, b.get(t, callback+back.Encode()).status)

	b = f.browser()
	back = p.agree(t, b.leave(t))
	r = b.get(t, callback+url.Values{"error": {"access_denied"}, "state": back["state"]}.Encode())
	refused("refused there", b, r)
	require.Contains(t, r.body, `name="next" value="/dashboard/live"`,
		"the next try leads to the screen that was asked for")
}

// A token counts only if the provider's key has signed it, and each answer of a provider only once
// and for its own request.
func TestOpenIDTokensAreSigned(t *testing.T) {
	t.Parallel()
	p, evil := newIssuer(t), newIssuer(t)
	f := start(t, p.settings)
	refused := func(name string, b *browser, r reply) {
		t.Helper()
		require.Equal(t, 400, r.status, name)
		require.False(t, b.signedIn(t), name)
		f.exec(t, "DELETE FROM visitor_counts")
	}
	unsigned := func(header string, claims map[string]any) string {
		body, _ := json.Marshal(claims) //nolint:errchkjson // of strings and numbers
		return encode([]byte(header)) + "." + encode(body)
	}
	for name, forge := range map[string]func(map[string]any) string{
		"another key": evil.sign,
		"no key":      func(c map[string]any) string { return unsigned(`{"alg":"none","typ":"JWT"}`, c) + "." },
		"the client's secret": func(c map[string]any) string {
			text := unsigned(`{"alg":"HS256","typ":"JWT"}`, c)
			mac := hmac.New(sha256.New, []byte("secret"))
			_, _ = mac.Write([]byte(text))
			return text + "." + encode(mac.Sum(nil))
		},
		"the public key as a secret": func(c map[string]any) string {
			text := unsigned(`{"alg":"HS256","kid":"1","typ":"JWT"}`, c)
			mac := hmac.New(sha256.New, p.key.N.Bytes())
			_, _ = mac.Write([]byte(text))
			return text + "." + encode(mac.Sum(nil))
		},
		"changed afterwards": func(c map[string]any) string {
			parts := strings.Split(p.sign(c), ".")
			c["sub"] = "someone else"
			body, _ := json.Marshal(c) //nolint:errchkjson // of strings and numbers
			return parts[0] + "." + encode(body) + "." + parts[2]
		},
		"no token": func(map[string]any) string { return "" },
	} {
		p.forges(forge)
		b := f.browser()
		refused(name, b, b.visit(t, p))
	}
	p.forges(nil)

	// The token of another request, which was good there.
	var first string
	p.forges(func(c map[string]any) string { first = p.sign(c); return first })
	b := f.browser()
	require.Equal(t, 303, b.visit(t, p).status)
	p.forges(func(map[string]any) string { return first })
	b = f.browser()
	refused("token replayed", b, b.visit(t, p))
	p.forges(nil)

	// The code of a request that is over, with a new state.
	b = f.browser()
	back := p.agree(t, b.leave(t))
	require.Equal(t, 303, b.get(t, callback+back.Encode()).status)
	b = f.browser()
	again := p.agree(t, b.leave(t))
	again.Set("code", back.Get("code"))
	refused("code replayed", b, b.get(t, callback+again.Encode()))

	// Mix-up: an error and an issuer that is nearly ours are no better than a code.
	for name, change := range map[string]url.Values{
		"an error of another issuer": {"error": {"access_denied"}, "iss": {evil.url}},
		"nearly the issuer":          {"iss": {p.url + "/"}},
		"two issuers":                {"iss": {evil.url, p.url}}, "no code": {"code": {""}},
	} {
		b = f.browser()
		back = p.agree(t, b.leave(t))
		maps.Copy(back, change)
		refused(name, b, b.get(t, callback+back.Encode()))
	}
	require.Equal(t, 1, one[int](t, f, "SELECT count(*) FROM openid_identities"))
}

// A provider that is away is no error of ours, and works when it is back.
func TestOpenIDProviderIsAway(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *signin.Config) { c.OpenIDIssuer, c.OpenIDClientID = "http://127.0.0.1:1", client })
	require.Equal(t, 400, f.browser().get(t, "/dashboard/sign-in/openid").status)
	plain := start(t)
	require.Equal(t, 404, plain.browser().get(t, "/dashboard/sign-in/openid").status)
	require.Equal(t, 404, plain.browser().get(t, callback).status)
}

func TestOpenIDSettings(t *testing.T) {
	t.Parallel()
	require.NoError(t, signin.Config{}.Validate())
	require.NoError(t, signin.Config{OpenIDIssuer: "https://id.example.com/realms/x", OpenIDClientID: "x"}.Validate())
	err := signin.Config{OpenIDIssuer: "http://id.example.com", OpenIDAccount: "x"}.Validate()
	for _, setting := range []string{"--openid-issuer", "--openid-client-id", "--openid-account"} {
		require.ErrorContains(t, err, setting)
	}
}
