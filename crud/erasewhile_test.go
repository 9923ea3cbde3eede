package crud_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/person"
)

const insertLink = `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, created_at)
	VALUES ($1, $2, $3, 'ada@example.com', 'ada@example.com', sha256(gen_random_uuid()::text::bytea), '', 0, now() + $4::interval)`

// What is being written while a person is erased is waited for, and no clock decides: a row of a
// process whose clock is ahead goes as well.
func TestErasingWaitsForWriters(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u := f.user(t, account.Team)
	m := u.magnet(t).ID
	_, err := f.db.Unscoped().Exec(t.Context(), insertLink, uuid.New(), u.account, m, "1 hour")
	require.NoError(t, err)
	writer, err := f.db.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = writer.Rollback(t.Context()) }()
	_, err = writer.Exec(t.Context(), insertLink, uuid.New(), u.account, m, "0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() {
		_, err := u.ErasePerson(t.Context(), "ada@example.com")
		done <- err
	}()
	require.Eventually(t, func() bool {
		return len(done) > 0 ||
			f.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	}, testTimeout, 10*time.Millisecond)
	require.NoError(t, writer.Commit(t.Context()))
	require.NoError(t, <-done)
	require.Equal(t, 2, f.count(t, "erased_links"))
	require.Zero(t, f.count(t, "access_links"))
}

// A crud that starts finds an erasure in the log while it is being done, and repeats it first. It
// is one erasure all the same, and what was being written goes as well.
func TestErasingWhileAnotherCrudStarts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	m, before, meanwhile := u.magnet(t).ID, uuid.New(), uuid.New()
	_, err := f.db.Unscoped().Exec(t.Context(), insertLink, before, u.account, m, "0")
	require.NoError(t, err)
	writer, err := f.db.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = writer.Rollback(t.Context()) }()
	_, err = writer.Exec(t.Context(), insertLink, meanwhile, u.account, m, "0")
	require.NoError(t, err)
	var answer jsontext.Value
	done := make(chan error, 1)
	go func() {
		var err error
		answer, err = u.ErasePerson(t.Context(), "ada@example.com")
		done <- err
	}()
	require.Eventually(t, func() bool {
		return len(done) > 0 ||
			f.count(t, "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'") > 0
	}, testTimeout, 10*time.Millisecond)
	f.replay(t) // as the other one does when it starts
	require.Equal(t, 1, f.count(t, "erased_links WHERE id = '"+before.String()+"'"))
	require.NoError(t, writer.Commit(t.Context()))
	require.NoError(t, <-done)
	require.Zero(t, f.count(t, "access_links"))
	require.Equal(t, 1, f.count(t, "erasures"))
	var erased struct{ ID uuid.UUID }
	require.NoError(t, json.Unmarshal(answer, &erased))
	entry, err := openLog(t, dir).Entry(t.Context(), erased.ID)
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{before, meanwhile}, entry.Links)
}

// A row that the erasure removed is removed from a restored database, whatever its time by
// whichever clock.
func TestReplayRemovesWhatTheLogHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u := f.user(t, account.Team)
	m, removed, later := u.magnet(t).ID, uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{removed, later} {
		_, err := f.db.Unscoped().Exec(t.Context(), insertLink, id, u.account, m, "1 hour")
		require.NoError(t, err)
	}
	var who uuid.UUID
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		"SELECT person_id($1, 'ada@example.com')", u.account).Scan(&who))
	require.NoError(t, openLog(t, dir).Append(t.Context(), person.Entry{
		Version: 1, ID: uuid.New(), AccountID: u.account, PersonID: who, ErasedAt: time.Now(), Links: []uuid.UUID{removed},
	}))
	f.replay(t)
	require.Equal(t, 1, f.count(t, "access_links"))
	require.Contains(t, f.table(t, "access_links"), later.String())
}
