package main

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// A person who is erased is in no row of either database, in no file and in no answer of the API,
// whatever they typed and whoever wrote about them, once the times on the receipt have come; others
// and what is counted stay. The receipt can be checked with the public keys. After a restart of a
// database that still has the person, the person is erased again.
func TestErasingAPerson(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample", "--sql-emails", "--erasure-interval", "1s", "--session-idle", "1s"}
	u.start()
	site := u.env["LODESTONE_URL"]
	c := clienttest.New(client.Config{URL: site, Key: u.env["LODESTONE_API_KEY"]})
	owner := asker{site, u.env["LODESTONE_API_KEY"]}
	s := u.stores(t)
	m := u.newGuide("Guide")
	planted := u.plant(t, s, m.ID)
	planted.fill(t, owner)
	total := func() int64 {
		events, err := c.Events(t.Context(), client.EventFilter{})
		require.NoError(t, err)
		return events.Pagination.Total
	}
	require.Eventually(t, func() bool { return total() == 4 }, enginetest.Timeout, seldom) // three pages and a download
	s.requirePlanted(t)
	for _, folder := range []string{"clickhouse", "kafka", "mailbox", "postgres/cluster/data/pg_wal"} {
		require.NotEmpty(t, u.marked(t, folder), folder)
	}
	require.Equal(t, 1, u.command("verify", "--person", planted.address).code)

	done := owner.must(t, "POST", "/api/v1/people/erase", `{"email":"`+strings.ToUpper(planted.address)+`"}`)
	removed := done["removed"].(map[string]any)
	require.EqualValues(t, 2, removed["submissions"])
	require.EqualValues(t, 5, removed["access_links"]) // of the form, its mail, a list of recipients, and the API
	require.EqualValues(t, 1, removed["sessions"])
	id := done["id"].(string)
	require.Eventually(t, func() bool {
		done = owner.must(t, "GET", "/api/v1/erasures/"+id, "")
		return done["events_blanked"] == true && done["records_until"] != nil // which follows
	}, enginetest.Timeout, seldom)
	checkReceipt(t, site, done)
	lists := owner.must(t, "GET", "/api/v1/generic-links/"+planted.gate, "")["gate"].(map[string]any)
	require.Equal(t, []any{"erased.invalid"}, lists["allow"], "the page that was for this person alone is for no one")
	require.Equal(t, []any{"example.org"}, lists["block"])
	require.Empty(t, slices.DeleteFunc(s.postgres(t), func(found string) bool {
		return strings.HasPrefix(found, "pg_stats") || slices.Contains(queues, found)
	}))
	// A copy that the mirror read before the erasure is removed later.
	require.Eventually(t, func() bool { return len(s.clickhouse(t)) == 0 }, enginetest.Timeout, seldom)
	found := owner.must(t, "POST", "/api/v1/people/export", `{"email":"`+planted.address+`"}`)
	for name, list := range found {
		if list, ok := list.([]any); ok {
			require.Empty(t, list, name)
		}
	}
	answer := u.command("verify", "--person", planted.address)
	require.Zero(t, answer.code, answer.out)
	require.Contains(t, answer.out, "nothing found")
	require.Contains(t, answer.out, "not looked at: queues of mails")
	require.EqualValues(t, 4, total())
	// The link's page may be open still: what it sends is stored blank.
	u.read(t, planted.link, markedAgent)
	require.Eventually(t, func() bool { return total() == 5 }, enginetest.Timeout, seldom)
	require.Eventually(t, func() bool { return len(s.clickhouse(t)) == 0 }, enginetest.Timeout, seldom)
	bob := owner.must(t, "POST", "/api/v1/people/export", `{"email":"bob@example.com"}`)
	require.Len(t, bob["submissions"], 1)
	require.Equal(t, bobsAgent, bob["events"].([]any)[0].(map[string]any)["user_agent"])
	log := owner.must(t, "GET", "/api/v1/audit-log?action=erase-person", "")
	require.Len(t, log["data"], 1)
	require.Equal(t, id, log["data"].([]any)[0].(map[string]any)["object_id"])
	answer = u.command("verify")
	require.Zero(t, answer.code, answer.out)

	// An address without stored data is no error.
	require.Contains(t, owner.must(t, "POST", "/api/v1/people/erase", `{"email":"no.one@example.com"}`), "receipt")

	// A database of before the erasure has neither it nor what it removed.
	require.NoError(t, s.pool.Unscoped().QueryRow(t.Context(), `WITH gone AS (DELETE FROM erasures WHERE id = $1 RETURNING account_id)
		INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, created_at)
		SELECT gen_random_uuid(), account_id, $2, $3, $3, sha256($3::text::bytea), '', 0, now() - interval '1 day' FROM gone RETURNING id`, id, m.ID, planted.address).Scan(new(uuid.UUID)))
	require.NotEmpty(t, s.postgres(t))
	u.age(t, s)
	execute, leave := u.administer(t)
	execute("CHECKPOINT") // its own may be cut short when it is stopped
	leave()
	s.close(t)
	u.interrupt(enginetest.Timeout)
	require.NotContains(t, strings.ToLower(u.out.String()), marker)
	require.NotEmpty(t, u.marked(t, "postgres/cluster/data/base"))
	u.spool(t, planted.spooled)
	require.NotEmpty(t, u.marked(t, "spool"))
	u.start()
	s = u.stores(t)
	// What is old leaves the queues when the process starts, and statistics are renewed. The log of
	// webhooks follows within a minute.
	var left []string
	require.Eventually(t, func() bool { left = s.postgres(t); return len(left) == 0 }, enginetest.Timeout, seldom,
		"columns that have the person: %v", &left)
	require.Empty(t, u.marked(t, "mailbox"))
	owner = asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}
	require.EqualValues(t, 1, owner.must(t, "GET", "/api/v1/erasures/"+id, "")["removed"].(map[string]any)["access_links"])

	// What waited in the spool, and a dead letter that is replayed, become blank events.
	require.Eventually(t, func() bool { return total() == 6 }, enginetest.Timeout, seldom)
	answer = u.command("dead-letters", "replay", "--all")
	require.Zero(t, answer.code, answer.out)
	require.Eventually(t, func() bool { return total() == 7 }, enginetest.Timeout, seldom)
	require.Eventually(t, func() bool { return len(s.clickhouse(t)) == 0 }, enginetest.Timeout, seldom)
	require.Eventually(t, func() bool { return len(u.marked(t, "spool")) == 0 }, enginetest.Timeout, seldom)
	answer = u.command("verify", "--person", planted.address)
	require.Zero(t, answer.code, answer.out)
	answer = u.command("verify")
	require.Zero(t, answer.code, answer.out)

	// Once the engines have given up what was deleted, no file has the person.
	u.compact(t, s)
	s.close(t)
	u.interrupt(enginetest.Timeout)
	require.Empty(t, u.marked(t, ""))
	require.NotContains(t, strings.ToLower(u.out.String()), marker)
}

// In the dashboard, a person is erased once the address is typed. The page that follows shows what
// was removed, and has the receipt.
func TestErasingInTheDashboard(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	c := clienttest.New(client.Config{URL: v.site, Key: u.env["LODESTONE_API_KEY"]})
	m, err := c.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Guide"})
	require.NoError(t, err)
	made, err := c.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: []string{"ada@example.com"}})
	require.NoError(t, err)
	path := "/dashboard/readers/" + made[0].ID
	s := v.send(v.open(path), path+"/erase", url.Values{"confirm": {"bob@example.com"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	s.has("Nothing was erased")
	s = v.send(v.open(path), path+"/erase", url.Values{"confirm": {" ADA@example.com"}})
	require.Equal(t, http.StatusOK, s.status)
	s.has("This person has been erased")
	s.lacks("ada@example.com")
	answer, err := v.http.Get(v.site + s.path + "/receipt")
	require.NoError(t, err)
	var receipt map[string]any
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&receipt))
	require.NoError(t, answer.Body.Close())
	checkReceipt(t, v.site, receipt)
	require.Equal(t, http.StatusNotFound, v.open("/dashboard/erasures/"+uuid.NewString()).status)
}

// An account that is deleted leaves no row in either database but blank events, also after a
// restart; the other account keeps everything.
func TestDeletingAnAccount(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample", "--sql-emails", "--erasure-interval", "1s"}
	u.start()
	answer := u.command("account", "create", "--name", marker+" Ltd", "--plan", "team")
	require.Zero(t, answer.code, answer.out)
	id := strings.TrimSpace(answer.out)
	answer = u.command("key", "create", "--account", id)
	require.Zero(t, answer.code, answer.out)
	_, key, _ := strings.Cut(answer.out, "key: ")
	key = strings.TrimSpace(key)
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: key})
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	m, err := c.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: marker})
	require.NoError(t, err)
	_, err = c.UploadFile(t.Context(), m.ID, marker+".pdf", bytes.NewReader(test.PDF(1, 0)))
	require.NoError(t, err)
	link, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, Slug: new("taken-for-ever")})
	require.NoError(t, err)
	v.submit(link.URL, url.Values{"email": {marker + "@example.com"}, "utm_source": {marker}})
	made, err := c.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: []string{"ada@example.com"}})
	require.NoError(t, err)
	u.read(t, made[0], marker)
	s := u.stores(t)
	require.Eventually(t, func() bool {
		found := s.clickhouse(t)
		return slices.Contains(found, "lodestone.events.event_data") &&
			slices.Contains(found, "lodestone.submissions.email") && slices.Contains(found, "lodestone.lead_magnets.title")
	}, enginetest.Timeout, seldom)

	other := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	kept, err := other.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: u.newGuide("Guide").ID})
	require.NoError(t, err)
	v.submit(kept.URL, url.Values{"email": {"bob@example.com"}, "utm_source": {"letter"}})
	_, err = s.pool.Unscoped().Exec(t.Context(), "ANALYZE")
	require.NoError(t, err)
	answer = u.command("account", "delete", id, "--name", "Demo")
	require.Equal(t, exitSettings, answer.code, answer.out)
	answer = u.command("account", "delete", id, "--name", marker+" Ltd")
	require.Zero(t, answer.code, answer.out)
	require.Empty(t, s.postgres(t))
	require.Eventually(t, func() bool { return len(s.clickhouse(t)) == 0 }, enginetest.Timeout, seldom)
	var left uint64
	require.NoError(t, s.conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.events WHERE account_id = ?",
		id).Scan(&left))
	require.NotZero(t, left)
	require.Contains(t, u.command("account", "list").out, "Demo")
	require.NotContains(t, u.command("account", "list").out, marker)
	answer = u.command("verify")
	require.Zero(t, answer.code, answer.out)

	// A restored database has the account again.
	_, err = s.pool.Unscoped().Exec(t.Context(),
		`WITH gone AS (DELETE FROM erasures RETURNING account_id) INSERT INTO accounts (id, name, plan) SELECT account_id, $1, 'team' FROM gone`, marker)
	require.NoError(t, err)
	s.close(t)
	u.interrupt(enginetest.Timeout)
	u.start()
	s = u.stores(t)
	require.Empty(t, s.postgres(t))
	s.close(t)
	u.interrupt(enginetest.Timeout)
}

// read sends a page that was viewed, with a mark wherever a sender can write.
func (u *up) read(t *testing.T, l client.AccessLink, mark string) {
	t.Helper()
	u.event(t, l, mark, map[string]any{"event_type": "page_viewed", "event_data": map[string]any{"page": 1,
		"duration_ms": 900, "note": mark}, "session_id": uuid.NewString()})
}

// event sends an event of an access link.
func (u *up) event(t *testing.T, l client.AccessLink, agent string, e map[string]any) {
	t.Helper()
	e["token"] = l.TrackingToken
	body, err := json.Marshal(e)
	require.NoError(t, err)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.env["LODESTONE_COLLECTOR_URL"]+
		"/v1/events", bytes.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Accept-Language", "hi-IN")
	answer, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusAccepted, answer.StatusCode)
}

// checkReceipt fails unless a receipt is signed by a key that the site publishes, and says what the
// erasure does.
func checkReceipt(t *testing.T, site string, done map[string]any) {
	t.Helper()
	answer, err := http.Get(site + "/.well-known/lodestone-receipt-keys.json")
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	var set struct {
		Keys []struct {
			Kid, Crv, X string
		}
	}
	require.NoError(t, json.NewDecoder(answer.Body).Decode(&set))
	parts := strings.Split(done["receipt"].(string), ".")
	require.Len(t, parts, 3)
	raw := func(text string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		return b
	}
	require.Equal(t, "Ed25519", set.Keys[0].Crv)
	require.True(t, ed25519.Verify(raw(set.Keys[0].X), []byte(parts[0]+"."+parts[1]), raw(parts[2])))
	var claimed map[string]any
	require.NoError(t, json.Unmarshal(raw(parts[1]), &claimed))
	want := map[string]any{}
	for name, value := range done {
		if name != "receipt" {
			want[name] = value
		}
	}
	require.Equal(t, want, claimed)
	require.NotContains(t, string(raw(parts[1])), marker)
}

// ended is a command that has ended.
type ended struct {
	code int
	out  string
}

// command runs a command against the running installation.
func (u *up) command(args ...string) ended {
	u.t.Helper()
	p := launch(u.t, u.dir, nil, append(args, "--data", filepath.Join(u.dir, "data"))...)
	return ended{p.wait(), p.out.String()}
}

func execute(t *testing.T, database, statement string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), statement)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}
