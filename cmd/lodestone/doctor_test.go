package main

import (
	"encoding/json"
	"net"
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
	env := []string{"LODESTONE_POSTGRES_URL=postgres://u:secret@" + gone + "/x", "LODESTONE_KAFKA_BROKERS=" + gone, "LODESTONE_RETENTION_MONTH=3"}
	p := launch(t, t.TempDir(), env, "doctor")
	require.Equal(t, exitFailed, p.wait(), "%s", p.out)
	for _, words := range []string{
		"postgres  does not answer", "-> start PostgreSQL, or correct --postgres-url", "kafka     does not answer", "--clickhouse-url (LODESTONE_CLICKHOUSE_URL) is missing", "LODESTONE_RETENTION_MONTH",
		"3 fail",
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
	require.Equal(t, 3, report.Count(doctor.Fail))
}
