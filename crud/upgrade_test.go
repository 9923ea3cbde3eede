package crud_test

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"lodestone/crud/pdf/pdftest"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/client/clienttest"
	"lodestone/pkg/engine/enginetest"
)

// oldSchema is the last version before who holds a link, a slug, an address or a key's rights was on record.
const oldSchema = 15

// before is a database of the old schema with rows in it.
type before struct {
	t                         *testing.T
	insert                    func(sql string, args ...any)
	mine, other, magnet, link uuid.UUID
}

// submission adds the submission of an address and its personal link, whose token is returned. verified is when the address was
// verified, relative to the link: null for never.
func (b *before) submission(email, verified string) (id uuid.UUID, token string) {
	id, token = uuid.New(), strings.ReplaceAll(uuid.NewString(), "-", "")
	b.insert(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, verified, verified_at, viewed, view_count,
			first_viewed_at, last_viewed_at, submitted_at)
		SELECT $1, $2, $3, $4, lower($4), v IS NOT NULL, timestamptz '2026-03-01T09:30:00Z' + v, true, 3,
			'2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z', '2026-03-01T09:00:00Z' FROM (SELECT $5::interval AS v) AS t`, id, b.mine, b.link, email, optional(verified))
	b.insert(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token, viewed, view_count,
			first_viewed_at, last_viewed_at, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, lower($6), $7, true, 3, '2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z', '2026-03-01T09:30:00Z')`,
		uuid.New(), b.mine, b.magnet, b.link, id, email, token)
	return id, token
}

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// What an installation of the old schema had goes on working after the upgrade, and is no one else's.
func TestAnOldInstallationIsUpgraded(t *testing.T) {
	t.Parallel()
	db := enginetest.PostgresPool(t, enginetest.Postgres(t))
	std := stdlib.OpenDBFromPool(db.Unscoped())
	old, err := goose.NewProvider(goose.DialectPostgres, std, os.DirFS("../pkg/postgres/migrations"))
	require.NoError(t, err)
	_, err = old.UpTo(t.Context(), oldSchema)
	require.NoError(t, err)
	require.NoError(t, std.Close())

	b := &before{t: t, mine: uuid.New(), other: uuid.New(), magnet: uuid.New(), link: uuid.New()}
	b.insert = func(sql string, args ...any) {
		t.Helper()
		_, err := db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	otherMagnet, file := uuid.New(), pdftest.Strip(3, 0)
	for id, magnet := range map[uuid.UUID]uuid.UUID{b.mine: b.magnet, b.other: otherMagnet} {
		b.insert("INSERT INTO accounts (id, name, plan, notify, notify_email) VALUES ($1, 'Old', 'team', 'each', 'owner@bücher.example')", id)
		b.insert("INSERT INTO lead_magnets (id, account_id, title, file_version) VALUES ($1, $2, 'The Old Guide', 1)", magnet, id)
		b.insert(`INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256)
			VALUES ($1, 1, $2, 'guide.pdf', 'application/pdf', $3, 3, sha256($4))`, magnet, id, len(file), file)
		b.insert("INSERT INTO lead_magnet_file_chunks (lead_magnet_id, version, number, account_id, bytes) VALUES ($1, 1, 0, $2, $3)", magnet, id, file)
	}
	slug := func(id, account, magnet uuid.UUID, name string) {
		b.insert("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", id, account, magnet, name)
	}
	slug(b.link, b.mine, b.magnet, "kept")
	deleted, renamed, again := uuid.New(), uuid.New(), uuid.New()
	slug(deleted, b.mine, b.magnet, "deleted")
	b.insert("DELETE FROM generic_links WHERE id = $1", deleted)
	slug(renamed, b.mine, b.magnet, "first-name")
	b.insert("UPDATE generic_links SET slug = 'second-name' WHERE id = $1", renamed)
	slug(again, b.mine, b.magnet, "again") // renamed, and named as before: it is among the retired as well
	b.insert("UPDATE generic_links SET slug = 'not-again' WHERE id = $1", again)
	b.insert("UPDATE generic_links SET slug = 'again' WHERE id = $1", again)
	moved := uuid.New() // another account took it, which was possible
	slug(uuid.New(), b.mine, b.magnet, "moved")
	b.insert("DELETE FROM generic_links WHERE slug = 'moved'")
	slug(moved, b.other, otherMagnet, "moved")

	unverified, shown := b.submission("ada@example.com", "")
	verified, mailed := b.submission("Bob@example.com", "0 s")
	later, typed := b.submission("cyd@example.com", "1 day") // the browser had the link before anyone read the mailbox
	unicode, _ := b.submission("dan@bücher.example", "")
	ascii, _ := b.submission("dan@xn--bcher-kva.example", "") // the same mailbox, twice
	b.submission("eve@bücher.example", "")
	api := strings.ReplaceAll(uuid.NewString(), "-", "")
	b.insert(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token) VALUES ($1, $2, $3, 'fay@example.com', 'fay@example.com', $4)`,
		uuid.New(), b.mine, b.magnet, api)

	hook := uuid.New()
	b.insert("INSERT INTO webhook_endpoints (id, account_id, url, kinds) VALUES ($1, $2, 'https://example.com', '{link.created}')", hook, b.mine)
	deliver := func(state string, submission any, kind string) {
		b.insert(`INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body, state, next_attempt_at, attempts)
			VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), $5,
				json_build_object('type', $5::text, 'data', json_build_object('submission_id', $4::text, 'email', $4::text || '@secret.example'))::text,
				$3, CASE $3 WHEN 'pending' THEN now() + interval '1 year' END, '[{"response": "answer"}]')`, b.mine, hook, state, submission, kind)
	}
	gone := uuid.New()
	deliver("pending", unverified, "form.submitted")
	deliver("delivered", gone, "form.submitted")
	deliver("pending", gone, "form.submitted")
	deliver("delivered", nil, "webhook.test")

	reads, writes := auth.NewKey(), auth.NewKey()
	for key, scopes := range map[string][]string{reads.Text: {"read"}, writes.Text: {"read", "write"}} {
		hash := sha256.Sum256([]byte(key))
		b.insert("INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, 'old', $3, $4, $5)",
			uuid.New(), b.mine, key[:12], hash[:], scopes)
	}

	require.NoError(t, db.WithMigrationLock(t.Context(), func(ctx context.Context) error {
		_, err := db.Migrate(ctx)
		return err
	}))
	f := startOn(t, db)
	reader := &user{Client: clienttest.New(client.Config{URL: f.url, Key: reads.Text, HTTP: f.http}), fixture: f, account: b.mine, key: reads.Text}
	owner := &user{Client: clienttest.New(client.Config{URL: f.url, Key: writes.Text, HTTP: f.http}), fixture: f, account: b.mine, key: writes.Text}
	stranger := f.userOf(t, b.other)
	plain := &http.Client{Transport: f.http.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	visit := func(path string) int {
		t.Helper()
		res, err := plain.Get(f.url + path)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}

	// Messages about what was deleted lose their personal data; the others stay.
	all := f.deliveries(t)
	require.NotContains(t, all, gone.String()+"@secret.example")
	require.Contains(t, all, unverified.String()+"@secret.example")
	var states []string
	for _, d := range owner.get(t, "/api/v1/webhooks/"+hook.String()+"/deliveries").object(t)["data"].([]any) {
		states = append(states, d.(map[string]any)["kind"].(string)+" "+d.(map[string]any)["state"].(string))
	}
	require.ElementsMatch(t, []string{"form.submitted pending", "form.submitted delivered", "form.submitted failed", "webhook.test delivered"}, states)

	// Personal links open, and say how they were handed out.
	sources := map[string]string{}
	for _, l := range reader.get(t, "/api/v1/access-links").object(t)["data"].([]any) {
		link := l.(map[string]any)
		sources[strings.TrimPrefix(link["url"].(string), site+"/a/")] = link["source"].(string)
	}
	for token, source := range map[string]string{shown: "form", mailed: "mail", typed: "form", api: "api"} {
		require.Equal(t, source, sources[token])
		require.Equal(t, 200, visit("/a/"+token))
		res, err := plain.Post(f.url+"/a/"+token+"/sessions", "application/json", strings.NewReader("{}"))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 201, res.StatusCode)
	}

	// A key that reads sees personal data as before. What was read by a link that any browser may have is not the verified person's.
	views := map[string]any{}
	for _, s := range reader.get(t, linksPath+"/"+b.link.String()+"/submissions").object(t)["data"].([]any) {
		one := s.(map[string]any)
		require.Contains(t, one["email"], "@")
		views[one["id"].(string)] = one["view_count"]
	}
	require.Len(t, views, 6)
	require.EqualValues(t, 3, views[unverified.String()])
	require.EqualValues(t, 3, views[verified.String()])
	require.Zero(t, views[later.String()])

	// Who comes again is known, however the domain is written.
	for _, email := range []string{"ada@example.com", "EVE@xn--bcher-kva.example", "dan@bücher.example"} {
		res, err := plain.PostForm(f.url+"/l/kept", url.Values{"email": {email}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, 303, res.StatusCode)
	}
	count := reader.get(t, linksPath+"/"+b.link.String()+"/submissions").object(t)["pagination"].(map[string]any)["total"]
	require.EqualValues(t, 6, count, "%s and %s are two of before", unicode, ascii)

	// Slugs lead where they led, and no one gets one that another account had, or may have had.
	for path, status := range map[string]int{
		"/l/kept": 200, "/l/second-name": 200, "/l/again": 200, "/l/moved": 200, "/l/deleted": 410, "/l/first-name": 410, "/l/not-again": 410,
	} {
		require.Equal(t, status, visit(path), path)
	}
	for _, taken := range []string{"deleted", "first-name", "not-again", "kept", "moved", "again"} {
		r := stranger.post(t, linksPath, `{"lead_magnet_id":"`+otherMagnet.String()+`","slug":"`+taken+`"}`)
		require.Equal(t, 400, r.status, taken)
		require.EqualValues(t, "slug_taken", r.problem(t).Code)
	}
	rename := func(u *user, id uuid.UUID, to string) reply {
		return u.send(t, "PATCH", linksPath+"/"+id.String(), strings.NewReader(`{"slug":"`+to+`"}`), "Content-Type", "application/json")
	}
	require.EqualValues(t, "slug_taken", rename(stranger, moved, "first-name").problem(t).Code)
	require.Equal(t, 200, rename(owner, again, "for-now").status)
	require.Equal(t, 400, rename(stranger, moved, "again").status, "it is the first account's for good")
	require.Equal(t, 200, rename(owner, again, "again").status)

	// Keys allow what they allowed.
	require.Equal(t, 403, reader.post(t, "/api/v1/keys", `{"name":"new","scopes":["read"]}`).status)
	require.Equal(t, 201, owner.post(t, "/api/v1/keys", `{"name":"new","scopes":["read"]}`).status)
	require.Equal(t, 200, owner.get(t, "/api/v1/webhooks").status)

	// Nothing is sent to an address that no one confirmed.
	own := owner.get(t, "/api/v1/account").object(t)
	require.Equal(t, "owner@bücher.example", own["notify_email"])
	require.Equal(t, false, own["notify_email_confirmed"])
}
