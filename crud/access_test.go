package crud_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/pdf/pdftest"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// operation is one request that would succeed.
type operation struct {
	method, path, body, kind string
	scope                    auth.Scope
}

// operations returns every operation with ids of things that u has.
func operations(t *testing.T, u *user) []operation {
	t.Helper()
	m := u.magnet(t)
	_, err := u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(pdftest.New(1, 0)))
	require.NoError(t, err)
	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
	require.NoError(t, err)
	access, err := u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: m.ID, Email: "jo@example.com"})
	require.NoError(t, err)
	const jsonType = "application/json"
	return []operation{
		{"POST", "/api/v1/lead-magnets", `{"title":"x"}`, jsonType, auth.Write},
		{"GET", "/api/v1/lead-magnets", "", "", auth.Read},
		{"GET", "/api/v1/lead-magnets/" + m.ID, "", "", auth.Read},
		{"PUT", "/api/v1/lead-magnets/" + m.ID + "/file", string(pdftest.New(1, 0)), "application/pdf", auth.Write},
		{"GET", "/api/v1/lead-magnets/" + m.ID + "/file", "", "", auth.Read},
		{"POST", linksPath, `{"lead_magnet_id":"` + m.ID + `"}`, jsonType, auth.Write},
		{"GET", linksPath, "", "", auth.Read},
		{"GET", linksPath + "/" + link.ID, "", "", auth.Read},
		{"POST", accessPath, `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com"}`, jsonType, auth.Write},
		{"GET", accessPath, "", "", auth.Read},
		{"GET", accessPath + "/" + access.ID, "", "", auth.Read},
	}
}

func (u *user) run(t *testing.T, o operation, header ...string) reply {
	t.Helper()
	if o.kind != "" {
		header = append([]string{"Content-Type", o.kind}, header...)
	}
	return u.send(t, o.method, o.path, strings.NewReader(o.body), header...)
}

// Every operation asks for a good key with the right scope, and shows nothing of other accounts.
func TestEveryOperationIsGuarded(t *testing.T) {
	t.Parallel()
	f := start(t)
	owner, stranger := f.user(t, account.Team), f.user(t, account.Team)
	reader, writer := f.userOf(t, owner.account, auth.Read), f.userOf(t, owner.account, auth.Write)
	revoked := f.userOf(t, owner.account)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), revoked.keyID))
	typo := *owner
	typo.key = owner.key[:len(owner.key)-1] + "-"
	flipped := []byte(owner.key)
	flipped[10] ^= 1
	mistyped := *owner
	mistyped.key = string(flipped)
	unknown := *owner
	unknown.key = auth.NewKey().Text
	for _, o := range operations(t, owner) {
		require.Less(t, owner.run(t, o).status, 300, "%s %s", o.method, o.path)
		for _, u := range []*user{revoked, &typo, &mistyped, &unknown} {
			r := u.run(t, o)
			require.Equal(t, problem.Unauthorized, r.problem(t).Code, "%s %s", o.method, o.path)
			require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
		}
		require.Equal(t, problem.Unauthorized, owner.run(t, o, "Authorization", "").problem(t).Code)
		scoped, other := reader, writer
		if o.scope == auth.Write {
			scoped, other = writer, reader
		}
		require.Less(t, scoped.run(t, o).status, 300, "%s %s", o.method, o.path)
		require.Equal(t, problem.Forbidden, other.run(t, o).problem(t).Code, "%s %s", o.method, o.path)

		r := stranger.run(t, o)
		switch {
		case strings.Contains(o.body, "lead_magnet_id"):
			require.Equal(t, problem.InvalidLeadMagnet, r.problem(t).Code)
		case strings.Count(o.path, "/") > 3:
			require.Equal(t, problem.NotFound, r.problem(t).Code, "%s %s", o.method, o.path)
		case o.method == "GET":
			require.Contains(t, r.body, `"total":0`, "%s %s", o.method, o.path)
			require.Contains(t, r.body, `"data":[]`)
		}
		if o.method == "POST" && o.path == "/api/v1/lead-magnets" {
			_, err := f.db.Unscoped().Exec(t.Context(), "DELETE FROM lead_magnets WHERE account_id = $1", stranger.account)
			require.NoError(t, err)
		}
	}
}

// Bad input in every position gets its documented answer.
func TestEveryOperationWithBadInput(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	for _, o := range operations(t, u) {
		name := o.method + " " + o.path
		query := "?"
		p := u.run(t, operation{o.method, o.path + query + "colour=red", o.body, o.kind, o.scope}).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, name)
		require.Equal(t, "colour", fields(p), name)
		for _, bad := range []string{"a=%zz", "page=1;page=2", "%00=1", "%ff=1"} {
			p := u.run(t, operation{o.method, o.path + query + bad, o.body, o.kind, o.scope}).problem(t)
			require.Equal(t, problem.InvalidParameter, p.Code, name+bad)
		}
		r := u.run(t, operation{"DELETE", o.path + "/x/y", "", "", o.scope})
		require.Equal(t, problem.NotFound, r.problem(t).Code, name)
		r = u.run(t, operation{"TRACE", o.path, "", "", o.scope})
		require.Equal(t, problem.MethodNotAllowed, r.problem(t).Code, name)
		require.Contains(t, r.header.Get("Allow"), o.method)
		if id := strings.Split(o.path, "/"); len(id) > 4 {
			for _, bad := range []string{"1", "x", "%00", "%ff", "%2e%2e", "'; DROP TABLE accounts", uuid.NewString(), strings.ToUpper(id[4]) + "0", "{" + id[4] + "}", strings.ReplaceAll(id[4], "-", "")} {
				path := strings.Replace(o.path, id[4], strings.NewReplacer(" ", "%20", "{", "%7B", "}", "%7D").Replace(bad), 1)
				p := u.run(t, operation{o.method, path, o.body, o.kind, o.scope}).problem(t)
				require.Equal(t, problem.NotFound, p.Code, o.method+" "+path)
			}
		}
		if o.kind != "application/json" {
			continue
		}
		for kind, code := range map[string]problem.Code{
			"": problem.UnsupportedMediaType, "text/plain": problem.UnsupportedMediaType, "application/pdf": problem.UnsupportedMediaType,
		} {
			p := u.send(t, o.method, o.path, strings.NewReader(o.body), "Content-Type", kind).problem(t)
			require.Equal(t, code, p.Code, name)
		}
		for body, code := range map[string]problem.Code{
			"":              problem.InvalidJSON,
			"[":             problem.InvalidJSON,
			"\x00":          problem.InvalidJSON,
			o.body + o.body: problem.InvalidJSON,
			strings.Replace(o.body, "{", `{"title":"x","title":"y",`, 1): problem.InvalidJSON,
			strings.Replace(o.body, ":\"", ":\"\xff", 1):                 problem.InvalidJSON,
			strings.Replace(o.body, ":\"", `:"\udead`, 1):                problem.InvalidJSON,
			strings.Repeat(`{"a":`, 100_000):                             problem.InvalidJSON,
			"[]":                                                         problem.ValidationError,
			`"x"`:                                                        problem.ValidationError,
			"7":                                                          problem.ValidationError,
			"null":                                                       problem.ValidationError,
			"{}":                                                         problem.ValidationError,
			strings.Replace(o.body, "{", `{"surprise":[[[1]]],`, 1): problem.ValidationError,
			strings.Replace(o.body, "{", `{"":1,`, 1):               problem.ValidationError,
			`{"title":"` + strings.Repeat("x", 2<<20) + `"}`:        problem.PayloadTooLarge,
		} {
			p := u.post(t, o.path, body).problem(t)
			require.Equal(t, code, p.Code, "%s %.60q %s", name, body, p.Detail)
		}
	}
}

// While links are being added, the total of a page and what the page shows belong to one moment.
func TestListIsOneSnapshot(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	done := make(chan error, 1)
	go func() {
		for range 60 {
			if _, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		page, err := u.GenericLinks(t.Context(), client.GenericLinkFilter{Paging: client.Paging{PerPage: 100}})
		require.NoError(t, err)
		require.EqualValues(t, len(page.Data), page.Pagination.Total)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

// A revoked key stops soon, also where it was used just before (package auth tests how soon).
func TestRevokedKey(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	require.Equal(t, 200, u.get(t, linksPath).status)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), u.keyID))
	require.Eventually(t, func() bool { return u.get(t, linksPath).status == http.StatusUnauthorized }, 10*time.Second, 5*time.Millisecond)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), u.keyID))
	require.ErrorIs(t, f.accounts.RevokeKey(t.Context(), uuid.New()), account.ErrUnknown)
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.accounts.Create(t.Context(), "x", "gold")
	require.ErrorContains(t, err, "gold")
	_, err = f.accounts.Create(t.Context(), " ", account.Free)
	require.Error(t, err)
	_, err = f.accounts.CreateKey(t.Context(), uuid.New(), "k", auth.Read)
	require.ErrorIs(t, err, account.ErrUnknown)
	u := f.user(t, account.Free)
	_, err = f.accounts.CreateKey(t.Context(), u.account, "k")
	require.Error(t, err)
	_, err = f.accounts.CreateKey(t.Context(), u.account, "k", "admin")
	require.Error(t, err)
	var stored string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT api_keys::text FROM api_keys").Scan(&stored))
	require.NotContains(t, stored, u.key[12:], "only the beginning of a key is kept")
	require.Contains(t, stored, u.key[:12])
}
