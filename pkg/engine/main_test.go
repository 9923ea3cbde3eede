package engine_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

// A copy of this test binary with this variable set plays `lodestone up`: it starts the engines of
// the directory named, prints where they are, and waits to be killed.
const (
	upVariable    = "LODESTONE_TEST_UP_DIR"
	portsVariable = "LODESTONE_TEST_UP_PORTS"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(upVariable); dir != "" {
		os.Exit(playUp(dir))
	}
	enginetest.Main(m)
}

// running is the output of the simulated `lodestone up`.
type running struct {
	Postgres   string
	Kafka      kafka.Config
	ClickHouse string
	HTTP       string
	SQL        string
}

func playUp(dir string) int {
	var p ports
	if _, err := fmt.Sscan(os.Getenv(portsVariable), &p[0], &p[1], &p[2], &p[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	set := engine.NewSet(config(dir, os.Getenv("LODESTONE_TEST_LAUNCHER"), p), engine.Deps{Runtime: enginetest.Runtime()})
	out := json.NewEncoder(os.Stdout)
	if err := set.Start(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := out.Encode(running{Postgres: set.PostgresURL(), Kafka: set.Kafka(),
		ClickHouse: set.ClickHouseURL(), HTTP: set.ClickHouseHTTPURL(), SQL: set.SQLURL()}); err != nil {
		return 1
	}
	select {} // until killed
}

// ports are those of PostgreSQL, Kafka and ClickHouse, the last one's for HTTP.
type ports [4]int

// freePorts returns ports that stay a test's own while what listens there is started again.
func freePorts(t *testing.T) (p ports) {
	t.Helper()
	for i := range p {
		p[i] = enginetest.FreePort(t)
	}
	return p
}

// config is that of a test: what is acknowledged need not survive a power loss.
func config(dir, launcher string, p ports) engine.Config {
	return engine.Config{
		Data: dir, Cache: os.Getenv("LODESTONE_ENGINE_CACHE"), NoSync: true, Launcher: launcher,
		PostgresPort: p[0], KafkaPort: p[1], ClickHousePort: p[2], ClickHouseHTTPPort: p[3],
	}
}

// up starts another process that plays `lodestone up` on a directory. When the test ends, the
// process is killed and its children are waited for.
func up(t *testing.T, dir string) (*exec.Cmd, running) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), upVariable+"="+dir, portsVariable+"="+strings.Trim(fmt.Sprint(freePorts(t)), "[]"),
		"LODESTONE_TEST_LAUNCHER="+enginetest.Launcher(t))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(t, err)
	var r running
	require.NoError(t, json.Unmarshal(line, &r))
	children := []int{pidOf(t, dir, "clickhouse"), pidOf(t, dir, "postgres")}
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			kill(t, cmd)
		}
		for _, pid := range children {
			eventually(t, func() bool { return !alive(pid) }, "child "+strconv.Itoa(pid)+" ends")
		}
	})
	return cmd, r
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// pidOf reads the record of a child.
func pidOf(t *testing.T, dir, name string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name, name+".pid"))
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	require.NoError(t, err)
	return pid
}

func eventually(t *testing.T, condition func() bool, what string) {
	t.Helper()
	require.Eventually(t, condition, 3*time.Minute, 10*time.Millisecond, what)
}

func startFor(t *testing.T, s interface {
	Start(context.Context) error
	Stop(context.Context) error
}) {
	t.Helper()
	require.NoError(t, s.Start(context.Background()))
	t.Cleanup(func() { require.NoError(t, s.Stop(context.Background())) })
}

func killPID(t *testing.T, pid int) {
	t.Helper()
	require.Greater(t, pid, 1)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// query sends SQL over HTTP and returns what was answered.
func query(t *testing.T, address, sql string) (status int, answer string) {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	response, err := client.Post(u.String(), "text/plain", strings.NewReader(sql))
	require.NoError(t, err)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, strings.TrimSpace(string(text))
}

func must(t *testing.T, address, sql string) string {
	t.Helper()
	status, answer := query(t, address, sql)
	require.Equal(t, http.StatusOK, status, "%s: %s", sql, answer)
	return answer
}

func TestMainProgramStaysStatic(t *testing.T) {
	t.Parallel()
	// Loading a library at run time makes a binary dynamically linked, whoever imports it.
	out, err := exec.Command("go", "list", "-deps", "lodestone/pkg/engine").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, string(out), "purego")
}
