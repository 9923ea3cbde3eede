package crud_test

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/clienttest"
)

const keysPath = "/api/v1/keys"

func TestOwnAccount(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, team := f.user(t, account.Free), f.user(t, account.Team)
	m := u.magnet(t)
	u.link(t, m.ID)
	u.accessLink(t, m.ID)
	u.accessLink(t, m.ID)
	got := u.get(t, "/api/v1/account").object(t)
	require.Equal(t, map[string]any{
		"id": u.account.String(), "name": "Test", "plan": "free", "created_at": got["created_at"],
		"brand_color": nil, "notify": "each", "reading_notices": "daily", "weekly_report": true, "notify_email": nil,
		"alert_notices": true, "quiet_from": nil, "quiet_until": nil,
		"open_statuses": []any{"New", "In touch"}, "closed_statuses": []any{"Won", "Not a fit"},
		"left_out_suspects":      []any{},
		"notify_email_confirmed": false,
		"brand_font":             "system", "language": nil, "timezone": "UTC",
		"limits": map[string]any{"lead_magnets": nil, "stored_bytes": nil, "generic_links": 3.0, "access_links": nil,
			"keys": 100.0, "events_per_month": nil},
		"usage": map[string]any{"lead_magnets": 1.0, "stored_bytes": 0.0, "generic_links": 1.0, "access_links": 2.0,
			"keys": 1.0, "events_this_month": 0.0},
	}, got)
	_, err := f.db.Unscoped().Exec(t.Context(),
		"INSERT INTO event_usage (account_id, month, events, event_limit) VALUES ($1, date_trunc('month', now() AT TIME ZONE 'UTC'), 7, 100)", u.account)
	require.NoError(t, err)
	counted, err := u.Account(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 7, counted.Usage.EventsThisMonth)
	require.EqualValues(t, 100, *counted.Limits.EventsPerMonth)
	a, err := team.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, "team", a.Plan)
	require.Nil(t, a.Limits.GenericLinks)
	require.Zero(t, a.Usage.GenericLinks)
}

func TestKeys(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	r := u.post(t, keysPath, `{"name":"for the site","scopes":["write","read"]}`)
	require.Equal(t, http.StatusCreated, r.status)
	made := r.object(t)
	id, text := made["id"].(string), made["key"].(string)
	require.Equal(t, keysPath+"/"+id, r.header.Get("Location"))
	require.Regexp(t, "^lsk_[0-9A-Za-z]{38}$", text)
	shown := map[string]any{
		"id": id, "name": "for the site", "prefix": text[:12], "scopes": []any{"read", "write"},
		"created_by": u.keyID.String(),
		"created_at": made["created_at"], "expires_at": nil, "last_used_at": nil,
	}
	list := u.get(t, keysPath)
	require.Equal(t, shown, list.object(t)["data"].([]any)[0])
	require.NotContains(t, list.body, text)
	require.Contains(t, list.body, `"total":2`)
	require.NotContains(t, f.dump(t), text, "only a hash is stored")
	require.NotContains(t, f.log.String(), text)

	made["scopes"] = []any{"read", "write"}
	second := &user{clienttest.New(client.Config{URL: f.url, Key: text, HTTP: f.http}), f,
		u.account, uuid.MustParse(id), text}
	require.Equal(t, 200, second.get(t, linksPath).status)
	require.Equal(t, http.StatusNoContent, u.remove(t, keysPath+"/"+id).status)
	require.Equal(t, problem.NotFound, u.remove(t, keysPath+"/"+id).problem(t).Code)
	require.NotContains(t, u.get(t, keysPath).body, id)
	require.Eventually(t, func() bool { return second.get(t, linksPath).status == http.StatusUnauthorized },
		testTimeout, 5*time.Millisecond)

	// Whoever runs the installation still sees it.
	all, err := f.accounts.Keys(t.Context(), u.account)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Nil(t, all[0].RevokedAt)
	require.Nil(t, all[0].CreatedBy)
	require.NotNil(t, all[1].RevokedAt)
	require.Equal(t, u.keyID, *all[1].CreatedBy)
	require.Equal(t, []auth.Scope{auth.Read, auth.Write}, all[1].Scopes)
	_, err = f.accounts.Keys(t.Context(), uuid.New())
	require.ErrorIs(t, err, account.ErrUnknown)
	accounts, err := f.accounts.List(t.Context())
	require.NoError(t, err)
	own := slices.IndexFunc(accounts, func(a account.Info) bool { return a.ID == u.account })
	require.Equal(t, account.Free, accounts[own].Plan)

	for body, field := range map[string]string{
		`{}`: "name scopes", `{"name":"x"}`: "scopes", `{"name":"x","scopes":[]}`: "scopes",
		`{"name":"x","scopes":["admin"]}`:       "scopes[0]",
		`{"name":"x","scopes":["read","read"]}`: "scopes[1]", `{"name":"x","scopes":["read","write","read"]}`: "scopes[2]",
		`{"name":"x","scopes":["read","write","leads","webhooks","keys","people","people:privacy","read"]}`: "scopes",
		`{"name":" ","scopes":["read"]}`: "name",
		`{"name":"x","scopes":"read"}`:   "scopes", `{"name":"x","scopes":["read"],"key":"lsk_"}`: "key",
		`{"name":"x","scopes":["read"],"hash":"x"}`:                     "hash",
		`{"name":"x","scopes":["read"],"expires_at":"soon"}`:            "expires_at",
		`{"name":"x","scopes":["read"],"expires_at":"2020-01-01"}`:      "expires_at",
		`{"name":"` + strings.Repeat("x", 101) + `","scopes":["read"]}`: "name",
	} {
		p := u.post(t, keysPath, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
}

// A key makes no key that can do more than itself, or works longer.
func TestKeysDoNotGrow(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	reader, maker := f.userOf(t, u.account, auth.Read, auth.Write), f.userOf(t, u.account, auth.Write, auth.Keys)
	before := f.dump(t, u.account)
	for _, scopes := range []string{`["read"]`, `["read","write"]`, `["write","leads"]`, `["webhooks"]`} {
		require.Equal(t, problem.Forbidden, maker.post(t, keysPath, `{"name":"x","scopes":`+scopes+`}`).problem(t).Code)
		require.Equal(t, problem.Forbidden, reader.post(t, keysPath, `{"name":"x","scopes":`+scopes+`}`).problem(t).Code)
	}
	require.Equal(t, problem.Forbidden, reader.remove(t, keysPath+"/"+maker.keyID.String()).problem(t).Code)
	require.Equal(t, problem.Forbidden, reader.get(t, keysPath).problem(t).Code)
	require.Equal(t, before, f.dump(t, u.account))
	key, err := maker.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"write"}})
	require.NoError(t, err)
	made := clienttest.New(client.Config{URL: f.url, Key: key.Text, HTTP: f.http})
	_, err = made.Account(t.Context())
	require.True(t, problem.Is(err, problem.Forbidden))
	_, err = made.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "x"})
	require.NoError(t, err)

	ends := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	brief := f.userUntil(t, u.account, ends)
	later := ends.Add(time.Second)
	_, err = brief.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read"}, ExpiresAt: &later})
	require.ErrorContains(t, err, "expires_at")
	inherited, err := brief.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read"}})
	require.NoError(t, err)
	require.Equal(t, ends, *inherited.ExpiresAt)
	sooner := ends.Add(-time.Minute)
	shorter, err := brief.CreateKey(t.Context(),
		clienttest.NewKey{Name: "x", Scopes: []string{"read"}, ExpiresAt: &sooner})
	require.NoError(t, err)
	require.Equal(t, sooner, *shorter.ExpiresAt)
}

// userUntil is userOf with a key that expires.
func (f *fixture) userUntil(t *testing.T, account uuid.UUID, ends time.Time) *user {
	t.Helper()
	key, err := f.accounts.CreateExpiringKey(t.Context(), account, "test", &ends, auth.Scopes()...)
	require.NoError(t, err)
	return &user{clienttest.New(client.Config{URL: f.url, Key: key.Text, HTTP: f.http}), f, account, key.ID, key.Text}
}

// A key that has expired is refused, and counts no more.
func TestExpiredKey(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	brief := f.userUntil(t, u.account, time.Now().Add(time.Hour))
	require.Equal(t, 200, brief.get(t, "/api/v1/account").status)
	_, err := f.db.Unscoped().Exec(t.Context(),
		"UPDATE api_keys SET expires_at = clock_timestamp() - interval '1 ms' WHERE id = $1", brief.keyID)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return brief.get(t, "/api/v1/account").status == http.StatusUnauthorized },
		testTimeout, 5*time.Millisecond)
	a, err := u.Account(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, a.Usage.Keys)
	require.NotContains(t, u.get(t, keysPath).body, brief.keyID.String())
	require.Equal(t, problem.NotFound, u.remove(t, keysPath+"/"+brief.keyID.String()).problem(t).Code)
}

// With a key go the keys that were made with it, and the keys that were made with those; others
// stay.
func TestRevokingCascades(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	made := func(by *user) *user {
		key, err := by.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read", "keys"}})
		require.NoError(t, err)
		return &user{clienttest.New(client.Config{URL: f.url, Key: key.Text, HTTP: f.http}), f, u.account,
			uuid.MustParse(key.ID), key.Text}
	}
	ends := func(refused ...*user) {
		t.Helper()
		for _, k := range refused {
			require.Eventually(t, func() bool { return k.get(t, linksPath).status == http.StatusUnauthorized },
				testTimeout, 5*time.Millisecond)
		}
	}
	stolen := made(u)
	child := made(stolen)
	grandchild, sibling := made(child), made(u)
	require.NoError(t, u.RevokeKey(t.Context(), stolen.keyID.String()))
	ends(stolen, child, grandchild)
	require.Equal(t, 200, sibling.get(t, linksPath).status)

	// The command of whoever runs the installation does so too, also where the key itself was revoked
	// before.
	parent := made(u)
	heir := made(parent)
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE api_keys SET revoked_at = now() WHERE id = $1", parent.keyID)
	require.NoError(t, err)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), parent.keyID))
	ends(parent, heir)
	require.Equal(t, 200, u.get(t, linksPath).status)
	require.ErrorIs(t, f.accounts.RevokeKey(t.Context(), uuid.New()), account.ErrUnknown)
}

// What opens a document, and what writes events, is shown only to keys that may have it.
func TestAccessLinkShowsWhatTheKeyAllows(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	l := u.accessLink(t, u.magnet(t).ID)
	path := accessPath + "/" + l.ID
	reader, leads, writer := f.userOf(t, u.account, auth.Read), f.userOf(t, u.account, auth.Read, auth.Leads),
		f.userOf(t, u.account, auth.Read, auth.Write)

	for _, p := range []string{path, accessPath} {
		refused := reader.get(t, p)
		require.Equal(t, problem.Forbidden, refused.problem(t).Code)
		require.NotContains(t, refused.body, "jo@example.com")
		shown := leads.get(t, p).body
		require.Contains(t, shown, "jo@example.com")
		require.Contains(t, shown, l.URL)
		require.Contains(t, shown, `"tracking_token":null`)
	}
	require.Equal(t, problem.Forbidden, leads.post(t, path+"/preview", "").problem(t).Code)
	require.Equal(t, problem.Forbidden, writer.post(t, path+"/preview", "").problem(t).Code)
	changed := writer.patch(t, path, `{"max_views":3}`).object(t)
	require.Nil(t, changed["email"])
	require.Nil(t, changed["url"])
	require.Equal(t, l.TrackingToken, changed["tracking_token"])
	require.Equal(t, problem.Forbidden,
		writer.patch(t, "/api/v1/account", `{"notify_email":"me@example.com"}`).problem(t).Code)
	require.Equal(t, 200, writer.patch(t, "/api/v1/account", `{"notify":"daily"}`).status)
}

// However many keys are asked for at once, there are at most a hundred; and a key that is being
// revoked leaves none behind.
func TestConcurrentKeys(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	var wg sync.WaitGroup
	var made sync.Map
	for range 8 {
		wg.Go(func() {
			for range 15 {
				key, err := u.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read"}})
				if err != nil {
					if !problem.Is(err, problem.LimitReached) {
						t.Error(err)
					}
					continue
				}
				made.Store(key.ID, key)
			}
		})
	}
	wg.Wait()
	a, err := u.Account(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 100, a.Usage.Keys)
	page, err := u.Keys(t.Context(), client.Paging{PerPage: 100})
	require.NoError(t, err)
	require.EqualValues(t, 100, page.Pagination.Total)

	thief := f.userOf(t, f.user(t, account.Free).account)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			if _, err := thief.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read"}}); problem.Is(err,
				problem.Unauthorized) {
				return
			}
		}
	}()
	require.NoError(t, f.accounts.RevokeKey(t.Context(), thief.keyID))
	var at time.Time
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&at))
	<-done
	var late int
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM api_keys WHERE created_by = $1 AND created_at > $2", thief.keyID, at).Scan(&late))
	require.Zero(t, late)
}
