package crud_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/person"
	"lodestone/pkg/blob"
	"lodestone/pkg/postgres"
)

// openLog returns the log of erasures in a directory.
func openLog(t *testing.T, dir string) *person.Log {
	t.Helper()
	log, err := person.OpenLog(person.Config{Log: dir}, blob.Config{})
	require.NoError(t, err)
	return log
}

// replay starts what compares the log with Postgres, which ends once it has.
func (f *fixture) replay(t *testing.T) {
	t.Helper()
	again := f.service.Erasures()
	require.NoError(t, again.Start(t.Context()))
	require.NoError(t, again.Stop(t.Context()))
}

// An account whose deletion failed once and was repeated is in the log once. Two entries, as
// earlier builds left them, do not keep crud from serving.
func TestAnAccountThatIsDeletedTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u, log := f.user(t, account.Team), openLog(t, dir)
	require.NoError(t, log.Append(t.Context(), person.Entry{Version: 1, ID: uuid.New(),
		AccountID: u.account, ErasedAt: time.Now()}))
	_, err := f.db.Unscoped().Exec(t.Context(), `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''the disk is full''; END';
		CREATE TRIGGER refuse BEFORE DELETE ON accounts FOR EACH ROW EXECUTE FUNCTION refuse()`)
	require.NoError(t, err)
	require.ErrorContains(t, person.DeleteAccount(t.Context(), f.db, log, u.account), "the disk is full")
	_, err = f.db.Unscoped().Exec(t.Context(), "DROP TRIGGER refuse ON accounts")
	require.NoError(t, err)
	require.NoError(t, person.DeleteAccount(t.Context(), f.db, log, u.account))
	entries, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, entries, 2)

	f.replay(t)
	require.Equal(t, 2, f.count(t, "erasures"))
	require.Equal(t, 1, f.count(t, "erased_links"))
	require.ErrorIs(t, person.DeleteAccount(t.Context(), f.db, log, u.account), person.ErrNoAccount)

	// A backup that has the account, and the erasure as well: it is deleted once more, and its events
	// are looked for.
	_, err = f.db.Unscoped().Exec(t.Context(), "UPDATE erasures SET blanked_at = now()")
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), "INSERT INTO accounts (id, name, plan) VALUES ($1, 'Test', 'team')",
		u.account)
	require.NoError(t, err)
	require.NoError(t, person.DeleteAccount(t.Context(), f.db, log, u.account))
	require.Zero(t, f.count(t, "accounts"))
	require.Equal(t, 1, f.count(t, "erasures WHERE blanked_at IS NULL"))
}

// An account that is deleted again after a restore leaves nothing in the statistics of Postgres
// either.
func TestStatisticsOfAnAccountThatIsDeletedAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	u.magnet(t)
	f.user(t, account.Team).magnet(t) // of an empty table, Postgres keeps the statistics that it has
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE lead_magnets SET title = 'The old title' WHERE account_id = $1",
		u.account)
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), "ANALYZE lead_magnets")
	require.NoError(t, err)
	const known = "pg_stats WHERE tablename = 'lead_magnets' AND concat(most_common_vals::text, histogram_bounds::text) LIKE '%The old title%'"
	require.Equal(t, 1, f.count(t, known))
	require.NoError(t, openLog(t, dir).Append(t.Context(), person.Entry{Version: 1, ID: u.account,
		AccountID: u.account, ErasedAt: time.Now()}))
	f.replay(t)
	require.Zero(t, f.count(t, known))
}

// A deletion that waits for a transaction that waits for it goes through all the same.
func TestAnAccountIsDeletedInSpiteOfADeadlock(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	u.magnet(t)
	var wg sync.WaitGroup
	err := f.db.Transaction(t.Context(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "UPDATE lead_magnets SET title = 'x'"); err != nil {
			return err
		}
		wg.Go(func() {
			if err := person.DeleteAccount(t.Context(), f.db, openLog(t, t.TempDir()), u.account); err != nil {
				t.Error(err)
			}
		})
		require.Eventually(t, func() bool {
			return f.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
		}, testTimeout, 10*time.Millisecond)
		_, err := tx.Exec(t.Context(), "UPDATE accounts SET name = 'x'")
		return err
	})
	require.True(t, err == nil || postgres.IsUnavailable(err), err) // Postgres may end this one instead
	wg.Wait()
	require.Zero(t, f.count(t, "accounts"))
}

// A database of a time before a person's links were made has none of them to erase. It still learns
// which they were, so that their events are blanked, wherever these come from.
func TestErasedLinksAreOnRecordWithoutTheirRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	link := u.link(t, u.file(t))
	f.fillIn(t, link.Slug, "ada@example.com")
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"ada@example.com"}`).status)
	noted := func() []string {
		t.Helper()
		rows, err := f.db.Unscoped().Query(t.Context(), "SELECT id::text FROM erased_links ORDER BY id")
		require.NoError(t, err)
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return ids
	}
	before := noted()
	require.Len(t, before, 3) // the submission, its link, and that of its mail
	_, err := f.db.Unscoped().Exec(t.Context(), "DELETE FROM erasures")
	require.NoError(t, err)
	require.Empty(t, noted())
	f.replay(t)
	require.Equal(t, before, noted())

	// What was made since is the person's own again, and a later erasure has the links of its own.
	f.fillIn(t, link.Slug, "ada@example.com")
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"ada@example.com"}`).status)
	require.Len(t, noted(), 6)
	_, err = f.db.Unscoped().Exec(t.Context(),
		"DELETE FROM erasures WHERE id = (SELECT min(id::text)::uuid FROM erasures)")
	require.NoError(t, err)
	f.replay(t)
	require.Len(t, noted(), 6)
}

// Crud reads only the entries without an erasure in Postgres. An unreadable one keeps it from
// serving, and is named; the others are repeated all the same.
func TestAnEntryThatCannotBeRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	known := u.erased(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, known+".json"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.json"), []byte("of someone else"), 0o600))
	f.replay(t)

	u.links(t, u.magnet(t).ID, "ada@example.com")
	unknown := u.erased(t)
	u.links(t, u.magnet(t).ID, "gone@example.com")
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE access_links SET created_at = '2026-01-01'")
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), "DELETE FROM erasures WHERE id = $1", unknown)
	require.NoError(t, err)
	for _, text := range []string{"", `{"version":2}`, `{"version":1,"id":"` + known + `"}`} {
		bad := filepath.Join(dir, uuid.NewString()+".json")
		require.NoError(t, os.WriteFile(bad, []byte(text), 0o600))
		started := make(chan error, 1)
		again := f.service.Erasures()
		ctx, cancel := context.WithCancel(t.Context())
		go func() { started <- again.Start(ctx) }()
		require.Eventually(t, func() bool { return strings.Contains(f.log.String(), filepath.Base(bad)) },
			testTimeout, 10*time.Millisecond)
		cancel()
		require.ErrorIs(t, <-started, context.Canceled)
		require.NoError(t, os.Remove(bad))
	}
	require.Equal(t, 1, f.count(t, "access_links"))
	require.Equal(t, 1, f.count(t, "erasures WHERE id = '"+unknown+"'"))
	f.replay(t)
}
