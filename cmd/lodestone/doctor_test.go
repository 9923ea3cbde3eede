package main

import (
	"encoding/json"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/pkg/engine/enginetest"
)

// Everything that is wrong is in one report, with the code of a failure, as lines and as a document.
func TestDoctorReportsEverythingAtOnce(t *testing.T) {
	t.Parallel()
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	log := filepath.Join(t.TempDir(), "erasures")
	env := []string{
		"LODESTONE_POSTGRES_URL=postgres://u:secret@" + gone + "/x", "LODESTONE_POSTGRES_READ_URL=postgres://u:secret@" + gone + "/x", "LODESTONE_KAFKA_BROKERS=" + gone,
		"LODESTONE_TOKEN_KEYS=1:secret", "LODESTONE_ERASURE_LOG=" + log, "LODESTONE_FILE_STORE=s3://documents", "LODESTONE_FILE_S3_ENDPOINT=http://" + gone,
		"LODESTONE_FILE_S3_REGION=eu-central-1", "LODESTONE_FILE_S3_ACCESS_KEY=access", "LODESTONE_FILE_S3_SECRET_KEY=secret", "LODESTONE_RETENTION_MONTH=3",
	}
	p := launch(t, t.TempDir(), env, "doctor")
	require.Equal(t, exitFailed, p.wait(), "%s", p.out)
	for _, words := range []string{
		"postgres  does not answer", "-> start PostgreSQL, or correct --postgres-url", "kafka     does not answer", "--clickhouse-url (LODESTONE_CLICKHOUSE_URL) is missing", "LODESTONE_RETENTION_MONTH",
		"postgres  the replica does not answer", "--token-keys (LODESTONE_TOKEN_KEYS) has a wrong entry at position 1", "the bucket of files s3://documents: the store does not answer",
		"the log of erasures " + log + " does not exist", "6 fail",
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
	require.Equal(t, 6, report.Count(doctor.Fail))
	require.NoDirExists(t, log)
}
