package crud_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/person"
	people "lodestone/crud/user"
	"lodestone/pkg/auth"
)

// revoked runs what writes revocations until all are on record in a log, and returns the paths of
// its entries.
func (f *fixture) revoked(t *testing.T, log string) []string {
	t.Helper()
	f.replay(t) // nothing is written before
	record := f.service.Revocations()
	require.NoError(t, record.Start(t.Context()))
	require.Eventually(t, func() bool { return f.count(t, "revocations") == 0 }, testTimeout, 10*time.Millisecond)
	require.NoError(t, record.Stop(t.Context()))
	entries, err := filepath.Glob(filepath.Join(log, "revoked", "*.json"))
	require.NoError(t, err)
	return entries
}

// restorable are tables in the order in which their references allow rows to be inserted.
var restorable = []string{"accounts", "lead_magnets", "generic_links", "access_links"}

// backUp copies the restorable tables. The function that it returns brings them back as a restore
// does, which forgets all that came later.
func (f *fixture) backUp(t *testing.T) (restore func()) {
	t.Helper()
	sql := func(text string) {
		t.Helper()
		_, err := f.db.Unscoped().Exec(t.Context(), text)
		require.NoError(t, err)
	}
	sql("CREATE SCHEMA backup")
	for _, table := range restorable {
		sql("CREATE TABLE backup." + table + " AS SELECT * FROM " + table)
	}
	return func() {
		t.Helper()
		for _, table := range restorable {
			sql("INSERT INTO " + table + " SELECT * FROM backup." + table)
		}
		sql("DELETE FROM revocations; UPDATE revocation_log SET newest = ''; DELETE FROM erasures")
	}
}

// The deletion of a large account takes several entries of the record, and the first of these has
// the lead magnets and a part of the links. A database of before is served again all the same, also
// if the site was lost before the other entries were written.
func TestALargeAccountStaysDeletedAfterARestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m, kept := u.magnet(t), other.magnet(t)
	u.link(t, m.ID)
	other.accessLink(t, kept.ID)
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		SELECT gen_random_uuid(), $1, $2, n || '@example.com', n || '@example.com', sha256(gen_random_uuid()::text::bytea), '', 0 FROM generate_series(1, 2500) AS n`, u.account, m.ID)
	require.NoError(t, err)
	restore := f.backUp(t)
	require.NoError(t, person.DeleteAccount(t.Context(), f.db, openLog(t, dir), u.account))
	entries := f.revoked(t, dir)
	require.Len(t, entries, 3)
	for _, written := range []int{3, 1} {
		for _, lost := range entries[written:] {
			require.NoError(t, os.Remove(lost))
		}
		_, err = f.db.Unscoped().Exec(t.Context(), "DELETE FROM accounts")
		require.NoError(t, err)
		restore()
		require.Equal(t, 2501, f.count(t, "access_links"))
		f.replay(t)
		require.Equal(t, 1, f.count(t, "accounts"))
		require.Equal(t, 1, f.count(t, "lead_magnets"))
		require.Equal(t, 1, f.count(t, "access_links"))
	}
}

// Whoever may write to the place of the log may put other files there.
func TestAForeignFileAmongRevocations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	gone := u.accessLink(t, u.magnet(t).ID)
	restore := f.backUp(t)
	require.NoError(t, u.DeleteAccessLink(t.Context(), gone.ID))
	require.Len(t, f.revoked(t, dir), 1)
	for _, name := range []string{"notes", "20260102T150405Z", "99999999T999999.000000000Z"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "revoked", name+".json"), []byte("of someone else"), 0o600))
	}
	_, err := f.db.Unscoped().Exec(t.Context(), "DELETE FROM accounts")
	require.NoError(t, err)
	restore()
	f.replay(t)
	require.Zero(t, f.count(t, "access_links"))
	require.Equal(t, 1, f.count(t, "lead_magnets"))
}

// A passkey that was removed signs in no more, also after a restore of a database that has it.
func TestARemovedPasskeyStaysRemovedAfterARestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	person, err := people.NewUsers(f.db).Add(t.Context(), u.account, "ada@example.com", auth.Owner)
	require.NoError(t, err)
	sql := func(text string, args ...any) {
		t.Helper()
		_, err := f.db.Unscoped().Exec(t.Context(), text, args...)
		require.NoError(t, err)
	}
	const restored = "INSERT INTO passkeys (id, user_id, credential_id, credential, name) VALUES ($1, $2, 'x', '{}', 'lost phone')"
	id := uuid.New()
	sql(restored, id, person)
	sql("DELETE FROM passkeys WHERE id = $1", id)
	require.Len(t, f.revoked(t, dir), 1)
	sql(restored, id, person)
	sql("UPDATE revocation_log SET newest = ''")
	f.replay(t)
	require.Zero(t, f.count(t, "passkeys"))
}
