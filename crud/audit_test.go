package crud_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
)

// entry is one of the audit log.
type entry struct {
	action, actor, request string
	object, key            *uuid.UUID
}

func (f *fixture) audited(t *testing.T, of uuid.UUID) (all []entry) {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(),
		"SELECT action, actor, request_id, object_id, key_id FROM audit_log WHERE account_id = $1 ORDER BY id", of)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var e entry
		require.NoError(t, rows.Scan(&e.action, &e.actor, &e.request, &e.object, &e.key))
		all = append(all, e)
	}
	require.NoError(t, rows.Err())
	return all
}

// Every operation that changes something leaves one entry with its object, as does every export of
// personal data. Reading leaves none, nor does what is refused.
func TestEveryChangeIsRecorded(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	stranger := f.user(t, account.Team)
	created := regexp.MustCompile(`^\{"id":"([0-9a-f-]{36})"`)
	recorded := map[string]bool{}
	for _, o := range operations(t, u) {
		before := f.audited(t, u.account)
		if strings.Contains(f.described()[o.id].Path, "{") {
			require.GreaterOrEqual(t, stranger.run(t, o).status, 400)
			require.Empty(t, f.audited(t, stranger.account), o.id)
		}
		r := u.run(t, o)
		require.Less(t, r.status, 300, "%s: %s", o.id, r.body)
		after := f.audited(t, u.account)
		reads := o.method == "GET" && !strings.HasPrefix(o.id, "export-") || strings.HasPrefix(o.id, "preview-")
		if reads {
			require.Len(t, after, len(before), o.id)
			continue
		}
		require.Len(t, after, len(before)+1, o.id)
		last := after[len(after)-1]
		require.Equal(t, o.id, last.action)
		require.Equal(t, "test", last.actor, "the name of the key")
		require.Equal(t, u.keyID, *last.key)
		require.Equal(t, r.header.Get("X-Request-Id"), last.request)
		switch id := created.FindStringSubmatch(r.body); {
		case r.status == 201 && id != nil:
			require.Equal(t, id[1], last.object.String(), o.id)
		case strings.Contains(o.path, "/account"):
			require.Nil(t, last.object, o.id)
		case o.id == "export-person": // the person, by a keyed hash of the address
			require.Contains(t, r.body, `"person_id":"`+last.object.String()+`"`)
		default:
			require.NotNil(t, last.object, o.id)
			require.Contains(t, o.path, last.object.String())
		}
		recorded[o.id] = true
	}
	require.Greater(t, len(recorded), 20)

	reader := f.userOf(t, u.account, auth.People)
	page := reader.get(t, "/api/v1/audit-log?action=create-key").object(t)
	first := page["data"].([]any)[0].(map[string]any)
	require.Equal(t, "create-key", first["action"])
	require.EqualValues(t, 2, page["pagination"].(map[string]any)["total"])
	u.namesObjects(t, stranger)
}

// namesObjects tells of the audit log of a user who has run every operation that an entry names its
// object as it is called now, if the key may read that. One that is gone has an id and no more.
func (u *user) namesObjects(t *testing.T, stranger *user) {
	t.Helper()
	f := u.fixture
	named := func(by *user, action string) map[string]any {
		t.Helper()
		list := by.get(t, "/api/v1/audit-log?action="+action).object(t)["data"].([]any)
		require.NotEmpty(t, list, action)
		entry := list[0].(map[string]any)
		object, _ := entry["object"].(map[string]any)
		return object
	}
	of := func(kind, name string) map[string]any { return map[string]any{"type": kind, "name": name} }
	for action, want := range map[string]map[string]any{
		"create-lead-magnet": of("lead_magnet", "x"), "update-lead-magnet": of("lead_magnet", "y"),
		"upload-lead-magnet-file": of("lead_magnet", "y"),
		"create-access-link":      of("access_link", "jo@example.com"), "create-share": of("share", "team"),
		"create-utm-template": of("utm_template", "webinar"),
		"create-webhook":      of("webhook", "https://example.com/"), "test-webhook": of("webhook", "http://127.0.0.1:9/"),
		"create-invitation": of("invitation", "eve@example.com"), "update-account": nil, "export-person": nil,
		"delete-lead-magnet": nil, "delete-submission": nil, "delete-webhook": nil, "remove-user": nil, "revoke-share": nil,
	} {
		object := named(u, action)
		if want == nil {
			require.Nil(t, object, action)
			continue
		}
		delete(object, "parent_id")
		require.Equal(t, want, object, action)
	}
	require.Equal(t, "generic_link", named(u, "create-generic-link")["type"])
	require.NotEmpty(t, named(u, "create-generic-link")["name"])
	require.NotNil(t, named(u, "create-share")["parent_id"])
	require.Equal(t, "key", named(u, "revoke-key")["type"], "a key that is revoked is still known by its prefix")
	require.NotEmpty(t, named(u, "revoke-key")["name"])
	require.Equal(t, "user", named(u, "update-user")["type"])
	require.Contains(t, named(u, "update-user")["name"], "@example.com")

	// A key is shown no name that it could not read elsewhere.
	reader := f.userOf(t, u.account, auth.People)
	for _, action := range []string{"update-lead-magnet", "create-access-link", "create-webhook", "revoke-key"} {
		object := named(reader, action)
		require.NotEmpty(t, object["type"], action)
		require.Nil(t, object["name"], action)
	}
	require.Equal(t, "eve@example.com", named(reader, "create-invitation")["name"])

	// An entry of another account that has the id of an object of this one has no name.
	var magnet uuid.UUID
	for _, e := range f.audited(t, u.account) {
		if e.action == "update-lead-magnet" {
			magnet = *e.object
		}
	}
	_, err := f.db.Unscoped().Exec(t.Context(),
		"INSERT INTO audit_log (id, account_id, action, object_id, actor, request_id) VALUES ($1, $2, 'update-lead-magnet', $3, '', '')",
		uuid.New(), stranger.account, magnet)
	require.NoError(t, err)
	require.Nil(t, named(stranger, "update-lead-magnet"))
}
