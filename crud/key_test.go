package crud_test

import (
	"net/http"
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
		"brand_color": nil, "notify": "each", "notify_email": nil,
		"limits": map[string]any{"generic_links": 3.0, "keys": 100.0},
		"usage":  map[string]any{"lead_magnets": 1.0, "generic_links": 1.0, "access_links": 2.0, "keys": 1.0},
	}, got)
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
		"id": id, "name": "for the site", "prefix": text[:12], "scopes": []any{"read", "write"}, "created_by": u.keyID.String(),
		"created_at": made["created_at"], "last_used_at": nil,
	}
	list := u.get(t, keysPath)
	require.Equal(t, shown, list.object(t)["data"].([]any)[0])
	require.NotContains(t, list.body, text)
	require.Contains(t, list.body, `"total":2`)
	require.NotContains(t, f.dump(t), text, "only a hash is stored")
	require.NotContains(t, f.log.String(), text)

	made["scopes"] = []any{"read", "write"}
	second := &user{client.New(f.url, text, f.http), f, u.account, uuid.MustParse(id), text}
	require.Equal(t, 200, second.get(t, linksPath).status)
	require.Equal(t, http.StatusNoContent, u.remove(t, keysPath+"/"+id).status)
	require.Equal(t, problem.NotFound, u.remove(t, keysPath+"/"+id).problem(t).Code)
	require.NotContains(t, u.get(t, keysPath).body, id)
	require.Eventually(t, func() bool { return second.get(t, linksPath).status == http.StatusUnauthorized }, patience, 5*time.Millisecond)

	// Whoever runs the installation still sees it.
	all, err := f.accounts.Keys(t.Context(), u.account)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Nil(t, all[0].RevokedAt)
	require.Nil(t, all[0].CreatedBy)
	require.NotNil(t, all[1].RevokedAt)
	require.Equal(t, u.keyID, *all[1].CreatedBy)
	require.Equal(t, auth.Scopes(), all[1].Scopes)
	_, err = f.accounts.Keys(t.Context(), uuid.New())
	require.ErrorIs(t, err, account.ErrUnknown)
	accounts, err := f.accounts.List(t.Context())
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	require.Equal(t, account.Free, accounts[0].Plan)

	for body, field := range map[string]string{
		`{}`: "name scopes", `{"name":"x"}`: "scopes", `{"name":"x","scopes":[]}`: "scopes", `{"name":"x","scopes":["admin"]}`: "scopes[0]",
		`{"name":"x","scopes":["read","read"]}`: "scopes[1]", `{"name":"x","scopes":["read","write","read"]}`: "scopes", `{"name":" ","scopes":["read"]}`: "name",
		`{"name":"x","scopes":"read"}`: "scopes", `{"name":"x","scopes":["read"],"key":"lsk_"}`: "key", `{"name":"x","scopes":["read"],"hash":"x"}`: "hash",
		`{"name":"` + strings.Repeat("x", 101) + `","scopes":["read"]}`: "name",
	} {
		p := u.post(t, keysPath, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
}

// A key makes no key that can do more than itself.
func TestKeysDoNotGrow(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	reader, writer := f.userOf(t, u.account, auth.Read), f.userOf(t, u.account, auth.Write)
	before := f.dump(t)
	for _, scopes := range []string{`["read"]`, `["read","write"]`} {
		require.Equal(t, problem.Forbidden, writer.post(t, keysPath, `{"name":"x","scopes":`+scopes+`}`).problem(t).Code)
		require.Equal(t, problem.Forbidden, reader.post(t, keysPath, `{"name":"x","scopes":`+scopes+`}`).problem(t).Code)
	}
	require.Equal(t, problem.Forbidden, reader.remove(t, keysPath+"/"+writer.keyID.String()).problem(t).Code)
	require.Equal(t, before, f.dump(t))
	key, err := writer.CreateKey(t.Context(), client.NewKey{Name: "x", Scopes: []string{"write"}})
	require.NoError(t, err)
	made := client.New(f.url, key.Text, f.http)
	_, err = made.Account(t.Context())
	require.True(t, problem.Is(err, problem.Forbidden))
	_, err = made.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "x"})
	require.NoError(t, err)
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
				key, err := u.CreateKey(t.Context(), client.NewKey{Name: "x", Scopes: []string{"read"}})
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
			if _, err := thief.CreateKey(t.Context(), client.NewKey{Name: "x", Scopes: []string{"read"}}); problem.Is(err, problem.Unauthorized) {
				return
			}
		}
	}()
	require.NoError(t, f.accounts.RevokeKey(t.Context(), thief.keyID))
	var at time.Time
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&at))
	<-done
	var late int
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT count(*) FROM api_keys WHERE created_by = $1 AND created_at > $2", thief.keyID, at).Scan(&late))
	require.Zero(t, late)
}
