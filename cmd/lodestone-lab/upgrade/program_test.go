package upgrade_test

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/overlay"
	"lodestone/pkg/test/enginetest"
)

const root = "../../.."

// previous returns the revision to upgrade from: the one that UPGRADE_FROM names, else the newest
// tag below this commit. As long as there is no tag it is the commit of the first migration, which
// a database of an older one does not lead to.
func previous(t *testing.T) string {
	t.Helper()
	tags := git(t, "-c", "versionsort.suffix=-", "tag", "--list", "v[0-9]*", "--merged", "HEAD", "--no-contains",
		"HEAD", "--sort=-version:refname")
	newest, _, _ := strings.Cut(tags, "\n")
	migrations, err := filepath.Glob(filepath.Join(root, "pkg/postgres/migrations/*.sql"))
	require.NoError(t, err)
	require.NotEmpty(t, migrations)
	first := git(t, "log", "-1", "--no-renames", "--diff-filter=A", "--format=%H", "--",
		"pkg/postgres/migrations/"+filepath.Base(migrations[0]))
	return cmp.Or(os.Getenv("UPGRADE_FROM"), newest, first)
}

// git returns what a git command prints. A clone without history or tags makes it fail.
func git(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "git",
		append([]string{"-C", root}, args...)...).CombinedOutput()
	require.NoError(t, err, "git %v: %s (a shallow clone takes `git fetch --unshallow --tags`)", args, out)
	return strings.TrimSpace(string(out))
}

// formerly are the directories in which earlier revisions have the scripts of pages.
var formerly = map[string]string{"ingest/collector": "ingest/beacon",
	"crud/dashboard/frame/island": "crud/dashboard/island"}

// build builds Lodestone from a revision; "" is this checkout as it is. The pages of a revision are
// those of this checkout: the test is about what processes store and exchange.
func build(t *testing.T, revision string) string {
	t.Helper()
	program, tree := filepath.Join(t.TempDir(), "lodestone"), root
	if revision != "" {
		tree = filepath.Join(t.TempDir(), "tree")
		git(t, "worktree", "add", "--detach", "--force", tree, revision)
		defer git(t, "worktree", "remove", "--force", tree)
		for _, front := range []string{"crud/viewer", "crud/embed", "crud/dashboard/frame/island", "ingest/collector"} {
			dist := filepath.Join(tree, front, "dist")
			if former := filepath.Join(tree, formerly[front], "dist"); formerly[front] != "" {
				if _, err := os.Stat(former); err == nil {
					dist = former
				}
			}
			require.NoError(t, errors.Join(os.RemoveAll(dist), os.CopyFS(dist, os.DirFS(filepath.Join(root, front, "dist")))))
		}
	}
	require.NoError(t, overlay.Build(t.Context(), tree, program, "./cmd/lodestone"))
	return program
}

// installation is the environment that all processes of a test share.
type installation struct {
	t   *testing.T
	dir string
	env []string
}

// run waits for a command of a program that ends by itself, and returns its code and what it
// prints.
func (i installation) run(program string, args ...string) (code int, printed string) {
	i.t.Helper()
	cmd := exec.CommandContext(i.t.Context(), program, args...)
	cmd.Dir, cmd.Env = i.dir, append(os.Environ(), i.env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		require.NoError(i.t, err)
	}
	return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(out))
}

func (i installation) mustRun(program string, args ...string) string {
	i.t.Helper()
	code, printed := i.run(program, args...)
	require.Zero(i.t, code, "%v: %s", args, printed)
	return printed
}

// process is one that serves until it is stopped.
type process struct {
	t      *testing.T
	name   string
	cmd    *exec.Cmd
	out    *enginetest.Log
	admin  string
	listen string // of what it serves
	exited chan struct{}
	err    error // after exited
}

// start runs a process of a program and waits until it is ready.
func (i installation) start(program, command string, env ...string) *process {
	i.t.Helper()
	p := &process{t: i.t, name: command, out: &enginetest.Log{}, admin: address(i.t), listen: address(i.t),
		exited: make(chan struct{})}
	p.cmd = exec.Command(program, command)
	p.cmd.Dir = i.dir
	p.cmd.Env = append(append(append(os.Environ(), i.env...), "LODESTONE_ADMIN_LISTEN="+p.admin,
		"LODESTONE_LISTEN="+p.listen, "LODESTONE_COLLECTOR_LISTEN="+p.listen), env...)
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.WaitDelay = p.out, p.out, 5*time.Second
	require.NoError(i.t, p.cmd.Start())
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	i.t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
		if i.t.Failed() {
			i.t.Logf("%s %s printed:\n%s", program, command, p.out)
		}
	})
	require.Eventually(i.t, func() bool { return p.ended() || p.ready() }, enginetest.Timeout, 50*time.Millisecond,
		"%s %s does not get ready: %s", program, command, p.out)
	require.False(i.t, p.ended(), "%s %s ends: %s", program, command, p.out)
	return p
}

func (p *process) ready() bool {
	status, _ := get(p.t, "http://"+p.admin+"/readyz", "")
	return status == http.StatusOK
}

func (p *process) ended() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop ends the process as an operator does, which has to be in order.
func (p *process) stop() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.exited:
		require.NoError(p.t, p.err, "%s: %s", p.name, p.out)
	case <-time.After(enginetest.Timeout):
		require.Fail(p.t, "the process does not stop", "%s: %s", p.name, p.out)
	}
}

func address(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
}

// get returns the status and the body of a GET, and 0 without an answer.
func get(t *testing.T, url, key string) (int, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	text, err := io.ReadAll(response.Body)
	if closed := response.Body.Close(); err != nil || closed != nil {
		return 0, "cut off"
	}
	return response.StatusCode, string(text)
}
