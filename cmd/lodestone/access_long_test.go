//go:build long

package main

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/auth"
	db "lodestone/pkg/postgres"
)

// The matrix of all operations and all callers, derived from the API's own description, so that no
// operation can be left out: no key, bad ones, a revoked one, one without the scope, and another
// account with ids of the owner's things in every place that takes an id. Package crud tries more
// of it on its own operations.
func TestEveryOperationIsGuarded(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	base := u.env["LODESTONE_URL"]
	owner := asker{base, u.env["LODESTONE_API_KEY"]}
	status, body := get(t, base+"/api/v1/openapi.json", "")
	require.Equal(t, 200, status)
	var spec described
	require.NoError(t, json.Unmarshal([]byte(body), &spec))

	key := func(of asker, scopes ...string) (asker, string) {
		text, err := json.Marshal(map[string]any{"name": "matrix", "scopes": scopes})
		require.NoError(t, err)
		created := of.must(t, "POST", "/api/v1/keys", string(text))
		return asker{base, created["key"].(string)}, created["id"].(string)
	}
	without := map[string]asker{}
	for _, s := range auth.Scopes() {
		var others []string
		for _, o := range auth.Scopes() {
			if o != s {
				others = append(others, string(o))
			}
		}
		without[string(s)], _ = key(owner, others...)
	}
	revoked, id := key(owner, "read", "write")
	owner.must(t, "DELETE", "/api/v1/keys/"+id, "")

	// Another account, created by the command that operators have.
	postgres := []string{"LODESTONE_POSTGRES_URL=" + u.env["LODESTONE_POSTGRES_URL"]}
	account := launch(t, u.dir, postgres, "account", "create", "--name", "stranger", "--plan", "team")
	require.Zero(t, account.wait(), "%s", account.out)
	created := launch(t, u.dir, postgres, "key", "create", "--account", strings.TrimSpace(account.out.String()),
		"--scopes", "read,write,leads", "--scope", "webhooks,keys,people,people:privacy")
	require.Zero(t, created.wait(), "%s", created.out)
	stranger := asker{base, regexp.MustCompile(`lsk_\w{38}`).FindString(created.out.String())}
	stranger.must(t, "GET", "/api/v1/account", "")

	// One thing of the owner's of each kind, created from the example in the description.
	magnet := owner.must(t, "POST", "/api/v1/lead-magnets", `{"title":"Secret plans"}`)["id"].(string)
	things, ids := map[string]string{}, []string{magnet}
	for path, methods := range spec.Paths {
		example, isCollection := methods["post"].RequestBody.Content["application/json"]
		if _, hasThing := spec.Paths[path+"/{id}"]; !isCollection || !hasThing || strings.Contains(path, "{") {
			continue
		}
		object, ok := example.Example.(map[string]any)
		require.True(t, ok, path)
		delete(object, "slug")
		if _, refers := object["lead_magnet_id"]; refers {
			object["lead_magnet_id"] = magnet
		}
		text, err := json.Marshal(object)
		require.NoError(t, err)
		things[path] = owner.must(t, "POST", path, string(text))["id"].(string)
		ids = append(ids, things[path])
	}
	require.GreaterOrEqual(t, len(things), 4, "lead magnets, both kinds of links, keys")
	things["/api/v1/analytics/readers"] = things["/api/v1/access-links"]
	things["/api/v1/people"] = things["/api/v1/access-links"]
	pool, err := db.Open(t.Context(), db.Config{URL: u.env["LODESTONE_POSTGRES_URL"], MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	things["/api/v1/submissions"] = uuid.NewString() // visitors make them, and no page of this account is open to them
	_, err = pool.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key)
		SELECT $1, account_id, id, 'visitor@example.com', 'visitor@example.com' FROM generic_links WHERE id = $2`, things["/api/v1/submissions"], things["/api/v1/generic-links"])
	require.NoError(t, err)
	ids = append(ids, things["/api/v1/submissions"])
	things["/api/v1/erasures"] = owner.must(t, "POST", "/api/v1/people/erase",
		`{"email":"gone@example.com"}`)["id"].(string)
	ids = append(ids, things["/api/v1/erasures"])
	signedIn(t, u.env["LODESTONE_DASHBOARD_URL"])
	for _, path := range []string{"/api/v1/users", "/api/v1/sessions"} {
		first := owner.must(t, "GET", path, "")["data"].([]any)[0].(map[string]any)
		things[path] = first["id"].(string)
		ids = append(ids, things[path])
	}

	// Where an id stands, the owner's is put.
	concrete := func(path string) string {
		collection, _, _ := strings.Cut(path, "/{")
		first := true
		return parameter.ReplaceAllStringFunc(path, func(string) string {
			if thing := things[collection]; first && thing != "" {
				first = false
				return thing
			}
			require.False(t, first, "make a thing for %s", path)
			return uuid.NewString()
		})
	}
	tried := 0
	for path, methods := range spec.Paths {
		for method, op := range methods {
			method = strings.ToUpper(method)
			name := method + " " + path
			target := concrete(path)
			query := op.required(magnet)
			var text string
			if m, ok := op.RequestBody.Content["application/json"]; ok {
				object := m.Example.(map[string]any)
				if _, refers := object["lead_magnet_id"]; refers {
					object["lead_magnet_id"] = magnet
				}
				encoded, err := json.Marshal(object)
				require.NoError(t, err)
				text = string(encoded)
			}
			with := func(q url.Values) string {
				if len(q) == 0 {
					return target
				}
				return target + "?" + q.Encode()
			}
			require.NotEmpty(t, op.Security, name)
			typo := owner.key[:len(owner.key)-1] + string(owner.key[len(owner.key)-1]^1)
			for who, key := range map[string]string{
				"no key": "", "mistyped": typo, "unknown": auth.NewKey().Text, "nonsense": "x", "revoked": revoked.key,
			} {
				status, header, answer := asker{base, key}.send(t, method, with(query), text)
				require.Equal(t, 401, status, "%s %s: %s", name, who, answer)
				require.Contains(t, answer, `"unauthorized"`)
				require.Equal(t, "Bearer", header.Get("WWW-Authenticate"))
			}
			unfit := without[op.Scope]
			require.NotEmpty(t, unfit.key, "%s has the scope %q", name, op.Scope)
			status, _, answer := unfit.send(t, method, with(query), text)
			require.Equal(t, 403, status, "%s: %s", name, answer)
			require.Contains(t, answer, `"forbidden"`)

			status, _, answer = stranger.send(t, method, with(query), text)
			sent := with(query) + text
			switch {
			case strings.Contains(path, "{"):
				require.Equal(t, 404, status, "%s: %s", name, answer)
			case strings.Contains(text, magnet):
				require.Equal(t, 400, status, "%s: %s", name, answer)
				require.Contains(t, answer, `"invalid_lead_magnet"`)
			default: // it is about the stranger's own account, which may have nothing of the kind
				require.Less(t, status, 500, "%s: %s", name, answer)
				require.NotContains(t, []int{401, 403}, status, name)
			}
			showsNothing := func(answer string) {
				for _, id := range ids {
					if !strings.Contains(sent, id) {
						require.NotContains(t, answer, id, name)
					}
				}
			}
			showsNothing(answer)
			for _, p := range op.Parameters {
				if p.In != "query" || p.Schema.Format != "uuid" || strings.Contains(path, "{") {
					continue
				}
				empty, _, _ := stranger.send(t, method, with(query), text)
				require.Equal(t, 200, empty, name)
				for _, id := range ids {
					query.Set(p.Name, id)
					status, _, answer := stranger.send(t, method, with(query), text)
					if p.Name == "generic_link_id" &&
						path == "/api/v1/utm-templates" { // it does not filter: the URLs are those of the link
						require.Equal(t, 404, status, "%s %s: %s", name, p.Name, answer)
						showsNothing(answer)
						continue
					}
					require.Equal(t, 200, status, "%s %s: %s", name, p.Name, answer)
					require.Regexp(t, `"data":\[\]|"total_links":0|"step":"link_view","count":0|^id: \S+\nretry: \d+\n\n$|\A("id"|person_id),[^\n]*\n\z`, answer, "%s %s", name, p.Name)
					showsNothing(strings.ReplaceAll(answer, id, ""))
				}
				query = op.required(magnet)
			}
			tried++
		}
	}
	require.Greater(t, tried, 20)

	// Nothing of the owner's was touched by all that, and the owner's own key opens everything.
	for _, thing := range slices.Sorted(func(yield func(string) bool) {
		for path, id := range things {
			if !yield(path + "/" + id) {
				return
			}
		}
	}) {
		path := thing[:strings.LastIndexByte(thing, '/')]
		if _, readable := spec.Paths[path+"/{id}"]["get"]; readable {
			owner.must(t, "GET", thing, "")
		}
	}
	for path, methods := range spec.Paths {
		if _, reads := methods["get"]; reads && !strings.Contains(path, "{") {
			status, _, answer := without["write"].send(t, "GET", path+"?"+methods["get"].required(magnet).Encode(), "")
			require.Contains(t, []int{200, 404}, status, "%s: %s", path, answer) // a logo, say, need not be there
		}
	}
}
