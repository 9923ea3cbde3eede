package crud_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/session"
	"lodestone/pkg/client"
)

// ownersMails returns how many mails to the owner wait.
func (f *fixture) ownersMails(t *testing.T) (n int) {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(),
		"SELECT (args ->> 'id')::uuid, decode(args ->> 'sealed', 'base64') FROM river_job WHERE kind = 'sealed_mail'")
	require.NoError(t, err)
	type sealed struct {
		ID   uuid.UUID
		Mail []byte
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealed])
	require.NoError(t, err)
	for _, j := range jobs {
		text, err := f.tokens.Open("mails", j.Mail, j.ID[:])
		require.NoError(t, err)
		var m struct{ To string }
		require.NoError(t, json.Unmarshal(text, &m))
		if m.To == "owner@example.com" {
			n++
		}
	}
	return n
}

// A program that says that it is one is kept as a reader, and its owner gets no notice of it: of a
// form on the landing page, of one on another's page, and of a document that it opens and
// downloads.
func TestProgramsFireNoNotice(t *testing.T) {
	t.Parallel()
	const person, origin = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
		"https://www.example.com"
	programs := []string{
		"Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36",
		"Mozilla/5.0 (compatible; Quuxbot/2.1; +https://quux.example/bot.html)", "Quux link scanner",
	}
	f := startAlone(t)
	r := &reading{t: t, user: f.user(t, account.Team)}
	r.magnet = client.LeadMagnet{ID: r.user.file(t)}
	exec := func(sql string) {
		_, err := f.db.Unscoped().Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	one := func(sql string) (n int) {
		require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), sql).Scan(&n))
		return n
	}
	exec("INSERT INTO rounds (service, finished_at) VALUES ('counters', now() + interval '1 hour')")
	exec("UPDATE accounts SET notify = 'each', reading_notices = 'each', notify_email = 'owner@example.com', notify_confirmed_at = now()")
	r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`","slug":"guide","allowed_origins":["`+origin+`"]}`).object(t)
	visit := func(agent, name string) {
		landing := url.Values{"email": {name + ".page@example.com"}}.Encode()
		res, text := r.ask("POST", "/l/guide", landing, "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site",
			"same-origin", "User-Agent", agent)
		require.Equal(t, http.StatusSeeOther, res.StatusCode, "%s", text)
		_, form := f.ask(t, "GET", "guide", origin, nil, "User-Agent", agent)
		sent := url.Values{"token": {form["token"].(string)}, "email": {name + ".embed@example.com"}}
		embedded, out := f.ask(t, "POST", "guide", origin, sent, "User-Agent", agent)
		require.Equal(t, http.StatusOK, embedded.StatusCode, "%v", out)
		_, path := r.link("")
		res, text = r.ask("POST", path+"/sessions", "{}", "Content-Type", "application/json", "User-Agent", agent)
		require.Equal(t, http.StatusCreated, res.StatusCode, "%s", text)
		res, _ = r.ask("POST", path+"/open", "as=download", "Content-Type",
			"application/x-www-form-urlencoded", "User-Agent", agent)
		require.Equal(t, http.StatusSeeOther, res.StatusCode)
		res, _ = r.ask("GET", res.Header.Get("Location"), "", "User-Agent", agent)
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	end := func() {
		exec("UPDATE sessions SET pages = '{1}' WHERE NOT bot") // as counters do, which leave programs out
		exec("UPDATE sessions SET started_at = now() - interval '2 hours', last_active_at = now() - interval '1 hour' WHERE ended_at IS NULL")
		require.NoError(t, f.service.SessionEnds().(*session.Closer).Close(t.Context()))
		require.Zero(t, one("SELECT count(*) FROM sessions WHERE ended_at IS NULL"))
	}

	for i, agent := range programs {
		visit(agent, string(rune('a'+i)))
	}
	end()
	require.Equal(t, 2*len(programs), one("SELECT count(*) FROM submissions"))
	require.Zero(t, f.ownersMails(t))
	require.Zero(t, one("SELECT count(*) FROM reading_notices"))

	visit(person, "person")
	end()
	require.Equal(t, 2, f.ownersMails(t), "of the two forms")
	require.Positive(t, one("SELECT count(*) FROM reading_notices"))
}
