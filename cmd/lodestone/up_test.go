package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
)

const demoAgrees = "What was sent, what the API answers and what SQL answers agree."

func TestUpFromTheFirstStartToTheSecond(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.empty = true
	u.start()

	info, err := os.Stat(filepath.Join(u.dir, "data", "lodestone.env"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	for _, name := range []string{
		"LODESTONE_URL", "LODESTONE_COLLECTOR_URL", "LODESTONE_ADMIN_URL", "LODESTONE_API_KEY", "LODESTONE_POSTGRES_URL",
		"LODESTONE_KAFKA_BROKERS", "LODESTONE_CLICKHOUSE_URL", "LODESTONE_CLICKHOUSE_HTTP_URL", "LODESTONE_SQL_URL",
	} {
		require.NotEmpty(t, u.env[name], name)
	}
	for _, shown := range []string{"LODESTONE_URL", "LODESTONE_COLLECTOR_URL"} {
		require.Contains(t, u.out.String(), u.env[shown])
	}
	landing := u.env["LODESTONE_URL"] + "/l/welcome"
	require.Contains(t, u.out.String(), landing)
	status, _ := get(t, landing, "")
	require.Equal(t, http.StatusOK, status)

	metrics := u.metrics()
	requireWatched(t, metrics)
	requireDocumented(t, metrics+secureMetrics(t)+optionalMetrics(t))

	examined := launch(t, u.dir, nil, "doctor")
	require.Zero(t, examined.wait(), "%s", examined.out)
	require.Contains(t, examined.out.String(), " 0 fail")
	var env []string
	for name, value := range u.env {
		if name != "LODESTONE_SQL_URL" { // others are settings of `migrate`, or of no command
			env = append(env, name+"="+strings.Trim(value, "'"))
		}
	}
	pending := launch(t, u.dir, env, "migrate", "--check")
	require.Zero(t, pending.wait(), "%s", pending.out)
	require.Contains(t, pending.out.String(), "no migration is pending")

	demo := launch(t, u.dir, nil, "demo")
	require.Zero(t, demo.wait(), "%s", demo.out)
	require.Contains(t, demo.out.String(), demoAgrees)
	newest := func() (events string) {
		_, answer := get(t, u.env["LODESTONE_URL"]+"/api/v1/analytics", u.env["LODESTONE_API_KEY"])
		events, _, _ = strings.Cut(answer, `"pagination":`) // which tells where the next pull begins
		return events
	}
	before := newest()
	require.Contains(t, before, `"event_type":"page_viewed"`)

	second := launch(t, u.dir, nil, u.args()...)
	require.NotZero(t, second.wait())
	require.Contains(t, second.out.String(), "in use")

	key := u.env["LODESTONE_API_KEY"]
	// A client in the middle of a request holds nothing up, and spoils nothing.
	slow, err := net.Dial("tcp", strings.TrimPrefix(u.env["LODESTONE_COLLECTOR_URL"], "http://"))
	require.NoError(t, err)
	defer func() { require.NoError(t, slow.Close()) }()
	_, err = slow.Write(
		[]byte("POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"))
	require.NoError(t, err)
	u.interrupt(enginetest.Timeout)
	require.Empty(t, u.children(""))
	u.start()
	require.Equal(t, key, u.env["LODESTONE_API_KEY"], "a key that still works is used again")
	require.Equal(t, before, newest(), "a restart keeps all data")

	require.Contains(t, u.metrics(), "lodestone_consumer_rows_total")
	u.interrupt(enginetest.Timeout)
}

// metrics returns all that the process shows to Prometheus. An answer lacks the jobs of the queue
// if Postgres took longer than a scrape may.
func (u *up) metrics() (text string) {
	u.t.Helper()
	require.Eventually(u.t, func() bool {
		var status int
		status, text = get(u.t, u.env["LODESTONE_ADMIN_URL"]+"/metrics", "")
		return status == http.StatusOK && strings.Contains(text, "\nlodestone_queue_jobs{")
	}, enginetest.Timeout, interval)
	return text
}

func TestUpSurvivesTheKillOfEverythingAndOfClickHouse(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	url, collector, key := u.env["LODESTONE_URL"], u.env["LODESTONE_COLLECTOR_URL"], u.env["LODESTONE_API_KEY"]
	l := newLoad(t, client.New(client.Config{URL: url, Key: key}), collector)
	l.start(4)
	for range 2 {
		l.awaitAcked(2_000)
		u.kill() // and with it every child
		u.start()
		l.awaitAcked(500)
		servers := u.children("lodestone-clickhouse")
		require.Len(t, servers, 1)
		require.NoError(t, syscall.Kill(servers[0], syscall.SIGKILL))
	}
	l.awaitAcked(2_000)
	l.stop()
	l.requireAnswered(url, key)
}

func TestUpNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, taken.Close()) }()

	u := newUp(t)
	args := append(u.args(), "--listen", taken.Addr().String(), "--collector-listen", taken.Addr().String())
	p := launch(t, u.dir, nil, args...)
	require.Equal(t, exitSettings, p.wait())
	for _, name := range []string{"--listen (LODESTONE_LISTEN)", "--collector-listen (LODESTONE_COLLECTOR_LISTEN)"} {
		require.Contains(t, p.out.String(), name+" is "+taken.Addr().String(), "all problems at once")
	}
	require.NotContains(t, p.out.String(), "--admin-listen")
	require.Empty(t, p.children(""))
	require.NoDirExists(t, filepath.Join(u.dir, "data", "postgres"), "before any engine was started")

	p = launch(t, u.dir, []string{"LODESTONE_CONSUMER_BATCH_AGE=0", "LODESTONE_QUERY_LIVE_STREAMS=-1"}, u.args()...)
	require.Equal(t, exitSettings, p.wait())
	for _, name := range []string{"--consumer-batch-age (LODESTONE_CONSUMER_BATCH_AGE)",
		"--query-live-streams (LODESTONE_QUERY_LIVE_STREAMS)"} {
		require.Contains(t, p.out.String(), name, "all problems at once")
	}
}

// Whoever reads lodestone.env into a shell and starts there again gives the embedded engines of the
// last start as engines of someone else.
func TestUpNamesEnginesThatItCannotReach(t *testing.T) {
	t.Parallel()
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	u := newUp(t)
	postgres, clickhouse := "postgres://u:secret@"+gone+"/x", "clickhouse://u:secret@"+gone+"/lodestone"
	require.NoError(t, os.MkdirAll(filepath.Join(u.dir, "data"), 0o700))
	_, err := writeEnvFile(filepath.Join(u.dir, "data"), []envLine{{"LODESTONE_POSTGRES_URL", "postgres://other"},
		{"LODESTONE_CLICKHOUSE_URL", clickhouse}})
	require.NoError(t, err)
	p := launch(t, u.dir, []string{"LODESTONE_POSTGRES_URL=" + postgres, "LODESTONE_KAFKA_BROKERS=" + gone,
		"LODESTONE_CLICKHOUSE_URL=" + clickhouse}, u.args()...)
	require.Equal(t, exitSettings, p.wait())
	for _, part := range []string{
		"--postgres-url (LODESTONE_POSTGRES_URL) cannot be reached",
		"--kafka-brokers (LODESTONE_KAFKA_BROKERS) cannot be reached",
		"start that engine, or leave the setting out",
		"from lodestone.env: `unset LODESTONE_CLICKHOUSE_URL LODESTONE_CLICKHOUSE_HTTP_URL LODESTONE_SQL_URL`",
	} {
		require.Contains(t, p.out.String(), part)
	}
	require.NotContains(t, p.out.String(), "secret")
	require.NoDirExists(t, filepath.Join(u.dir, "data", "postgres"), "before any engine was started")
}

func TestDemoWithoutSettingsNamesTheRemedy(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "elsewhere")
	p := launch(t, t.TempDir(), []string{"LODESTONE_URL=http://127.0.0.1:9"}, "demo", "--data", dir)
	require.Equal(t, exitSettings, p.wait())
	require.Contains(t, p.out.String(), "start `lodestone up --data "+dir+
		"` first, or give --url, --collector-url and --api-key")
}

func TestHelpShowsEveryFlagWithItsVariableAndDefault(t *testing.T) {
	t.Parallel()
	parser, err := newParser(&commands{}, &config.Files{Getenv: os.Getenv})
	require.NoError(t, err)
	for _, name := range []string{"up", "collector", "consumer", "query", "crud", "migrate", "demo"} {
		i := slices.IndexFunc(parser.Model.Children, func(n *kong.Node) bool { return n.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		c := parser.Model.Children[i]
		p := launch(t, t.TempDir(), nil, name, "--help")
		require.Zero(t, p.wait())
		help := strings.Join(strings.Fields(p.out.String()), " ")
		flags := 0
		for _, group := range c.AllFlags(true) {
			for _, f := range group {
				flags++
				require.Contains(t, help, " --"+f.Name)
				if f.Name != "help" && !config.FlagOnly(f) {
					require.Contains(t, help, "($"+config.EnvName(f.Name)+")")
				}
			}
		}
		require.Positive(t, flags)
	}
}
