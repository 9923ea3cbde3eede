package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/certificate"
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
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

func TestWhatIsWellAndWhatIsNot(t *testing.T) {
	t.Parallel()
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 2})
	well := Engines{Postgres: postgres.Config{URL: s.PostgresURL, MaxConns: 4}, ClickHouse: s.ClickHouse, Kafka: s.Kafka}
	r := examine(t, well)
	require.Zero(t, r.Count(Fail), "%v", r.Findings)
	for _, words := range []string{
		"postgres: is version", "postgres: has every migration", "clickhouse: has every migration", "clock: postgres agrees", "clock: clickhouse agrees",
		"kafka: its topics exist", "clock: Kafka has no records",
	} {
		line(t, r, OK, words)
	}

	// One fault at a time, each of which leaves the rest well.
	only := func(r *Report, words string) Finding {
		t.Helper()
		f := line(t, r, Fail, words)
		require.Equal(t, 1, r.Count(Fail), "%v", r.Findings)
		return f
	}
	e := well
	e.Postgres.URL = enginetest.Postgres(t)
	require.Contains(t, only(examine(t, e), "postgres: lacks").Remedy, "lodestone migrate")
	e.Postgres.URL = "postgres://lodestone:secret@" + gone(t) + "/lodestone"
	f := only(examine(t, e), "postgres: does not answer")
	require.NotContains(t, f.Found, "secret")
	e.Postgres.URL = ""
	require.Contains(t, only(examine(t, e), "settings: --postgres-url (LODESTONE_POSTGRES_URL) is missing").Remedy, "give the address")

	e = well
	e.ClickHouse = clickhouse.Config{URL: "clickhouse://default:secret@" + gone(t) + "/lodestone"}
	f = only(examine(t, e), "clickhouse: does not answer")
	require.NotContains(t, f.Found, "secret")

	// Of several servers, each is asked.
	u, err := url.Parse(s.ClickHouse.URL)
	require.NoError(t, err)
	away := gone(t)
	e = well
	e.ClickHouse.Shards = away + ";" + u.Host
	r = examine(t, e)
	require.Contains(t, only(r, "clickhouse: does not answer").Found, away)
	line(t, r, OK, "clickhouse: "+u.Host+" is version")
	line(t, r, OK, "clock: clickhouse at "+u.Host+" agrees")

	e = well
	e.Kafka = kafka.Config{Brokers: []string{gone(t)}}
	only(examine(t, e), "kafka: does not answer")

	admin := kadm.NewClient(s.Client)
	compact := "compact"
	_, err = admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.SetConfig, Name: "cleanup.policy", Value: &compact}}, event.Topic)
	require.NoError(t, err)
	require.Contains(t, only(examine(t, well), "kafka: topic lodestone.events: cleanup.policy").Remedy, "kafka-configs.sh")
	_, err = admin.AlterTopicConfigs(t.Context(), []kadm.AlterConfig{{Op: kadm.DeleteConfig, Name: "cleanup.policy"}}, event.Topic)
	require.NoError(t, err)
	record := &kgo.Record{Topic: event.Topic, Value: []byte("x"), Timestamp: time.Now().Add(time.Hour)}
	require.NoError(t, s.Client.ProduceSync(t.Context(), record).FirstErr())
	only(examine(t, well), "clock: Kafka has a record of")
	_, err = admin.DeleteTopics(t.Context(), event.Topic)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		r := examine(t, well)
		return r.Count(Fail) == 1 && strings.Contains(fmt.Sprint(r.Findings), "does not exist")
	}, enginetest.Timeout, 100*time.Millisecond)
}

// Users with too few rights are named with the GRANT that they lack.
func TestRights(t *testing.T) {
	t.Parallel()
	s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1})
	name := "poor" + strconv.FormatInt(time.Now().UnixNano(), 36)
	s.Exec("CREATE ROLE " + name + " LOGIN PASSWORD 'poor'")
	s.Exec("GRANT SELECT ON ALL TABLES IN SCHEMA public TO " + name)
	u, err := url.Parse(s.PostgresURL)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "poor")
	r := examine(t, Engines{Postgres: postgres.Config{URL: u.String(), MaxConns: 2}})
	require.Contains(t, line(t, r, Fail, "may not take the role lodestone_account").Remedy, "GRANT lodestone_account TO "+name)
	line(t, r, Warn, "may not create tables")
	line(t, r, OK, "all processes have to connect as "+name)

	// The user for SQL may read only, and not these tables.
	reader, err := url.Parse(enginetest.Server(t).SQLURL())
	require.NoError(t, err)
	u, err = url.Parse(s.ClickHouse.URL)
	require.NoError(t, err)
	u.User = reader.User
	r = examine(t, Engines{ClickHouse: clickhouse.Config{URL: u.String()}})
	require.Contains(t, line(t, r, Fail, "CREATE FUNCTION").Remedy, "GRANT CREATE FUNCTION, DROP FUNCTION ON *.*")
	line(t, r, Fail, "the user lacks SELECT, INSERT, CREATE TABLE")
}

// The addresses of HTTP are asked with their logins: what answers has to be ClickHouse, and to know the user.
func TestHTTPAddresses(t *testing.T) {
	t.Parallel()
	server := enginetest.Server(t)
	_, err := clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("<html>Welcome</html>"))
	}))
	t.Cleanup(web.Close)
	native, err := url.Parse(server.URL())
	require.NoError(t, err)
	for setting, address := range map[string]string{"--sql-url": server.SQLURL(), "--clickhouse-http-url": server.HTTPURL()} {
		check := func(change func(*url.URL)) *Report {
			u, err := url.Parse(address)
			require.NoError(t, err)
			change(u)
			e := Engines{SQLURL: u.String()}
			if setting != "--sql-url" {
				e = Engines{HTTPURL: u.String(), ClickHouse: clickhouse.Config{URL: server.URL()}}
			}
			return examine(t, e)
		}
		line(t, check(func(*url.URL) {}), OK, setting+" answers")
		for name, change := range map[string]func(*url.URL){
			"a wrong password":         func(u *url.URL) { u.User = url.UserPassword(u.User.Username(), "hunter2") },
			"no password":              func(u *url.URL) { u.User = url.User(u.User.Username()) },
			"another user":             func(u *url.URL) { u.User = url.UserPassword("other", "hunter2") },
			"another database":         func(u *url.URL) { u.RawQuery = "database=other" },
			"another kind of server":   func(u *url.URL) { u.Host = strings.TrimPrefix(web.URL, "http://") },
			"the port of the protocol": func(u *url.URL) { u.Host = native.Host },
			"nothing there":            func(u *url.URL) { u.Host = gone(t) },
		} {
			f := line(t, check(change), Fail, setting+" ("+config.EnvName(setting)+") gets no answer")
			require.Contains(t, f.Remedy, setting, name)
			require.NotContains(t, f.Found+f.Remedy, "hunter2", name)
		}
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	asked := time.Date(2026, 11, 26, 5, 0, 0, 0, time.UTC)
	answered := asked.Add(2 * time.Second) // a slow answer is no skew
	for skew, want := range map[time.Duration]Status{
		0: OK, 100 * time.Millisecond: OK, -100 * time.Millisecond: OK, 500 * time.Millisecond: Warn, -500 * time.Millisecond: Warn, time.Hour: Fail, -time.Minute: Fail,
	} {
		at := asked.Add(time.Second + skew)
		if skew > 0 {
			at = answered.Add(skew)
		} else if skew < 0 {
			at = asked.Add(skew)
		}
		var r Report
		r.clock("postgres", at, asked, answered)
		require.Equal(t, want, r.Findings[0].Status, skew)
	}
}

func TestDisks(t *testing.T) {
	t.Parallel()
	for free, want := range map[uint64]Status{500 << 20: Fail, 2 << 30: Warn, 100 << 30: OK} {
		var r Report
		r.disk("clickhouse", "the disk default", free, 200<<30, minClickHouse)
		require.Equal(t, want, r.Findings[0].Status)
	}
	var r Report
	Machine{Spool: filepath.Join(t.TempDir(), "missing")}.Check(t.Context(), &r)
	line(t, &r, Fail, "missing is no directory")
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	r = Report{}
	Machine{Spool: file}.Check(t.Context(), &r)
	line(t, &r, Fail, "is no directory")
	r = Report{}
	spool := t.TempDir()
	Machine{Spool: spool, Data: filepath.Join(spool, "nothing runs here")}.Check(t.Context(), &r)
	require.Zero(t, r.Count(Fail), "%v", r.Findings)
	left, err := os.ReadDir(spool)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "lodestone-doctor-") // everyone can enter this one
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	write := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chmod(path, mode))
		return path
	}
	private, open, empty := write("private", "x", 0o600), write("open", "x", 0o644), write("empty", "", 0o600)
	write("lodestone.env", "x", 0o644)
	var r Report
	Machine{Data: dir, Unknown: []string{"LODESTONE_RETENTION_MONTH"}, Environ: []string{
		"LODESTONE_TOKEN_KEYS_FILE=" + private, "LODESTONE_POSTGRES_URL_FILE=" + open, "LODESTONE_SQL_URL_FILE=" + empty, "LODESTONE_SMTP_URL_FILE=" + dir + "/none", "OTHER_FILE=/none",
	}}.Check(t.Context(), &r)
	line(t, &r, OK, "private is readable by its owner only")
	require.Equal(t, "chmod o= "+open, line(t, &r, Warn, "open is open to every user").Remedy)
	line(t, &r, Warn, "lodestone.env is open to every user")
	line(t, &r, Fail, "empty is empty")
	line(t, &r, Fail, "none cannot be read")
	line(t, &r, Warn, "LODESTONE_RETENTION_MONTH")
	require.Equal(t, 2, r.Count(Fail), "the files of other programs are not looked at: %v", r.Findings)
}

// Token keys are read as processes read them, and what is wrong with them is named without them.
func TestTokenKeys(t *testing.T) {
	t.Parallel()
	examine := func(m Machine) *Report {
		var r Report
		m.tokenKeys(&r)
		return &r
	}
	two := token.NewKeys(3).Keys + "," + token.NewKeys(7).Keys
	line(t, examine(Machine{TokenKeys: two}), OK, "settings: --token-keys (LODESTONE_TOKEN_KEYS) has 2 keys, and key 3 signs")
	f := line(t, examine(Machine{TokenKeys: token.NewKeys(1).Keys + ",2:hunter2"}), Fail, "settings: --token-keys (LODESTONE_TOKEN_KEYS) has a wrong entry at position 2")
	require.NotContains(t, f.Found+f.Remedy, "hunter2")
	line(t, examine(Machine{TokenKeys: two + "," + token.NewKeys(7).Keys}), Fail, "has key id 7 twice")

	// Those of a data directory are used if none are given.
	dir := t.TempDir()
	file := filepath.Join(dir, "token-keys")
	require.Empty(t, examine(Machine{Data: dir}).Findings, "nothing ran there, and not every process needs keys")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lodestone.env"), nil, 0o600))
	require.Contains(t, line(t, examine(Machine{Data: dir}), Warn, file+" does not exist").Remedy, "--token-keys")
	line(t, examine(Machine{Data: dir, TokenKeys: two}), OK, "--token-keys (LODESTONE_TOKEN_KEYS) has 2 keys")
	require.NoError(t, os.WriteFile(file, []byte(token.NewKeys(1).Keys+"\n"), 0o600))
	line(t, examine(Machine{Data: dir}), OK, file+" has 1 keys, and key 1 signs")
	require.NoError(t, os.WriteFile(file, []byte("hunter2"), 0o600))
	require.NotContains(t, line(t, examine(Machine{Data: dir}), Fail, file+" has a wrong entry at position 1").Found, "hunter2")
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	dir := t.TempDir()
	for until, want := range map[time.Duration]Status{-time.Hour: Fail, 3 * 24 * time.Hour: Warn, 90 * 24 * time.Hour: OK} {
		template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kafka.example.com"}, NotBefore: time.Now().Add(-100 * 24 * time.Hour), NotAfter: time.Now().Add(until)}
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		require.NoError(t, err)
		file := filepath.Join(dir, "cert.pem")
		require.NoError(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
		var r Report
		r.certificateFile(file)
		line(t, &r, want, "certificates: "+file)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "not"), []byte("x"), 0o600))
	var r Report
	r.certificateFile(filepath.Join(dir, "not"))
	r.certificateFile(filepath.Join(dir, "none"))
	Machine{Addresses: []string{"https://" + gone(t), "http://" + gone(t)}}.Check(t.Context(), &r)
	line(t, &r, Fail, "not has no certificate")
	line(t, &r, Fail, "none cannot be read")
	line(t, &r, Fail, "is not reachable as browsers do")
	require.Equal(t, 3, r.Count(Fail))
}

// The certificates of listeners belong to their keys, and have the names that browsers ask for.
func TestCertificatesOfListeners(t *testing.T) {
	t.Parallel()
	a := certificatetest.NewAuthority(t)
	site, other := a.IssueFor("site", time.Now().Add(90*24*time.Hour), "links.example.com"), a.IssueFor("other", time.Now().Add(time.Hour), "*.example.com")
	var r Report
	Machine{Listeners: []Listener{
		{Prefix: "", Files: certificate.Server{Cert: site.Cert, Key: site.Key}, Public: "https://links.example.com/x"},
		{Prefix: "collector-", Files: certificate.Server{Cert: other.Cert, Key: other.Key, ClientCA: a.CA}, Public: "https://events.example.org"},
		{Prefix: "admin-", Files: certificate.Server{Cert: site.Cert, Key: other.Key}},
	}}.Check(t.Context(), &r)
	line(t, &r, OK, "--tls-cert is for links.example.com")
	line(t, &r, Warn, "--collector-tls-cert is for *.example.com, and browsers ask for events.example.org")
	line(t, &r, Warn, other.Cert)
	line(t, &r, Fail, "--admin-tls-cert cannot be used")
}

func TestBothForms(t *testing.T) {
	t.Parallel()
	var r Report
	r.ok("postgres", "is version %s", "18.1")
	r.warn("disk", "free some", "has little")
	r.fail("kafka", "start it", "does not answer")
	var text, document strings.Builder
	require.NoError(t, r.Print(&text))
	require.Contains(t, text.String(), "-> start it")
	require.Contains(t, text.String(), "1 ok, 1 warn, 1 fail")
	require.NoError(t, r.PrintJSON(&document))
	require.JSONEq(t, `{"findings":[{"status":"ok","area":"postgres","found":"is version 18.1"},{"status":"warn","area":"disk","found":"has little","remedy":"free some"},
		{"status":"fail","area":"kafka","found":"does not answer","remedy":"start it"}]}`, document.String())
}

// gone is an address at which nothing listens.
func gone(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
}
