package crud_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/pkg/auth"
)

const erasePath = "/api/v1/people/erase"

// withLog keeps the log of erasures in a directory.
func withLog(dir string) func(*crud.Config) {
	return func(c *crud.Config) { c.Erasure.Log, c.Erasure.BackupDays = dir, 35 }
}

// waiting returns what waits to be sent, opened: mails and messages to chat channels.
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
		if err != nil {
			text, err = f.tokens.Open("chat messages", j.Sealed, j.ID[:])
		}
		require.NoError(t, err)
		all.Write(append(text, '\n'))
	}
	return all.String()
}

// What waits to be sent about a person is gone with the person: mails, messages to chat channels and webhooks, and answers for repeated
// requests. A notice about several people loses one of them. Other accounts keep the same person.
func TestErasingReachesWhatWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := startAlone(t, withLog(dir))
	u, other := f.user(t, account.Team).at(t, f.service), f.user(t, account.Team)
	f = u.fixture
	u.echo(t)
	u.channel(t, "slack", "https://example.com/services/x")
	_, err := f.db.Unscoped().Exec(t.Context(), `UPDATE accounts SET notify_email = 'owner@example.com', notify = 'each', notify_confirmed_at = now(), notify_asked_at = now()`)
	require.NoError(t, err)
	m := u.file(t)
	link := u.link(t, m)
	for _, address := range []string{"Ada@Example.com", "bob@example.com"} {
		f.fillIn(t, link.Slug, address)
	}
	body := `{"lead_magnet_id":"` + m + `","email":"ADA@example.com"}`
	once := func() reply {
		return u.send(t, "POST", "/api/v1/access-links", strings.NewReader(body), "Content-Type", "application/json", "Idempotency-Key", "once")
	}
	made := once().object(t)
	others := other.links(t, other.magnet(t).ID, "ada@example.com")
	digest := mail.Message{
		Kind: mail.KindDigest, AccountID: u.account, To: "owner@example.com", Unsubscribe: "https://example.com/",
		Leads: &mail.Leads{Day: "Monday", List: []mail.Lead{
			{Email: "ada@example.com", Link: "Guide", SubmittedAt: time.Now()}, {Email: "bob@example.com", Link: "Guide", SubmittedAt: time.Now()},
		}},
	}
	log := slog.New(slog.DiscardHandler)
	jobs, err := queue.New(queue.Config{}, queue.Deps{Postgres: f.db, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	mails, err := mail.New(mail.Config{}, mail.Deps{Queue: jobs, Tokens: f.tokens, Site: site, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	require.NoError(t, f.db.Account(t.Context(), u.account, func(tx pgx.Tx) error { return mails.Send(t.Context(), tx, digest) }))
	for _, who := range []string{"ada@", "bob@"} {
		require.GreaterOrEqual(t, strings.Count(strings.ToLower(f.waiting(t)), who), 4, who) // the document, the notice, the chat, the digest
	}

	done := u.post(t, erasePath, `{"email":"ada@EXAMPLE.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	erased := done.object(t)
	removed := erased["removed"].(map[string]any)
	require.EqualValues(t, 1, removed["submissions"])
	require.EqualValues(t, 1, removed["chat_messages"])
	require.EqualValues(t, 3, removed["mails"]) // the document's, the notice, and the digest
	require.Equal(t, false, erased["events_blanked"])
	require.Nil(t, erased["backups_until"]) // a backup of now has the events
	require.NotContains(t, strings.ToLower(f.waiting(t)), "ada@")
	require.GreaterOrEqual(t, strings.Count(f.waiting(t), "bob@"), 4)
	require.Equal(t, http.StatusConflict, once().status)
	require.NotContains(t, strings.ToLower(f.deliveries(t)), "ada@")
	require.NotContains(t, f.deliveries(t), made["url"])
	stats := u.get(t, linksPath+"/"+link.ID).object(t)
	require.EqualValues(t, 1, stats["submission_count"])
	kept, err := other.AccessLink(t.Context(), others[0].ID)
	require.NoError(t, err)
	require.Equal(t, "ada@example.com", kept.Email)

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
	again := f.service.Erasures()
	require.NoError(t, again.Start(t.Context()))
	require.NoError(t, again.Stop(t.Context()))
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
	require.Equal(t, http.StatusForbidden, logged.userOf(t, u.account, auth.Read, auth.Write, auth.Leads, auth.People).post(t, erasePath, `{"email":"ada@example.com"}`).status)
	require.Equal(t, http.StatusUnprocessableEntity, v.post(t, erasePath, `{"email":"ada"}`).status)
	require.Equal(t, 1, f.count(t, "access_links"))
	require.Zero(t, f.count(t, "erasures"))

	// While the log cannot be read, nothing is served.
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, logged.service.Erasures().Start(ctx))
}

// erased erases someone of whom nothing is stored, and returns the id of the erasure.
func (u *user) erased(t *testing.T) string {
	t.Helper()
	done := u.post(t, erasePath, `{"email":"gone@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	return done.object(t)["id"].(string)
}

// A backup that was made before the events were blanked holds the person, however long after the erasure that was.
func TestReceiptsStateTheLastBackup(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u := f.user(t, account.Team)
	path := "/api/v1/erasures/" + u.erased(t)
	require.Nil(t, u.get(t, path).object(t)["backups_until"])
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE erasures SET erased_at = '2026-01-01T00:00:00Z', blanked_at = '2026-01-06T12:00:00Z'")
	require.NoError(t, err)
	require.Equal(t, "2026-02-10T12:00:00.000Z", u.get(t, path).object(t)["backups_until"])
}
