package main

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/crud/accesslink"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/token"
)

// Everything that is wrong is in one report, with the code of a failure, as lines and as a document.
func TestDoctorReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	log := filepath.Join(t.TempDir(), "erasures")
	env := []string{
		"LODESTONE_POSTGRES_URL=postgres://u:secret@" + gone + "/x", "LODESTONE_KAFKA_BROKERS=" + gone,
		"LODESTONE_TOKEN_KEYS=1:secret", "LODESTONE_ERASURE_LOG=" + log, "LODESTONE_FILE_STORE=s3://documents", "LODESTONE_FILE_S3_ENDPOINT=http://" + gone,
		"LODESTONE_FILE_S3_REGION=eu-central-1", "LODESTONE_FILE_S3_ACCESS_KEY=access", "LODESTONE_FILE_S3_SECRET_KEY=secret", "LODESTONE_RETENTION_MONTH=3",
		"LODESTONE_SQL_URL=http://u:secret@" + gone + "/?database=analytics", "LODESTONE_CLICKHOUSE_HTTP_URL=http://u:secret@" + gone,
	}
	p := launch(t, t.TempDir(), env, "doctor")
	require.Equal(t, exitFailed, p.wait(), "%s", p.out)
	for _, words := range []string{
		"postgres    does not answer", "-> start PostgreSQL, or correct --postgres-url", "kafka       does not answer", "--clickhouse-url (LODESTONE_CLICKHOUSE_URL) is missing", "LODESTONE_RETENTION_MONTH",
		"--token-keys (LODESTONE_TOKEN_KEYS) has a wrong entry at position 1", "the bucket of files s3://documents: the store does not answer",
		"the log of erasures " + log + " does not exist", "--sql-url (LODESTONE_SQL_URL) gets no answer",
		"--clickhouse-http-url (LODESTONE_CLICKHOUSE_HTTP_URL) gets no answer, so exports get 503", "7 fail",
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
	require.Equal(t, 7, report.Count(doctor.Fail))
	require.NoDirExists(t, log)
}

// A key with the right number and other bytes opens nothing: doctor and token-keys try it on what is stored.
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
	_, out = run(right, "doctor")
	require.Contains(t, out, "the token keys open the secrets of the database")
	_, out = run(wrong, "doctor")
	require.Contains(t, out, "no token key opens 1 of 1 secrets of the database")
}
