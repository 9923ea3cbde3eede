package crud_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
)

// analytics is a query process that answers the questions of a share's page. The numbers themselves
// are tested with real ones in a browser.
type analytics struct {
	readers  atomic.Int64
	requests atomic.Int64
	fixture  atomic.Pointer[fixture]
}

func (a *analytics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests.Add(1)
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	identity, err := a.fixture.Load().verifier.Verify(r.Context(), key)
	if err != nil || len(identity.Scopes) != 1 || !identity.Has(auth.Read) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	n := a.readers.Load()
	switch {
	case strings.HasSuffix(r.URL.Path, "/query"):
		_, _ = fmt.Fprintf(w,
			`{"data":[{"rows":[{"time":"2026-11-01T00:00:00Z","people":%d}],"totals":{"people":%d,"visitors":12345,"people_finish_rate":0.5},"excluded_bots":3,"as_of":"2026-11-02T10:00:00.000Z"}]}`, n, n)
	default:
		_, _ = fmt.Fprintf(w, `{"data":[{"page":1,"people_reached":%d,"people_stopped":1,"readers":%d,"median_ms":7777}]}`, n,
			n)
	}
}

// visit asks for a page as a browser does, and follows no redirect.
func (f *fixture) visit(t *testing.T, method, path, form string, cookies ...*http.Cookie) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, f.url+path, strings.NewReader(form))
	require.NoError(t, err)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	res, err := (&http.Client{Transport: f.http.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}).Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(text)
}

func startSharing(t *testing.T) (*fixture, *analytics) {
	t.Helper()
	a := &analytics{}
	query := httptest.NewServer(a)
	t.Cleanup(query.Close)
	f := start(t, func(c *crud.Config) { c.QueryURL = query.URL })
	a.fixture.Store(f)
	return f, a
}

func TestShare(t *testing.T) {
	t.Parallel()
	f, numbers := startSharing(t)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	shares := "/api/v1/lead-magnets/" + m.ID + "/shares"
	r := u.post(t, shares, `{"name":"For the board"}`)
	require.Equal(t, 201, r.status, r.body)
	made := r.object(t)
	page := strings.TrimPrefix(made["url"].(string), site)
	require.Regexp(t, `^/s/[a-z2-7]{26}$`, page, "at least 128 bits")
	listed := u.get(t, shares).object(t)["data"].([]any)
	require.Equal(t, []any{map[string]any{
		"id": made["id"], "lead_magnet_id": m.ID, "name": "For the board", "has_password": false, "expires_at": nil,
		"view_count": 0.0, "last_viewed_at": nil, "created_at": made["created_at"],
	}}, listed, "the URL is not shown again")

	// The page has the API's numbers, and is no secret of search engines or other hosts.
	numbers.readers.Store(7)
	res, body := f.visit(t, "GET", page, "")
	require.Equal(t, 200, res.StatusCode, body)
	for _, figure := range []string{`data-metric="visitors" data-value="12345"`, `data-metric="people" data-value="7"`,
		`data-metric="people_finish_rate" data-value="0.5"`, "<title>How far readers get",
		m.Title, "3 bot events left out"} {
		require.Contains(t, body, figure)
	}
	require.NotContains(t, body, "For the board")
	require.Equal(t, "noindex, nofollow", res.Header.Get("X-Robots-Tag"))
	require.Equal(t, "no-referrer", res.Header.Get("Referrer-Policy"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	require.Empty(t, res.Header.Get("Set-Cookie"))
	asked := numbers.requests.Load()
	require.EqualValues(t, 2, asked)
	_, _ = f.visit(t, "GET", page, "")
	require.Equal(t, asked, numbers.requests.Load(), "what was just asked is not asked again")
	require.EqualValues(t, 2, u.get(t, shares).object(t)["data"].([]any)[0].(map[string]any)["view_count"])

	// Nothing that opens anything is stored, and the token is no key of the API.
	token := strings.TrimPrefix(page, "/s/")
	var stored string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT row_to_json(s)::text FROM shares s WHERE id = $1",
		made["id"]).Scan(&stored))
	require.NotContains(t, stored, token)
	for _, key := range []string{token, "lsh_" + token} {
		_, err := f.verifier.Verify(t.Context(), key)
		require.True(t, auth.IsInvalid(err))
	}

	// It ends at once when it is revoked, by its account alone.
	one := shares + "/" + made["id"].(string)
	other := f.user(t, account.Free)
	require.Equal(t, 404, other.get(t, shares).status)
	require.Equal(t, 404, other.post(t, shares, `{}`).status)
	require.Equal(t, 404, other.send(t, "DELETE", one, nil).status)
	require.Equal(t, 404, u.send(t, "DELETE", "/api/v1/lead-magnets/"+u.magnet(t).ID+"/shares/"+
		made["id"].(string), nil).status)
	require.Equal(t, 403, f.userOf(t, u.account, auth.Read).send(t, "DELETE", one, nil).status)
	require.Equal(t, 204, u.send(t, "DELETE", one, nil).status)
	res, body = f.visit(t, "GET", page, "")
	require.Equal(t, 404, res.StatusCode)
	require.NotContains(t, body, m.Title)
	for _, unknown := range []string{"/s/" + strings.Repeat("a", 26), "/s/x", "/s/", "/s/a/b"} {
		res, _ = f.visit(t, "GET", unknown, "")
		require.Equal(t, 404, res.StatusCode, unknown)
	}
}

// Of few readers nothing is shown that could be one person's.
// The page is in the language of the account, else of the visitor, to the last word of its charts.
func TestShareInEveryLanguage(t *testing.T) {
	t.Parallel()
	f, numbers := startSharing(t)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	numbers.readers.Store(7)
	shares := "/api/v1/lead-magnets/" + m.ID + "/shares"
	open, locked := u.post(t, shares, `{"name":"x"}`).object(t),
		u.post(t, shares, `{"name":"y","password":"open sesame"}`).object(t)
	english := []string{"The last", "as of", "visits of bots", `"Period"`, "Readers", "Page views", "Forms sent", "Step",
		"Of all", "Median time", ">Table<", ">Time<", "Reached", "Stopped", "Totals only", "Shared by", "Saw the page",
		"These statistics", "Enter the password", "Show the statistics", "Your browser", "Wrong password"}
	for _, language := range locale.Languages() {
		require.Equal(t, 200, u.patch(t, "/api/v1/account", `{"language":"`+string(language)+`"}`).status)
		_, shown := f.visit(t, "GET", strings.TrimPrefix(open["url"].(string), site), "")
		path := strings.TrimPrefix(locked["url"].(string), site)
		_, asks := f.visit(t, "GET", path, "")
		_, wrong := f.visit(t, "POST", path, "password=mistyped")
		for _, body := range []string{shown, asks, wrong} {
			require.Contains(t, body, `<html lang="`+string(language)+`"`)
			for _, words := range english {
				if language != locale.English {
					require.NotContains(t, body, words, "%s: %s", language, words)
				}
			}
		}
		require.Contains(t, shown, `data-metric="people" data-value="7"`)
	}
}

func TestShareOfFewReaders(t *testing.T) {
	t.Parallel()
	f, numbers := startSharing(t)
	u := f.user(t, account.Free)
	made := u.post(t, "/api/v1/lead-magnets/"+u.magnet(t).ID+"/shares", `{}`).object(t)
	numbers.readers.Store(4)
	_, body := f.visit(t, "GET", strings.TrimPrefix(made["url"].(string), site), "")
	require.Contains(t, body, "Shown from 5 readers up")
	require.NotContains(t, body, "<title>How far readers get")
	for _, single := range []string{"7777", "8 s", "1 min"} {
		require.NotContains(t, body, single)
	}
}

func TestShareWithPassword(t *testing.T) {
	t.Parallel()
	f, numbers := startSharing(t)
	numbers.readers.Store(9)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	shares := "/api/v1/lead-magnets/" + m.ID + "/shares"
	require.Equal(t, 422, u.post(t, shares, `{"password":"short"}`).status)
	require.Equal(t, 422, u.post(t, shares, `{"expires_at":"2020-01-01T00:00:00Z"}`).status)
	made := u.post(t, shares, `{"password":"correct horse","expires_at":"2100-01-01T00:00:00Z"}`).object(t)
	require.Equal(t, true, made["has_password"])
	require.Equal(t, "2100-01-01T00:00:00.000Z", made["expires_at"])
	page := strings.TrimPrefix(made["url"].(string), site)
	var hash string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		"SELECT password_hash FROM shares WHERE id = $1", made["id"]).Scan(&hash))
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$`, hash)

	res, body := f.visit(t, "GET", page, "")
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, body, "are password-protected")
	require.NotContains(t, body, m.Title)
	require.Zero(t, numbers.requests.Load())

	res, body = f.visit(t, "POST", page, "password=wrong")
	require.Equal(t, 422, res.StatusCode)
	require.Contains(t, body, "Wrong password")
	require.Empty(t, res.Cookies())

	res, _ = f.visit(t, "POST", page, url.Values{"password": {"correct horse"}}.Encode())
	require.Equal(t, 303, res.StatusCode)
	require.Equal(t, page, res.Header.Get("Location"))
	require.Len(t, res.Cookies(), 1)
	cookie := res.Cookies()[0]
	require.True(t, cookie.HttpOnly)
	require.True(t, cookie.Secure)
	require.Equal(t, page, cookie.Path)
	res, body = f.visit(t, "GET", page, "", cookie)
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, body, m.Title)

	// The cookie opens this page alone.
	second := u.post(t, shares, `{"password":"correct horse"}`).object(t)
	_, body = f.visit(t, "GET", strings.TrimPrefix(second["url"].(string), site), "", cookie)
	require.Contains(t, body, "are password-protected")

	// Guesses are limited; the right password as well, until the time is over.
	for range 8 {
		res, _ = f.visit(t, "POST", page, "password=guess")
		require.Equal(t, 422, res.StatusCode)
	}
	res, _ = f.visit(t, "POST", page, "password=correct+horse")
	require.Equal(t, 429, res.StatusCode)
	require.NotEmpty(t, res.Header.Get("Retry-After"))

	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE shares SET expires_at = now() - interval '1 second' WHERE id = $1",
		made["id"])
	require.NoError(t, err)
	res, body = f.visit(t, "GET", page, "", cookie)
	require.Equal(t, 410, res.StatusCode)
	require.NotContains(t, body, m.Title)
}

// An Idempotency-Key does not keep the URL, and a lead magnet has a bounded number of links.
func TestShareLimits(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Free)
	m := u.magnet(t)
	_, err := u.fixture.db.Unscoped().Exec(t.Context(), `INSERT INTO shares (id, account_id, lead_magnet_id, token_hash, key_hash)
		SELECT gen_random_uuid(), $1, $2, sha256(n::text::bytea), sha256(n::text::bytea) FROM generate_series(1, 100) n`, u.account, uuid.MustParse(m.ID))
	require.NoError(t, err)
	p := u.post(t, "/api/v1/lead-magnets/"+m.ID+"/shares", `{}`).problem(t)
	require.Equal(t, "limit_reached", string(p.Code))
	text, err := json.Marshal(u.get(t, "/api/v1/lead-magnets/"+m.ID+"/shares?per_page=100").object(t))
	require.NoError(t, err)
	require.NotContains(t, string(text), "hash")
}
