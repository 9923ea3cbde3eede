package doctor

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/blob"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// line returns the finding of a status that has these words, and fails without one.
func line(t *testing.T, r *Report, s Status, words string) Finding {
	t.Helper()
	for _, f := range r.Findings {
		if f.Status == s && strings.Contains(f.Area+": "+f.Found, words) {
			require.Equal(t, s == OK, f.Remedy == "", "what is wrong has a remedy: %v", f)
			return f
		}
	}
	require.Fail(t, "no finding", "%s %q among %v", s, words, r.Findings)
	return Finding{}
}

func examine(t *testing.T, e Engines) *Report {
	t.Helper()
	var r Report
	e.Check(t.Context(), &r)
	return &r
}

// Each engine that does not answer is one finding, without its password, and leaves the rest well.
func TestEngines(t *testing.T) {
	t.Parallel()
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2})
	server, away := enginetest.Server(t), gone(t)
	well := Engines{
		Postgres: postgres.Config{URL: s.PostgresURL, MaxConns: 4}, ClickHouse: s.ClickHouse, Kafka: s.Kafka,
		HTTPURL: server.HTTPURL(), SQLURL: server.SQLURL(),
	}
	r := examine(t, well)
	require.Zero(t, r.Count(Fail), "%v", r.Findings)
	for _, words := range []string{
		"postgres: answers", "clock: postgres agrees", "clock: clickhouse at", "disk: the disk",
		"clickhouse: --sql-url answers",
		"clickhouse: --clickhouse-http-url answers", "kafka: answers", "clock: no record in Kafka",
	} {
		line(t, r, OK, words)
	}
	u, err := url.Parse(s.ClickHouse.URL)
	require.NoError(t, err)
	for _, c := range []struct {
		change        func(e *Engines)
		found, remedy string
	}{
		{func(e *Engines) { e.Postgres.URL = "postgres://u:hunter2@" + away + "/x" },
			"postgres: does not answer", "--postgres-url"},
		{func(e *Engines) { e.ClickHouse.Shards = away + ";" + u.Host },
			"clickhouse: does not answer", "--clickhouse-shards"},
		{func(e *Engines) { e.Kafka = kafka.Config{Brokers: []string{away}} }, "kafka: does not answer", "--kafka-brokers"},
		{func(e *Engines) { e.HTTPURL = "http://u:hunter2@" + away },
			"--clickhouse-http-url (LODESTONE_CLICKHOUSE_HTTP_URL) gets no answer", ""},
		{func(e *Engines) { e.SQLURL = strings.Replace(e.SQLURL, "@", "hunter2@", 1) },
			"--sql-url (LODESTONE_SQL_URL) gets no answer", ""},
		{func(e *Engines) {
			store := blob.Config{Endpoint: "http://" + away, AccessKey: "k", SecretKey: "hunter2", Region: "x"}
			e.Buckets = []Bucket{{"--file-store", store, blob.Location{Bucket: "documents"}}}
		}, "bucket: the store of documents gives no answer", "--file-store"},
	} {
		e := well
		c.change(&e)
		r := examine(t, e)
		f := line(t, r, Fail, c.found)
		require.Contains(t, f.Remedy, c.remedy)
		require.NotContains(t, fmt.Sprint(r.Findings), "hunter2")
		require.Equal(t, 1, r.Count(Fail), "%v", r.Findings)
	}
	record := &kgo.Record{Topic: event.Topic, Value: []byte("x"), Timestamp: time.Now().Add(time.Hour)}
	require.NoError(t, s.Client.ProduceSync(t.Context(), record).FirstErr())
	line(t, examine(t, well), Fail, "clock: Kafka has a record of")
}

// What answers over HTTP has to be ClickHouse, and to know the user.
func TestHTTPAddresses(t *testing.T) {
	t.Parallel()
	native, err := url.Parse(enginetest.Server(t).URL())
	require.NoError(t, err)
	for name, change := range map[string]func(*url.URL){
		"no password":              func(u *url.URL) { u.User = url.User(u.User.Username()) },
		"another user":             func(u *url.URL) { u.User = url.UserPassword("other", "hunter2") },
		"another database":         func(u *url.URL) { u.RawQuery = "database=other" },
		"the port of the protocol": func(u *url.URL) { u.Host = native.Host },
	} {
		u, err := url.Parse(enginetest.Server(t).SQLURL())
		require.NoError(t, err)
		change(u)
		var r Report
		r.http(t.Context(), "--sql-url", clickhouse.HTTPLogin{URL: u.String()})
		require.NotContains(t, line(t, &r, Fail, "--sql-url").Found, "hunter2", name)
	}
}

func TestClocksAndDisks(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 26, 5, 0, 0, 0, time.UTC)
	answered := asked.Add(2 * time.Second) // a slow answer is no skew
	for at, want := range map[time.Time]Status{
		asked: OK, answered.Add(100 * time.Millisecond): OK, asked.Add(-100 * time.Millisecond): OK,
		answered.Add(500 * time.Millisecond): Warn,
		asked.Add(-500 * time.Millisecond):   Warn, answered.Add(time.Hour): Fail, asked.Add(-time.Minute): Fail,
	} {
		var r Report
		r.clock("postgres", at, asked, answered)
		require.Equal(t, want, r.Findings[0].Status, at)
	}
	for free, want := range map[uint64]Status{500 << 20: Fail, 2 << 30: Warn, 100 << 30: OK} {
		var r Report
		r.disk("the disk default", free, minDisk)
		require.Equal(t, want, r.Findings[0].Status)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	var r Report
	Machine{Spool: missing, Data: missing, ErasureLog: missing}.Check(t.Context(), &r)
	line(t, &r, Fail, "the spool "+missing+" cannot be used")
	line(t, &r, Fail, "the log of erasures "+missing+" cannot be used")
	require.Len(t, r.Findings, 2, "no `up` runs in a data directory that does not exist")
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	a := test.NewAuthority(t)
	var r Report
	for until, want := range map[time.Duration]Status{-time.Hour: Fail,
		3 * 24 * time.Hour: Warn, 90 * 24 * time.Hour: OK} {
		file := a.IssueFor(string(want), time.Now().Add(until), "links.example.com").Cert
		r.certificates(file)
		line(t, &r, want, "certificates: "+file)
	}
	none := filepath.Join(t.TempDir(), "none")
	r = Report{}
	r.certificates(none)
	line(t, &r, Fail, none+" cannot be read")
	require.NoError(t, os.WriteFile(none, []byte("x"), 0o600))
	r.certificates(none)
	line(t, &r, Fail, none+" has no certificate")
	Machine{Addresses: []string{"https://" + gone(t), "http://" + gone(t)}}.Check(t.Context(), &r)
	line(t, &r, Fail, "is not reachable as browsers do")
	require.Equal(t, 3, r.Count(Fail))
}

// gone is an address at which nothing listens.
func gone(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
}
