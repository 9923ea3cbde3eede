package crud_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/queue"
	"lodestone/pkg/auth"
)

const erasePath = "/api/v1/people/erase"

// withLog keeps the log of erasures in a directory.
func withLog(dir string) func(*crud.Config) {
	return func(c *crud.Config) { c.Erasure.Log, c.Erasure.BackupDays = dir, 35 }
}

// waiting returns the mails that wait to be sent, opened.
func (f *fixture) waiting(t *testing.T) string {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(), `SELECT args FROM river_job ORDER BY id`)
	require.NoError(t, err)
	jobs, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	require.NoError(t, err)
	var all strings.Builder
	for _, args := range jobs {
		var j struct {
			ID     uuid.UUID `json:"id"`
			Sealed []byte    `json:"sealed"`
		}
		require.NoError(t, json.Unmarshal(args, &j))
		if j.Sealed == nil {
			continue
		}
		text, err := f.tokens.Open("mails", j.Sealed, j.ID[:])
		require.NoError(t, err)
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// aged lets seven days pass for the queues, but for the hours by which they are pruned earlier.
func (f *fixture) aged(t *testing.T) {
	t.Helper()
	for _, sql := range []string{"UPDATE river_job SET created_at = created_at - $1::interval",
		"UPDATE webhook_deliveries SET created_at = created_at - $1::interval",
		"UPDATE idempotency_keys SET claimed_at = claimed_at - $1::interval"} {
		_, err := f.db.Unscoped().Exec(t.Context(), sql, queue.PruneAt)
		require.NoError(t, err)
	}
}

// prune runs one round of what prunes queues.
func (f *fixture) prune(t *testing.T) {
	t.Helper()
	_, err := f.db.Unscoped().Exec(t.Context(),
		"INSERT INTO idempotency_keys (account_id, operation, key, request, claim, claimed_at, given_up_at) SELECT id, 'x', 'old', '', id, '2026-01-01', now() FROM accounts LIMIT 1")
	require.NoError(t, err)
	pruning := f.service.Pruning()
	require.NoError(t, pruning.Start(t.Context()))
	require.Eventually(t, func() bool { return f.count(t, "idempotency_keys WHERE key = 'old'") == 0 },
		testTimeout, 10*time.Millisecond)
	require.NoError(t, pruning.Stop(t.Context()))
}

// Submissions, links and what belongs to them are gone at once, of this account alone. Queues have
// nothing of the person when the time on the receipt has come: mails, messages to webhooks,
// downloads to be reported, and answers to repeated requests.
func TestErasing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u, other := f.user(t, account.Team).at(t, f.service), f.user(t, account.Team)
	f = u.fixture
	u.echo(t)
	_, err := f.db.Unscoped().Exec(t.Context(),
		`UPDATE accounts SET notify_email = 'owner@example.com', notify = 'each', notify_confirmed_at = now()`)
	require.NoError(t, err)
	m := u.file(t)
	link := u.link(t, m)
	for _, address := range []string{"Ada@Example.com", "bob@example.com"} {
		f.fillIn(t, link.Slug, address)
	}
	body := `{"lead_magnet_id":"` + m + `","email":"ADA@example.com"}`
	made := u.send(t, "POST", "/api/v1/access-links", strings.NewReader(body), "Content-Type", "application/json",
		"Idempotency-Key", "for-ada@example.com").object(t)
	others := other.links(t, other.magnet(t).ID, "ada@example.com")
	_, err = f.db.Unscoped().Exec(t.Context(), `WITH begun AS (INSERT INTO sessions (id, account_id, access_link_id, magnet_version)
			SELECT gen_random_uuid(), account_id, id, 1 FROM access_links WHERE id = $1 RETURNING id, account_id, access_link_id)
		INSERT INTO reading_notices (session_id, account_id, access_link_id, news, send) SELECT id, account_id, access_link_id, '{finished}', 'daily' FROM begun`, made["id"])
	require.NoError(t, err)
	for _, what := range []string{"the document", "the notice"} {
		require.Contains(t, strings.ToLower(f.waiting(t)), "ada@", what)
	}

	done := u.post(t, erasePath, `{"email":"ada@EXAMPLE.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	erased := done.object(t)
	require.Equal(t, map[string]any{"submissions": 1.0, "access_links": 3.0, "sessions": 1.0, "downloads": 0.0,
		"profiles": 0.0}, erased["removed"])
	require.Equal(t, false, erased["events_blanked"])
	require.Nil(t, erased["backups_until"]) // a backup of now has the events
	at, err := time.Parse(time.RFC3339, erased["erased_at"].(string))
	require.NoError(t, err)
	require.Equal(t, at.AddDate(0, 0, 7).Format("2006-01-02T15:04:05.000Z"), erased["queues_until"])
	for _, table := range []string{"submissions", "access_links", "sessions", "verifications", "reading_notices"} {
		require.Zero(t, f.count(t, table+" x WHERE account_id = '"+u.account.String()+
			"' AND to_jsonb(x)::text ILIKE ANY (ARRAY['%ada@%', '%"+made["id"].(string)+"%'])"), table)
	}
	require.EqualValues(t, 1, u.get(t, linksPath+"/"+link.ID).object(t)["submission_count"])
	kept, err := other.AccessLink(t.Context(), others[0].ID)
	require.NoError(t, err)
	require.Equal(t, "ada@example.com", kept.Email)

	f.aged(t)
	f.prune(t)
	require.Zero(t, f.count(t, "river_job"))
	require.Zero(t, f.count(t, "webhook_deliveries"))
	require.Zero(t, f.count(t, "idempotency_keys"))

	// The log has no address, and nothing else has the person's id of it.
	entries, err := filepath.Glob(filepath.Join(dir, "*.json"))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	text, err := os.ReadFile(entries[0])
	require.NoError(t, err)
	require.Contains(t, string(text), erased["person_id"])
	require.NotContains(t, strings.ToLower(string(text)), "ada@")

	// Who comes back is a person like any other, and another restart erases no one again.
	f.fillIn(t, link.Slug, "ada@example.com")
	f.replay(t)
	require.Equal(t, 1, f.count(t, "submissions WHERE email_key = 'ada@example.com'"))
	require.Equal(t, http.StatusNotFound, other.get(t, "/api/v1/erasures/"+erased["id"].(string)).status)
}

// Nothing is erased that is not on record first, and nothing by who may not.
func TestErasingIsRefused(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(""))
	u := f.user(t, account.Team)
	u.links(t, u.magnet(t).ID, "ada@example.com")
	require.Equal(t, http.StatusConflict, u.post(t, erasePath, `{"email":"ada@example.com"}`).status)

	dir := filepath.Join(t.TempDir(), "log")
	logged := startOn(t, f.db, withLog(dir))
	require.NoError(t, os.RemoveAll(dir)) // as when the disk is gone
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	v := logged.userOf(t, u.account)
	require.Equal(t, http.StatusServiceUnavailable, v.post(t, erasePath, `{"email":"ada@example.com"}`).status)
	require.Equal(t, http.StatusForbidden, logged.userOf(t, u.account, auth.Read, auth.Write, auth.Leads,
		auth.People).post(t, erasePath, `{"email":"ada@example.com"}`).status)
	require.Equal(t, http.StatusUnprocessableEntity, v.post(t, erasePath, `{"email":"ada"}`).status)
	require.Equal(t, 1, f.count(t, "access_links"))
	require.Zero(t, f.count(t, "erasures"))

	// While the log cannot be read, nothing is served.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, logged.service.Erasures().Start(ctx))
}

// erased erases someone without stored data, and returns the id of the erasure.
func (u *user) erased(t *testing.T) string {
	t.Helper()
	done := u.post(t, erasePath, `{"email":"gone@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	return done.object(t)["id"].(string)
}

// A backup that was made before the events were blanked holds the person, however long after the
// erasure that was.
func TestReceiptsStateTheLastBackup(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u := f.user(t, account.Team)
	path := "/api/v1/erasures/" + u.erased(t)
	require.Nil(t, u.get(t, path).object(t)["backups_until"])
	_, err := f.db.Unscoped().Exec(t.Context(),
		"UPDATE erasures SET erased_at = '2026-01-01T00:00:00Z', blanked_at = '2026-01-06T12:00:00Z'")
	require.NoError(t, err)
	require.Equal(t, "2026-02-10T12:00:00.000Z", u.get(t, path).object(t)["backups_until"])
}

// Before an address had one form, both forms of its letters could be sent to one landing page. Both
// rows are erased.
func TestErasingFindsAnAddressOfDecomposedLetters(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.file(t))
	f.fillIn(t, link.Slug, "zo\u00eb@example.com")
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions SELECT (jsonb_populate_record(s, jsonb_build_object(
		'id', gen_random_uuid(), 'email', $1::text, 'email_key', $1::text))).* FROM submissions s`, "zoe\u0308@example.com")
	require.NoError(t, err)
	done := u.post(t, erasePath, `{"email":"zo\u00eb@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	require.EqualValues(t, 2, done.object(t)["removed"].(map[string]any)["submissions"])
}
