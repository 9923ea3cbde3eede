package crud_test

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/client"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/token"
)

// tokenOf returns the secret part of a link's URL.
func tokenOf(t *testing.T, l client.AccessLink) string {
	t.Helper()
	secret, ok := strings.CutPrefix(l.URL, site+"/a/")
	require.True(t, ok, l.URL)
	return secret
}

// table returns the rows of a table as a dump has them.
func (f *fixture) table(t *testing.T, name string) string {
	t.Helper()
	var text string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		`SELECT coalesce(string_agg(r::text, E'\n'), '') FROM "`+name+`" r`).Scan(&text))
	return text
}

// hides checks that a text from a dump has a secret in no form.
func hides(t *testing.T, dump, secret string) {
	t.Helper()
	require.NotContains(t, dump, secret)
	require.NotContains(t, dump, hex.EncodeToString([]byte(secret)))
}

// opens checks that a link's page shows its document.
func (f *fixture) opens(t *testing.T, secret string) {
	t.Helper()
	require.Equal(t, http.StatusOK, f.public(t, "GET", "/a/"+secret).status)
}

// with returns the service under other token keys, on the same database.
func (f *fixture) with(t *testing.T, keys string) *crud.Service {
	t.Helper()
	ring, err := token.Config{Keys: keys}.Ring()
	require.NoError(t, err)
	log := slog.New(slog.NewJSONHandler(f.log, nil))
	s, err := crud.New(crud.Config{PublicURL: site + "/", MaxFileBytes: 5 << 20, Webhooks: webhooks(),
		Capture: capturing, Viewer: viewing},
		crud.Deps{Postgres: f.db, Tokens: ring, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// at returns the user of a service on the same database that keeps answers for repeated requests.
func (u *user) at(t *testing.T, s *crud.Service) *user {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	a := api.New(api.Deps{Verifier: u.fixture.verifier, Log: log,
		Idempotency: idempotency.New(idempotency.Deps{Postgres: u.fixture.db, Tokens: u.fixture.tokens, Log: log})})
	require.NoError(t, s.Register(a))
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	f := *u.fixture
	f.url, f.http = server.URL, server.Client()
	return &user{clienttest.New(client.Config{URL: f.url, Key: u.key, HTTP: f.http}), &f, u.account, u.keyID, u.key}
}

// file makes a lead magnet that can be opened.
func (u *user) file(t *testing.T) string {
	t.Helper()
	m := u.magnet(t)
	_, err := u.UploadFile(t.Context(), m.ID, "guide.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
	return m.ID
}

// seal runs a service's sealing until a condition holds.
func (f *fixture) seal(t *testing.T, s *crud.Service, done func() bool) {
	t.Helper()
	sealing := s.Sealing()
	require.NoError(t, sealing.Start(t.Context()))
	require.Eventually(t, done, testTimeout, 20*time.Millisecond)
	require.NoError(t, sealing.Stop(t.Context()))
}

// Tokens are sealed with a new first key, and after that the key before it is not needed. Without
// their key links open all the same; their URLs are not shown.
func TestLinkTokensOutliveTokenKeys(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	u = u.at(t, f.with(t, first))
	secret := tokenOf(t, u.accessLink(t, u.file(t)))

	u = u.at(t, f.with(t, token.NewKeys(3).Keys))
	list, err := u.AccessLinks(t.Context(), client.AccessLinkFilter{})
	require.NoError(t, err)
	require.Empty(t, list.Data[0].URL)
	require.Contains(t, f.log.String(), "add the token key that sealed it")
	u.fixture.opens(t, secret)

	f.seal(t, f.with(t, second+","+first), func() bool { return f.count(t, "access_links WHERE token_key <> 2") == 0 })
	u = u.at(t, f.with(t, second))
	list, err = u.AccessLinks(t.Context(), client.AccessLinkFilter{})
	require.NoError(t, err)
	require.Equal(t, secret, tokenOf(t, list.Data[0]))
	u.fixture.opens(t, secret)
}

// Tokens that cannot be opened, more than a batch of them, do not keep the others from being sealed
// with the new key.
func TestLinkTokensWithoutTheirKeyHoldUpNoOthers(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	u = u.at(t, f.with(t, first))
	m := u.file(t)
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		SELECT ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, $1, $2, 'ada' || n || '@example.com', 'ada' || n || '@example.com', sha256(n::text::bytea), '\x00', 1
		FROM generate_series(1, 1200) AS n`, u.account, m)
	require.NoError(t, err)
	link := u.accessLink(t, m)
	f.seal(t, f.with(t, second+","+first), func() bool {
		return f.count(t, "access_links WHERE token_key = 2") == 1 && strings.Contains(f.log.String(),
			"add the token key that sealed")
	})
	require.Equal(t, 1200, f.count(t, "access_links WHERE token_key = 1"))
	f.opens(t, tokenOf(t, link))
}

// A link is found by one look into one index.
func TestFindingALinkIsOneIndexLookup(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	secret := tokenOf(t, u.accessLink(t, u.file(t)))
	conn, err := f.db.Unscoped().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "SET enable_seqscan = off")
	require.NoError(t, err)
	var plan string
	require.NoError(t, conn.QueryRow(t.Context(), `EXPLAIN (FORMAT JSON) SELECT id, account_id FROM access_links
		WHERE token_hash = sha256('`+secret+`')`).Scan(&plan))
	_, err = conn.Exec(t.Context(), "RESET enable_seqscan")
	require.NoError(t, err)
	require.Contains(t, plan, `"Node Type": "Index Scan"`)
	require.Contains(t, plan, `"Index Name": "access_links_token_hash"`)
	require.NotContains(t, plan, `"Plans"`)
}
