package crud_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// Whoever gives something away gives no more than it has, in every way that there is: each of these
// requests succeeds with the scopes that it gives and the one that it is made with, and not without
// any of them.
func TestGrantsAreBounded(t *testing.T) {
	t.Parallel()
	f := start(t)
	owner := f.user(t, account.Team)
	all := map[string]operation{}
	for _, o := range operations(t, owner) {
		all[o.id] = o
	}
	type grant struct {
		operation
		gives []auth.Scope
	}
	var grants []grant
	for _, role := range slices.Backward(auth.Roles()) { // the last owner stays one
		invite, change := all["create-invitation"], all["update-user"]
		invite.body = fmt.Sprintf(`{"email":"%s@example.com","role":%q}`, role, role)
		change.body = fmt.Sprintf(`{"role":%q}`, role)
		grants = append(grants, grant{invite, role.Scopes()}, grant{change, role.Scopes()})
	}
	for _, scope := range auth.Scopes() {
		key := all["create-key"]
		key.body = fmt.Sprintf(`{"name":"x","scopes":[%q]}`, scope)
		grants = append(grants, grant{key, []auth.Scope{scope}})
	}
	for id, gives := range map[string]auth.Scope{
		"create-share": auth.Read, "preview-access-link": auth.Leads, "create-webhook": auth.Leads,
		"update-webhook":          auth.Leads,
		"replay-webhook-delivery": auth.Leads, "get-webhook-delivery": auth.Leads, "list-webhook-deliveries": auth.Leads,
		"export-person": auth.Read, "update-person": auth.Leads,
	} {
		grants = append(grants, grant{all[id], []auth.Scope{gives}})
	}
	address := all["update-account"]
	address.body = `{"notify_email":null}`
	grants = append(grants, grant{address, []auth.Scope{auth.Leads}})
	for _, g := range grants {
		needs := append([]auth.Scope{g.scope}, g.gives...)
		for _, missing := range g.gives {
			if missing == g.scope {
				continue
			}
			lacks := f.userOf(t, owner.account,
				slices.DeleteFunc(auth.Scopes(), func(s auth.Scope) bool { return s == missing })...)
			before := f.dump(t, owner.account)
			p := lacks.run(t, g.operation).problem(t)
			require.Equal(t, problem.Forbidden, p.Code, "%s %s without %s", g.id, g.body, missing)
			require.Contains(t, p.Detail, string(missing))
			require.Equal(t, before, f.dump(t, owner.account), g.id)
		}
		slices.Sort(needs)
		r := f.userOf(t, owner.account, slices.Compact(needs)...).run(t, g.operation)
		require.Less(t, r.status, 300, "%s %s: %s", g.id, g.body, r.body)
	}
}

// An answer is given again to the key that it was given to, and to no other: one without its scopes
// learns nothing by knowing the Idempotency-Key, and one with them makes a request of its own.
func TestReplaysBelongToTheCaller(t *testing.T) {
	t.Parallel()
	f := start(t)
	owner := f.user(t, account.Team).at(t, f.service)
	f = owner.fixture
	link := owner.accessLink(t, owner.magnet(t).ID)
	preview := operation{"preview-access-link", "POST", accessPath + "/" + link.ID + "/preview", "", "", auth.Write}
	create := operation{"create-lead-magnet", "POST", "/api/v1/lead-magnets", `{"title":"x"}`,
		"application/json", auth.Write}
	first := owner.run(t, preview, "Idempotency-Key", "guide-1")
	require.Equal(t, http.StatusOK, first.status, first.body)
	again := owner.run(t, preview, "Idempotency-Key", "guide-1")
	require.Equal(t, "true", again.header.Get(api.ReplayedHeader))
	require.Equal(t, first.body, again.body)
	writer := f.userOf(t, owner.account, auth.Write)
	require.Equal(t, problem.Forbidden, writer.run(t, preview, "Idempotency-Key", "guide-1").problem(t).Code)

	made := owner.run(t, create, "Idempotency-Key", "guide-2")
	require.Equal(t, http.StatusCreated, made.status, made.body)
	other := f.userOf(t, owner.account, auth.Scopes()...)
	own := other.run(t, create, "Idempotency-Key", "guide-2")
	require.Equal(t, http.StatusCreated, own.status, own.body)
	require.Empty(t, own.header.Get(api.ReplayedHeader))
	require.NotEqual(t, made.object(t)["id"], own.object(t)["id"])
}

// The tag of a change is that of what is read afterwards, and reading under the tag of an earlier
// state is refused.
func TestTagsOfChangesAreThoseOfReading(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	// what is compressed on its way has a weak one
	tagOf := func(r reply) string { return strings.TrimPrefix(r.header.Get("ETag"), "W/") }
	for path, body := range map[string]string{
		linksPath:               `{"lead_magnet_id":"` + m.ID + `"}`,
		accessPath:              `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com"}`,
		"/api/v1/lead-magnets":  `{"title":"x"}`,
		"/api/v1/utm-templates": `{"name":"letter","source":"newsletter"}`,
		"/api/v1/webhooks":      `{"url":"https://example.com/","kinds":["link.created"]}`,
	} {
		created := u.post(t, path, body)
		require.Equal(t, http.StatusCreated, created.status, created.body)
		one := path + "/" + created.object(t)["id"].(string)
		tag := tagOf(created)
		require.Equal(t, http.StatusOK, u.send(t, "GET", one, http.NoBody, "If-Match", tag).status, path)
		require.Equal(t, http.StatusOK, u.send(t, "GET", one, http.NoBody, "If-Match", "*").status, path)
		require.Equal(t, tag, tagOf(u.send(t, "GET", one, http.NoBody)), path)
		change := map[string]string{linksPath: `{"title":"y"}`, accessPath: `{"max_views":7}`,
			"/api/v1/lead-magnets": `{"title":"y"}`, "/api/v1/utm-templates": `{"medium":"email"}`,
			"/api/v1/webhooks": `{"description":"y"}`}[path]
		changed := u.send(t, "PATCH", one, strings.NewReader(change), "Content-Type", "application/json", "If-Match", tag)
		require.Equal(t, http.StatusOK, changed.status, changed.body)
		require.NotEqual(t, tag, tagOf(changed))
		require.Equal(t, tagOf(changed), tagOf(u.send(t, "GET", one, http.NoBody)), path)
		for _, stale := range []string{tag, `"none"`, `"0-0", ` + tag} {
			require.Equal(t, http.StatusPreconditionFailed, u.send(t, "GET", one, http.NoBody, "If-Match", stale).status,
				path+stale)
		}
		require.Equal(t, http.StatusBadRequest, u.send(t, "GET", one, http.NoBody, "If-Match", "none").status)
		require.Equal(t, http.StatusNotModified, u.send(t, "GET", one, http.NoBody, "If-Match", changed.header.Get("ETag"),
			"If-None-Match", changed.header.Get("ETag")).status)
	}
}
