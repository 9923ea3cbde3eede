package deploy_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/test/enginetest"
)

// imageConfig and imageUsers stand for the files of the ClickHouse image that ours are merged over.
const imageConfig = `<clickhouse>
  <logger><level>trace</level><console>1</console></logger>
  <path>%[1]s/data/</path>
  <tmp_path>%[1]s/data/tmp/</tmp_path>
  <users_config>users.xml</users_config>
  <listen_host>127.0.0.1</listen_host>
  <tcp_port>%[2]d</tcp_port>
  <http_port>%[3]d</http_port>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
  <query_log><database>system</database><table>query_log</table></query_log>
  <trace_log><database>system</database><table>trace_log</table></trace_log>
  <metric_log><database>system</database><table>metric_log</table></metric_log>
</clickhouse>`

const imageUsers = `<clickhouse>
  <profiles><default/><readonly><readonly>1</readonly></readonly></profiles>
  <users><default>
    <password></password><networks><ip>::/0</ip></networks>
    <profile>default</profile><quota>default</quota><access_management>1</access_management>
  </default></users>
  <quotas><default/></quotas>
</clickhouse>`

// consoleUser is for the library alone, whose console opens the ports as the user default. Its
// session is the only one.
const consoleUser = `<clickhouse>
  <profiles><console><max_sessions_for_user>1</max_sessions_for_user></console></profiles>
  <users><default replace="replace">
    <password></password><networks><ip>127.0.0.1</ip></networks><profile>console</profile><quota>default</quota>
    <grants><query>GRANT SYSTEM LISTEN ON *.*</query></grants>
  </default></users>
</clickhouse>`

// clickhouseServer runs a real server with the files of deploy/clickhouse merged over those of the
// image, and the environment of the compose file. It returns the HTTP address.
func clickhouseServer(t *testing.T, env ...string) string {
	t.Helper()
	dir := enginetest.Dir(t)
	tcp, http := enginetest.FreePort(t), enginetest.FreePort(t)
	write(t, filepath.Join(dir, "config.xml"), fmt.Appendf(nil, imageConfig, dir, tcp, http))
	write(t, filepath.Join(dir, "users.xml"), []byte(imageUsers))
	for _, name := range []string{"config.d/lodestone.xml", "config.d/small.xml", "users.d/lodestone.xml"} {
		text, err := os.ReadFile(filepath.Join(source, "clickhouse", name))
		require.NoError(t, err)
		write(t, filepath.Join(dir, name), text)
	}

	server, err := enginetest.Installer(t).ClickHouse(t.Context())
	require.NoError(t, err)
	if server.Library != "" {
		write(t, filepath.Join(dir, "users.d", "zz_console.xml"), []byte(consoleUser))
	}
	cmd := exec.Command(server.Server, "server", "--config-file="+filepath.Join(dir, "config.xml"))
	if server.Library != "" {
		cmd = exec.Command(enginetest.Launcher(t), "--config-file="+filepath.Join(dir, "config.xml"), "--log-level=error")
		env = append(env, engine.LauncherLibrary+"="+server.Library)
	}
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(env), "PATH="+os.Getenv("PATH"), "HOME="+dir, "TERM=dumb")
	log, err := os.Create(filepath.Join(dir, "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	input, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = input.Close()
		if server.Library == "" {
			_ = cmd.Process.Signal(os.Interrupt)
		}
		select {
		case <-ended:
		case <-time.After(2 * time.Minute):
			_ = cmd.Process.Kill()
			<-ended
		}
		_ = log.Close()
	})

	address := fmt.Sprintf("http://127.0.0.1:%d", http)
	deadline, poll := time.After(5*time.Minute), time.NewTicker(50*time.Millisecond)
	defer poll.Stop()
	for {
		if status, _ := get(t.Context(), address+"/ping"); status == 200 {
			return address
		}
		select {
		case err := <-ended:
			ended <- err
			text, _ := os.ReadFile(log.Name())
			t.Fatalf("ClickHouse ended (%v):\n%s", err, text)
		case <-deadline:
			t.Fatal("ClickHouse does not answer")
		case <-poll.C:
		}
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, text, 0o644))
}

// get returns a status and a body, or 0 and the error's text.
func get(ctx context.Context, address string) (status int, text string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	response, err := client.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err.Error()
	}
	return response.StatusCode, strings.TrimSpace(string(body))
}

func TestClickHouseUsers(t *testing.T) {
	t.Parallel()
	sum := func(password string) string {
		s := sha256.Sum256([]byte(password))
		return hex.EncodeToString(s[:])
	}
	address := clickhouseServer(t,
		"CLICKHOUSE_LODESTONE_PASSWORD_SHA256="+sum("of lodestone"),
		"CLICKHOUSE_ANALYST_PASSWORD_SHA256="+sum("of the analyst"),
		"CLICKHOUSE_LODESTONE_NETWORK=127.0.0.1/32")
	// As POST, since a GET is read-only by itself.
	ask := func(user, password, query string) (int, string) {
		return post(t, address+"/?"+url.Values{"user": {user}, "password": {password}}.Encode(), query)
	}
	must := func(user, password, query, answer string) {
		t.Helper()
		status, text := ask(user, password, query)
		require.Equal(t, 200, status, text)
		require.Equal(t, answer, text)
	}
	refused := func(user, password, query, why string) {
		t.Helper()
		status, text := ask(user, password, query)
		require.NotEqual(t, 200, status, "%s may do %q", user, query)
		require.Contains(t, text, why)
	}

	lodestone, analyst := "of lodestone", "of the analyst"
	for _, q := range []string{
		"CREATE DATABASE lodestone", "CREATE DATABASE analytics",
		"CREATE TABLE lodestone.secret (a Int8) ENGINE = MergeTree ORDER BY a", "INSERT INTO lodestone.secret VALUES (7)",
		"CREATE VIEW analytics.shown DEFINER = CURRENT_USER SQL SECURITY DEFINER AS SELECT a FROM lodestone.secret",
	} {
		must("lodestone", lodestone, q, "")
	}
	must("lodestone", lodestone, "SELECT value FROM system.settings WHERE name = 'async_insert'", "0")
	must("lodestone", lodestone, "SELECT value FROM system.server_settings WHERE name = 'max_server_memory_usage'",
		"1744830464")
	refused("lodestone", "wrong", "SELECT 1", "Authentication failed")

	enginetest.CheckClickHouseHTTP(t, strings.Replace(address, "//", "//analyst:of%20the%20analyst@", 1))

	must("analyst", analyst, "SELECT a FROM analytics.shown", "7")
	must("analyst", analyst, "SELECT 1 SETTINGS max_execution_time = 5", "1")
	refused("analyst", "", "SELECT 1", "Authentication failed")
	refused("analyst", analyst, "SELECT a FROM lodestone.secret", "Not enough privileges")
	refused("analyst", analyst, "SELECT count() FROM system.users", "Not enough privileges")
	refused("analyst", analyst, "INSERT INTO analytics.shown VALUES (1)", "Not enough privileges")
	refused("analyst", analyst, "SELECT * FROM url('http://127.0.0.1:1/', CSV, 'a Int8')", "Not enough privileges")
	refused("analyst", analyst, "SELECT * FROM file('/etc/passwd', LineAsString)", "Not enough privileges")
	refused("analyst", analyst, "SELECT 1 SETTINGS max_execution_time = 3600", "max_execution_time")
	refused("analyst", analyst, "SELECT 1 SETTINGS readonly = 0", "readonly")

	// The server's own logs: the one that we keep, and no other.
	must("lodestone", lodestone, "SYSTEM FLUSH LOGS", "")
	must("lodestone", lodestone,
		"SELECT groupArray(name) FROM system.tables WHERE database = 'system' AND name LIKE '%\\_log'", "['query_log']")
}

// A user without a password could be used by any program on the machine, and close the ports with
// any right. The library has one for its console, so this reads the file.
func TestEveryUserOfClickHouseHasAPassword(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(source + "/clickhouse/users.d/lodestone.xml")
	require.NoError(t, err)
	var file struct {
		Users struct {
			List []struct {
				XMLName xml.Name
				Remove  string `xml:"remove,attr"`
				SHA256  *struct {
					From string `xml:"from_env,attr"`
				} `xml:"password_sha256_hex"`
			} `xml:",any"`
		} `xml:"users"`
	}
	require.NoError(t, xml.Unmarshal(text, &file))
	removed := map[string]bool{}
	for _, user := range file.Users.List {
		if user.Remove == "remove" {
			removed[user.XMLName.Local] = true
			continue
		}
		require.NotNil(t, user.SHA256, user.XMLName.Local)
		require.NotEmpty(t, user.SHA256.From, user.XMLName.Local)
	}
	require.Equal(t, map[string]bool{"default": true}, removed, "the image has this user")
}

// The user that may do everything is not reached through the port that is published for SQL users.
func TestTheMightyUserComesFromTheNetworkOfTheProcesses(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("right"))
	address := clickhouseServer(t,
		"CLICKHOUSE_LODESTONE_PASSWORD_SHA256="+hex.EncodeToString(sum[:]),
		"CLICKHOUSE_ANALYST_PASSWORD_SHA256="+hex.EncodeToString(sum[:]),
		"CLICKHOUSE_LODESTONE_NETWORK=10.213.86.0/24")
	for user, allowed := range map[string]bool{"analyst": true, "lodestone": false} {
		status, text := post(t, address+"/?"+url.Values{"user": {user}, "password": {"right"}}.Encode(), "SELECT 1")
		require.Equal(t, allowed, status == 200, "%s: %s", user, text)
	}
}

func post(t *testing.T, address, body string) (status int, text string) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(t, err)
	response, err := client.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, response.Body.Close()) }()
	answer, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, strings.TrimSpace(string(answer))
}

// What is measured with `lodestone up` holds for servers that take the profile of small machines.
func TestTheProfileOfSmallMachinesIsThatOfUp(t *testing.T) {
	t.Parallel()
	of := func(file string) string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		return string(text)
	}
	require.Equal(t, of(root+"/pkg/engine/clickhouse_small.xml"), of(source+"/clickhouse/config.d/small.xml"),
		"copy pkg/engine/clickhouse_small.xml over the other")
}

// The analyst has the same profile here and on the embedded engine: a query
// that works in one place works in the other.
func TestAnalystIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	lines := func(file string) []string {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, profile, found := strings.Cut(string(text), "<analyst>") // the first one is the profile
		require.True(t, found, file)
		profile, _, found = strings.Cut(profile, "</analyst>")
		require.True(t, found, file)
		var lines []string
		for line := range strings.SplitSeq(profile, "\n") {
			if !strings.Contains(line, "<log_queries") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	require.Equal(t, lines(root+"/pkg/engine/clickhouse_users.xml"), lines(source+"/clickhouse/users.d/lodestone.xml"))
}
