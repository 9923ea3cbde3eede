package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// Times between two looks.
const (
	interval = 50 * time.Millisecond
	seldom   = 500 * time.Millisecond // at what costs much to look at
)

var built struct {
	once sync.Once
	dir  string
	err  error
}

// binaries returns the directory of the programs, built as `make build` does.
func binaries(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = enginetest.PackageDir(); built.err == nil {
			built.dir = filepath.Join(built.dir, "bin")
		}
		for _, name := range []string{"lodestone", "lodestone-clickhouse"} {
			if built.err != nil {
				return
			}
			cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w",
				"-o", filepath.Join(built.dir, name), "lodestone/cmd/"+name)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if out, err := cmd.CombinedOutput(); err != nil {
				built.err = fmt.Errorf("build %s: %w: %s", name, err, out)
			}
		}
	})
	require.NoError(t, built.err)
	return built.dir
}

// program is one process of the built binary.
type program struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *enginetest.Log
	exited chan struct{}
	err    error  // of Wait, after exited
	admin  string // the admin address of a process that processes.serve started
	shared bool   // with other tests, which need it
}

// launch starts a process of the program that the test's end kills if it still runs.
func launch(t *testing.T, dir string, env []string, args ...string) *program {
	t.Helper()
	return launchFile(t, filepath.Join(binaries(t), "lodestone"), dir, env, args...)
}

// launchFile does so with another program.
func launchFile(t *testing.T, file, dir string, env []string, args ...string) *program {
	t.Helper()
	p := begin(t, file, dir, env, args...)
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			t.Logf("%v printed:\n%s", args, p.out)
		}
	})
	return p
}

// begin does so with one that outlives the test.
func begin(t *testing.T, file, dir string, env []string, args ...string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(file, args...), out: &enginetest.Log{}, exited: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env = dir, append(os.Environ(), env...)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	// What a killed process leaves behind must not hold the test up.
	p.cmd.WaitDelay = 5 * time.Second
	require.NoError(t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p
}

// kill ends the process without warning.
func (p *program) kill() {
	require.False(p.t, p.shared, "other tests need it")
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.exited
}

// interrupt sends Ctrl-C and waits for the end, which must be an orderly one.
func (p *program) interrupt(within time.Duration) {
	p.t.Helper()
	require.False(p.t, p.shared, "other tests need it")
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGINT))
	select {
	case <-p.exited:
		require.NoError(p.t, p.err, "%s", p.out)
	case <-time.After(within):
		require.Fail(p.t, "the process does not stop", "%s", p.out)
	}
}

// wait waits for a process that ends by itself, and returns its exit code.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(enginetest.Timeout):
		require.Fail(p.t, "the process does not end", "%s", p.out)
		return -1
	}
}

// up is a `lodestone up` with its directory and its ports, which it keeps over restarts.
type up struct {
	*program
	t     *testing.T
	dir   string
	ports [3]int
	more  []string // settings besides
	empty bool     // the first start finds no data: else it finds those of another one, which takes a quarter of the time
	env   map[string]string
	owner string // the address of the account's owner

	lasting bool // it outlives the test
}

func newUp(t *testing.T) *up {
	t.Helper()
	u := &up{t: t, dir: enginetest.Dir(t), owner: demoOwner}
	for i := range u.ports {
		u.ports[i] = enginetest.FreePort(t)
	}
	return u
}

func (u *up) args() []string {
	address := func(i int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(u.ports[i])) }
	return append([]string{"up", "--data", filepath.Join(u.dir, "data"),
		"--listen", address(0), "--collector-listen", address(1), "--admin-listen", address(2),
		"--postgres-port=0", "--kafka-port=0", "--clickhouse-port=0", "--clickhouse-http-port=0",
		"--capture-forms-per-hour=1000000",
		"--collector-ack-timeout=50s", "--collector-write-timeout=60s", "--query-timeout=50s", // on a busy machine
		// Tests look whether something is there yet more often than clients may.
		"--limit-requests-per-minute=1000000", "--limit-analytics-per-minute=1000000",
		"--limit-analytics-email-per-minute=1000000",
		"--limit-analytics-query-per-minute=1000000"}, u.more...)
}

// firstStarts are the directories with the data of a first start, without and with --no-sample.
var firstStarts [2]struct {
	mu  sync.Mutex
	dir string
}

// prepare gives it the data of a first start, unless it has data or is to start with none.
func (u *up) prepare() {
	u.t.Helper()
	data := filepath.Join(u.dir, "data")
	if _, err := os.Stat(data); err == nil || u.empty {
		return
	}
	from, settings := &firstStarts[0], []string(nil)
	if slices.Contains(u.more, "--no-sample") {
		from, settings = &firstStarts[1], []string{"--no-sample"}
	}
	from.mu.Lock()
	defer from.mu.Unlock()
	if from.dir == "" {
		first := newUp(u.t)
		first.empty, first.more = true, settings
		first.start()
		first.interrupt(enginetest.Timeout)
		parent, err := enginetest.PackageDir()
		require.NoError(u.t, err)
		dir := filepath.Join(parent, fmt.Sprint("up", len(settings)))
		require.NoError(u.t, enginetest.CopyDir(filepath.Join(first.dir, "data"), dir))
		from.dir = dir
	}
	require.NoError(u.t, enginetest.CopyDir(from.dir, data))
}

// start runs it and returns when it is ready.
func (u *up) start() {
	u.t.Helper()
	u.prepare()
	run := launchFile
	if u.lasting {
		run = begin
	}
	u.program = run(u.t, filepath.Join(binaries(u.t), "lodestone"), u.dir, nil, u.args()...)
	require.Eventually(u.t, func() bool {
		select {
		case <-u.exited:
			return true
		default:
			return strings.Contains(u.out.String(), "Ctrl-C stops everything")
		}
	}, 15*time.Minute, 20*time.Millisecond)
	require.Contains(u.t, u.out.String(), "Ctrl-C stops everything")
	text, err := os.ReadFile(filepath.Join(u.dir, "data", "lodestone.env"))
	require.NoError(u.t, err)
	u.env = map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			u.env[name] = value
		}
	}
}

// children returns the processes below this one, by a part of their command line.
func (p *program) children(part string) (pids []int) {
	p.t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(p.t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it has ended since
		}
		// The parent's number is the second field after the name, which may hold anything.
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		command, err := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		if err == nil && len(fields) > 1 && fields[1] == strconv.Itoa(p.cmd.Process.Pid) &&
			strings.Contains(string(command), part) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// get returns the status and the body of a GET.
func get(t *testing.T, url, key string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(body)
}
