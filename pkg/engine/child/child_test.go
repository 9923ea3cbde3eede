package child_test

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/child"
	"lodestone/pkg/test"
)

// A copy of this test binary with this variable set plays a parent of one child.
const parentVariable = "LODESTONE_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentVariable); dir != "" {
		os.Exit(playParent(dir))
	}
	test.LeakMain(m)
}

func playParent(dir string) int {
	spec := sleeper(dir)
	p := child.New(spec)
	if err := p.Start(context.Background()); err != nil {
		os.Stderr.WriteString(err.Error())
		return 1
	}
	os.Stdout.WriteString(strconv.Itoa(p.PID()) + "\n")
	select {} // until killed
}

func shell(script string) func() *exec.Cmd {
	return func() *exec.Cmd { return exec.Command("/bin/sh", "-c", script) }
}

func sleeper(dir string) child.Spec {
	return child.Spec{
		Name:        "sleeper",
		Dir:         dir,
		Command:     shell("exec sleep 1000"),
		Probe:       func(context.Context) error { return nil },
		DeathSignal: syscall.SIGKILL,
		Log:         slog.New(slog.DiscardHandler),
	}
}

func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func requireGone(t *testing.T, pid int) {
	t.Helper()
	require.Eventually(t, func() bool { return !alive(pid) }, 2*time.Minute, 5*time.Millisecond,
		"process %d still runs", pid)
}

func startFor(t *testing.T, p *child.Process) {
	t.Helper()
	require.NoError(t, p.Start(context.Background()))
	t.Cleanup(func() { require.NoError(t, p.Stop(context.Background())) })
}

func TestChildThatDiesIsStartedAgain(t *testing.T) {
	t.Parallel()
	events := make(chan child.Event, 10)
	spec := sleeper(t.TempDir())
	spec.Observe = func(e child.Event) { events <- e }
	p := child.New(spec)
	startFor(t, p)
	first := <-events
	require.Equal(t, child.Started, first.Kind)
	require.Equal(t, first.PID, p.PID())

	require.NoError(t, syscall.Kill(first.PID, syscall.SIGKILL))
	died := <-events
	require.Equal(t, child.Died, died.Kind)
	require.ErrorContains(t, died.Err, "signal: killed")
	again := <-events
	require.Equal(t, child.Restarted, again.Kind)
	require.NotEqual(t, first.PID, again.PID)
	require.True(t, alive(again.PID))
}

func TestStopEndsTheChildAndItsGroup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := sleeper(dir)
	// The child ignores the polite way, and has a child of its own.
	spec.Command = shell(`trap '' INT; sleep 1000 & echo $! > grandchild; while :; do sleep 1000; done`)
	spec.Command = in(dir, spec.Command)
	spec.Probe = func(context.Context) error {
		text, err := os.ReadFile(filepath.Join(dir, "grandchild"))
		if err == nil && len(text) == 0 {
			return errors.New("not written yet")
		}
		return err
	}
	spec.Stop = []child.Step{{Signal: syscall.SIGINT, Wait: 10 * time.Millisecond}}
	p := child.New(spec)
	require.NoError(t, p.Start(context.Background()))
	pid := p.PID()
	text, err := os.ReadFile(filepath.Join(dir, "grandchild"))
	require.NoError(t, err)
	grandchild, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	require.NoError(t, p.Stop(context.Background()))
	require.False(t, alive(pid))
	requireGone(t, grandchild)
	require.NoError(t, p.Stop(context.Background()), "stopping twice")
	require.NoFileExists(t, filepath.Join(dir, "sleeper.pid"))
}

func in(dir string, command func() *exec.Cmd) func() *exec.Cmd {
	return func() *exec.Cmd {
		cmd := command()
		cmd.Dir = dir
		return cmd
	}
}

func TestStopByClosingTheInput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := sleeper(dir)
	spec.Command = in(dir, shell("cat; echo ended in order > note"))
	spec.Stop = []child.Step{{Wait: time.Minute}}
	p := child.New(spec)
	require.NoError(t, p.Start(context.Background()))
	require.NoError(t, p.Stop(context.Background()))
	require.FileExists(t, filepath.Join(dir, "note"))
}

func TestFailedStartTellsLastWordsAndRemedy(t *testing.T) {
	t.Parallel()
	spec := sleeper(t.TempDir())
	spec.Command = shell("echo no space on the moon; exit 3")
	spec.Probe = func(context.Context) error { return errors.New("no answer") }
	spec.Explain = func(output string) string {
		if !strings.Contains(output, "no space") {
			return "there was no output"
		}
		return "take another moon"
	}
	err := child.New(spec).Start(context.Background())
	require.ErrorContains(t, err, "start sleeper: it ended while starting (exit status 3): take another moon")
	require.Equal(t, "no space on the moon", child.Output(err))
}

func TestStartWithoutAnAnswerEnds(t *testing.T) {
	t.Parallel()
	spec := sleeper(t.TempDir())
	var pid int
	spec.Command = shell("exec sleep 1000")
	spec.Probe = func(context.Context) error {
		pid = 1
		return errors.New("no listener")
	}
	spec.StartTimeout = 50 * time.Millisecond
	require.ErrorContains(t, child.New(spec).Start(context.Background()), "no listener")
	require.Equal(t, 1, pid)
	require.NoFileExists(t, filepath.Join(spec.Dir, "sleeper.pid"), "it was ended and forgotten")
}

func TestMissingProgram(t *testing.T) {
	t.Parallel()
	spec := sleeper(t.TempDir())
	spec.Command = func() *exec.Cmd { return exec.Command("/nowhere/to/be/found") }
	require.ErrorIs(t, child.New(spec).Start(context.Background()), os.ErrNotExist)
}

// startParent starts a parent process with one child and returns both numbers.
func startParent(t *testing.T, dir string) (parent *exec.Cmd, pid int) {
	t.Helper()
	parent = exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), parentVariable+"="+dir)
	parent.Stderr = os.Stderr
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	pid, err = strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	return parent, pid
}

func TestChildEndsWithItsKilledParent(t *testing.T) {
	t.Parallel()
	parent, pid := startParent(t, t.TempDir())
	require.True(t, alive(pid))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	requireGone(t, pid)
}

func TestLeftOverChildIsStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	// A parent that is stopped in its tracks stands for one that died where children survive.
	parent, pid := startParent(t, dir)
	require.NoError(t, parent.Process.Signal(syscall.SIGSTOP))
	p := child.New(sleeper(dir))
	startFor(t, p)
	require.False(t, alive(pid))
	require.True(t, alive(p.PID()))
	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
}

func TestInnocentProcessOfTheSameNumberIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	innocent := exec.Command("sleep", "1000")
	require.NoError(t, innocent.Start())
	defer func() {
		require.NoError(t, innocent.Process.Kill())
		require.Error(t, innocent.Wait())
	}()
	for _, record := range []string{
		strconv.Itoa(innocent.Process.Pid) + "\nanother boot 12345\n",
		strconv.Itoa(innocent.Process.Pid) + "\n",
		strconv.Itoa(innocent.Process.Pid),
		"", "1\n", "-1\n", "nonsense",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "sleeper.pid"), []byte(record), 0o600))
		p := child.New(sleeper(dir))
		require.NoError(t, p.Start(context.Background()))
		require.NoError(t, p.Stop(context.Background()))
		require.True(t, alive(innocent.Process.Pid), "record %q", record)
	}
}

func TestLogIsKeptSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	spec := sleeper(dir)
	done := filepath.Join(dir, "done")
	spec.Command = in(dir, shell("head -c 5000000 /dev/zero | tr '\\0' '\\n'; echo the end; touch done; exec sleep 1000"))
	spec.Probe = func(context.Context) error {
		_, err := os.Stat(done)
		return err
	}
	p := child.New(spec)
	startFor(t, p)
	files, err := filepath.Glob(p.LogPath() + "*")
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		info, err := os.Stat(f)
		require.NoError(t, err)
		require.Less(t, info.Size(), int64(2<<20))
	}
}

func TestChildLivesOnWithoutItsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sleeper.log"), 0o700), "in the log's place")
	spec := sleeper(dir)
	spec.Command = in(dir, shell("seq 100000 && touch done; exec sleep 1000"))
	spec.Probe = func(context.Context) error {
		_, err := os.Stat(filepath.Join(dir, "done"))
		return err
	}
	startFor(t, child.New(spec))
}
