package crud_test

import (
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
)

// deliveries returns everything that the database holds of the messages to webhooks, and what is
// sealed in it: of all accounts, or of one.
func (f *fixture) deliveries(t *testing.T, of ...uuid.UUID) string {
	t.Helper()
	rows, err := f.db.Unscoped().Query(t.Context(), `SELECT id, body_sealed, to_jsonb(d)::text,
		ARRAY(SELECT decode(a ->> 'sealed_response', 'base64') FROM jsonb_array_elements(attempts) a WHERE a ->> 'sealed_response' IS NOT NULL)
		FROM webhook_deliveries d WHERE cardinality($1::uuid[]) = 0 OR account_id = ANY ($1) ORDER BY id`, append([]uuid.UUID{}, of...))
	require.NoError(t, err)
	var all strings.Builder
	for rows.Next() {
		var id uuid.UUID
		var body []byte
		var row string
		var answers [][]byte
		require.NoError(t, rows.Scan(&id, &body, &row, &answers))
		all.WriteString(row + "\n")
		if body != nil {
			answers = append(answers, body)
		}
		for _, sealed := range answers {
			text, err := f.tokens.Open("webhook messages", sealed, id[:])
			require.NoError(t, err)
			all.Write(append(text, '\n'))
		}
	}
	require.NoError(t, rows.Err())
	return all.String()
}

// echo makes a webhook whose endpoint answers with what it got.
func (u *user) echo(t *testing.T) string {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	}))
	t.Cleanup(receiver.Close)
	made, err := u.CreateWebhook(t.Context(), clienttest.NewWebhook{URL: receiver.URL,
		Kinds: []string{"link.created", "form.submitted"}})
	require.NoError(t, err)
	return made.ID
}

// links makes access links of a lead magnet, as the API does.
func (u *user) links(t *testing.T, magnet string, emails ...string) []client.AccessLink {
	t.Helper()
	made, err := u.CreateAccessLinks(t.Context(), magnet, clienttest.NewAccessLinks{Emails: emails})
	require.NoError(t, err)
	return made
}

// The secrets of webhooks stand in no dump.
func TestDumpHasNoWebhookSecret(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	made, err := u.CreateWebhook(t.Context(), clienttest.NewWebhook{URL: "https://example.com/",
		Kinds: []string{"link.created"}})
	require.NoError(t, err)
	rotated, err := u.RotateWebhookSecret(t.Context(), made.ID, 1)
	require.NoError(t, err)
	var dump string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		`SELECT string_agg(to_jsonb(s)::text, '') FROM webhook_secrets s`).Scan(&dump))
	for _, secret := range []string{made.Secret, rotated.Secret} {
		text := strings.TrimPrefix(secret, "whsec_")
		bytes, err := base64.StdEncoding.DecodeString(text)
		require.NoError(t, err)
		require.NotContains(t, dump, hex.EncodeToString(bytes))
		require.NotContains(t, dump, text)
	}
}

// No table holds what opens a link or verifies an address: neither tokens and codes nor, where they
// are only for sending, addresses.
func TestDumpHasNoSecretOfVisitors(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team).at(t, f.service)
	f = u.fixture
	hook := u.echo(t)
	m := u.file(t)
	body := `{"lead_magnet_id":"` + m + `","email":"ada@example.com"}`
	made := u.send(t, "POST", "/api/v1/access-links", strings.NewReader(body), "Content-Type", "application/json",
		"Idempotency-Key", "once").object(t)
	secrets := []string{strings.TrimPrefix(made["url"].(string), site+"/a/")}
	for _, l := range u.links(t, m, "bob@example.com", "cyd@example.com") {
		secrets = append(secrets, tokenOf(t, l))
	}
	visitor := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	form, err := visitor.PostForm(f.url+"/l/"+u.link(t, m).Slug, url.Values{"email": {"dan@example.com"}})
	require.NoError(t, err)
	require.NoError(t, form.Body.Close())
	secrets = append(secrets, strings.TrimPrefix(form.Header.Get("Location"), "/a/"))
	verified, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m, RequireVerification: true})
	require.NoError(t, err)
	form, err = visitor.PostForm(f.url+"/l/"+verified.Slug, url.Values{"email": {"eve@example.com"}})
	require.NoError(t, err)
	require.NoError(t, form.Body.Close())
	secrets = append(secrets, strings.TrimPrefix(form.Header.Get("Location"), "/verify/"))
	list, err := u.AccessLinks(t.Context(), client.AccessLinkFilter{Email: "dan@example.com"})
	require.NoError(t, err)
	for _, l := range list.Data { // with the one that only the mail has
		secrets = append(secrets, tokenOf(t, l))
	}
	sender := f.service.Webhooks()
	require.NoError(t, sender.Start(t.Context()))
	require.Eventually(t, func() bool { return f.count(t, "webhook_deliveries WHERE state <> 'delivered'") == 0 },
		testTimeout, 20*time.Millisecond)
	require.NoError(t, sender.Stop(t.Context()))
	log, err := u.Deliveries(t.Context(), hook, clienttest.DeliveryFilter{})
	require.NoError(t, err)
	require.Contains(t, f.deliveries(t), secrets[0])
	require.Contains(t, *log.Data[len(log.Data)-1].Attempts[0].Response, secrets[0])
	require.Equal(t, 2, f.count(t, "river_job WHERE kind LIKE '%mail'")) // to dan and to eve
	require.NotZero(t, f.count(t, "idempotency_keys WHERE sealed IS NOT NULL"))

	rows, err := f.db.Unscoped().Query(t.Context(),
		`SELECT tablename::text FROM pg_tables WHERE schemaname = current_schema()`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "access_links")
	for _, name := range tables {
		dump := f.table(t, name)
		for _, s := range secrets {
			require.GreaterOrEqual(t, len(s), 26, s)
			hides(t, dump, s)
		}
		for _, only := range []string{"river_job", "webhook_deliveries", "idempotency_keys"} {
			if name == only {
				hides(t, dump, "@example.com")
			}
		}
	}
	for _, s := range secrets[:4] {
		f.opens(t, s)
	}
}

// A form whose address was never confirmed belongs to a person like any other.
func TestUnconfirmedFormsAreExportedAndErased(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.file(t)
	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m, RequireVerification: true})
	require.NoError(t, err)
	f.fillIn(t, link.Slug, "eve@example.com")
	const body = `{"email":"EVE@example.com"}`
	document := u.post(t, "/api/v1/people/export", body).object(t)
	require.Len(t, document["submissions"], 1)
	require.Empty(t, document["access_links"])
	erased := u.post(t, erasePath, body).object(t)
	require.Equal(t, map[string]any{"submissions": 1.0, "access_links": 0.0, "sessions": 0.0, "downloads": 0.0,
		"profiles": 0.0}, erased["removed"])
	require.Empty(t, u.post(t, "/api/v1/people/export", body).object(t)["submissions"])
}
