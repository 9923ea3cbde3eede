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
	rows, err := f.db.Unscoped().Query(t.Context(), "SELECT action, actor, request_id, object_id, key_id FROM audit_log WHERE account_id = $1 ORDER BY id", of)
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

// Every operation that changes something leaves one entry with its object, as does every export of personal data. Reading leaves none,
// nor does what is refused.
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
}
