package crud_test

import (
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/person"
)

// Links and submissions that the owner deleted before an erasure are the person's still: their
// events are blanked. Those of others, and of the same person in another account, are not.
func TestErasingReachesWhatTheOwnerDeleted(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	noted := func() (ids []string) {
		t.Helper()
		rows, err := f.db.Unscoped().Query(t.Context(), "SELECT id::text FROM erased_links ORDER BY id")
		require.NoError(t, err)
		ids, err = pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return ids
	}
	m := u.file(t)
	made := u.links(t, m, "Ada@example.com", "bob@example.com")
	for _, l := range append(made, other.links(t, other.magnet(t).ID, "ada@example.com")...) {
		owner := u
		if l.ID != made[0].ID && l.ID != made[1].ID {
			owner = other
		}
		require.NoError(t, owner.DeleteAccessLink(t.Context(), l.ID))
	}
	link := u.link(t, m)
	f.fillIn(t, link.Slug, "ada@example.com") // a submission, its link, and that of its mail
	require.NoError(t, u.DeleteLeadMagnet(t.Context(), m, true))
	require.NotContains(t, f.table(t, "deleted_links"), "@") // ids and hashes have none
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"ADA@example.com"}`).status)
	require.Len(t, noted(), 4)
	require.Contains(t, noted(), made[0].ID)
	require.NotContains(t, noted(), made[1].ID)
	require.Equal(t, 2, f.count(t, "deleted_links")) // of the other person, and of the other account
	require.NoError(t, person.DeleteAccount(t.Context(), f.db, openLog(t, t.TempDir()), other.account))
	require.Equal(t, 1, f.count(t, "deleted_links"))
}
