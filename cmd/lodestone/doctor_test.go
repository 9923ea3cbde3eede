package main

import (
	"encoding/json"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/crud/accesslink"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// Everything that is wrong is in one report, with the code of a failure, as lines and as a
// document.
func TestDoctorReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	env := []string{
		"LODESTONE_POSTGRES_URL=postgres://u:secret@" + gone + "/x", "LODESTONE_KAFKA_BROKERS=" + gone,
		"LODESTONE_CLICKHOUSE_URL=clickhouse://u:secret@" + gone + "/lodestone", "LODESTONE_FILE_STORE=s3://documents",
		"LODESTONE_S3_ENDPOINT=http://" + gone, "LODESTONE_S3_REGION=x", "LODESTONE_S3_ACCESS_KEY=a",
		"LODESTONE_S3_SECRET_KEY=secret",
	}
	p := launch(t, t.TempDir(), env, "doctor")
	require.Equal(t, exitFailed, p.wait(), "%s", p.out)
	for _, words := range []string{
		"postgres    does not answer", "-> start PostgreSQL, or correct --postgres-url", "clickhouse  does not answer",
		"kafka       does not answer",
		"the store of documents gives no answer", "4 fail",
	} {
		require.Contains(t, p.out.String(), words)
	}
	require.NotContains(t, p.out.String(), "secret")

	p = launch(t, t.TempDir(), env, "doctor", "--json")
	require.Equal(t, exitFailed, p.wait())
	var report doctor.Report
	// Warnings and the error are beside it, on standard error.
	_, document, found := strings.Cut(p.out.String(), "{\n")
	require.True(t, found)
	require.NoError(t, json.NewDecoder(strings.NewReader("{\n"+document)).Decode(&report), "%s", p.out)
	require.Equal(t, 4, report.Count(doctor.Fail))
}

// A key with the right number and other bytes opens nothing: token-keys tries it on what is stored.
func TestSecretsUnderAnotherKeyOfTheSameNumber(t *testing.T) {
	t.Parallel()
	address := enginetest.MigratedPostgresURL(t)
	pool := enginetest.PostgresPool(t, address)
	right, wrong := token.NewKeys(1).Keys, token.NewKeys(1).Keys
	ring, err := token.Config{Keys: right}.Ring()
	require.NoError(t, err)
	link, magnet, account := uuid.New(), uuid.New(), uuid.New()
	secret, err := accesslink.NewToken(ring, link)
	require.NoError(t, err)
	for _, s := range []struct {
		statement string
		args      []any
	}{
		{"INSERT INTO accounts (id, name, plan) VALUES ($1, 'Test', 'free')", []any{account}},
		{"INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')", []any{magnet, account}},
		{`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
			VALUES ($1, $2, $3, 'ada@example.com', 'ada@example.com', $4, $5, $6)`, []any{link, account, magnet, secret.Hash, secret.Sealed, secret.Key}},
	} {
		_, err := pool.Unscoped().Exec(t.Context(), s.statement, s.args...)
		require.NoError(t, err)
	}
	run := func(keys string, command ...string) (int, string) {
		p := launch(t, t.TempDir(), []string{"LODESTONE_POSTGRES_URL=" + address, "LODESTONE_TOKEN_KEYS=" + keys}, command...)
		return p.wait(), p.out.String()
	}
	code, out := run(right, "token-keys")
	require.Zero(t, code, out)
	code, out = run(wrong, "token-keys")
	require.Equal(t, exitUnfinished, code, out)
	require.Regexp(t, `access_links.token_sealed +0 +1`, out)
	require.Contains(t, out, "no given key opens 1 secrets")
}
