package composecheck

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const root = "../../.."

// compose is Docker Compose, built from its module.
var compose string

func TestMain(m *testing.M) {
	code := 1
	defer func() { os.Exit(code) }()
	dir, err := os.MkdirTemp("", "composecheck")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	compose = filepath.Join(dir, "docker-compose")
	build := exec.Command("go", "build", "-o", compose, "github.com/docker/compose/v5/cmd")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		panic(err)
	}
	code = m.Run()
}

// project is a checkout as `make compose-env` leaves it.
type project struct {
	dir string
	env []string
}

func newProject(t *testing.T) *project {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"docker-compose.yml", "deploy"} {
		out, err := exec.CommandContext(t.Context(), "cp", "-r", filepath.Join(root, name), dir).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "deploy", "compose-env")).CombinedOutput()
	require.NoError(t, err, string(out))
	return &project{dir: dir, env: []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"),
		"DOCKER_CONFIG=" + t.TempDir()}}
}

func (p *project) run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, compose, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (p *project) up(t *testing.T, cpus int) (*engine, string, error) {
	t.Helper()
	e := newEngine(t, cpus)
	p.env = append(p.env, "DOCKER_HOST=tcp://"+strings.TrimPrefix(e.URL, "http://"))
	out, err := p.run(t, "up", "--detach", "--no-build", "--pull", "never")
	return e, out, err
}

// The file is valid by Compose's own rules, and no secret is in what it resolves to.
func TestConfig(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	out, err := p.run(t, "config", "--format", "json")
	require.NoError(t, err, out)
	var resolved struct {
		Services map[string]any
		Secrets  map[string]struct{ File string }
	}
	require.NoError(t, json.Unmarshal([]byte(out), &resolved), out)
	require.Len(t, resolved.Services, 8)
	require.NotEmpty(t, resolved.Secrets)
	for name, secret := range resolved.Secrets {
		text, err := os.ReadFile(secret.File)
		require.NoError(t, err, "make compose-env does not write %s", name)
		require.NotEmpty(t, strings.TrimSpace(string(text)), name)
		require.NotContains(t, out, strings.TrimSpace(string(text)), "the secret %s is in the configuration", name)
	}
}

// On a host with two processors, and with one, every container is created and started, in an order
// in which each finds what it needs.
func TestUp(t *testing.T) {
	t.Parallel()
	for _, cpus := range []int{1, 2} {
		p := newProject(t)
		e, out, err := p.up(t, cpus)
		require.NoError(t, err, out)
		place := map[string]int{}
		for i, name := range e.order {
			place[strings.TrimSuffix(strings.TrimPrefix(name, "lodestone-"), "-1")] = i
		}
		require.Len(t, place, 8, out)
		for _, engine := range []string{"kafka", "clickhouse", "postgres"} {
			require.Less(t, place[engine], place["migrate"], engine)
		}
		for _, process := range []string{"collector", "consumer", "query", "crud"} {
			require.Less(t, place["migrate"], place[process], process)
		}
		var memory int64
		for name, c := range e.made {
			require.Positive(t, c.Host.Memory, "%s may take all memory of the host", name)
			if !strings.Contains(name, "migrate") { // it has ended before the others start
				memory += c.Host.Memory
			}
			for port, bindings := range c.Host.PortBindings {
				for _, b := range bindings {
					require.Equal(t, "127.0.0.1", b.HostIp, "%s publishes %s to the network", name, port)
				}
			}
		}
		require.LessOrEqual(t, memory, int64(8<<30), "the limits are more than a host of 8 GiB has")
	}
}

// The stand-in refuses as Docker does, so the tests above would see it. Each change is one that the
// file once had.
func TestTheEngineRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ old, changed, says string }{
		"a secret from the environment": {"postgres-url: {file: .secrets/postgres-url}", "postgres-url: {environment: PATH}",
			"`file` is the sole supported option"},
		"more processors than there are": {"limits: {memory: 1152M}", `limits: {cpus: "4", memory: 1152M}`, "range of CPUs"},
		"a secret that is not there": {"token-keys: {file: .secrets/token-keys}",
			"token-keys: {file: .secrets/token-key}", "bind source path does not exist"},
	} {
		p := newProject(t)
		file := filepath.Join(p.dir, "docker-compose.yml")
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Contains(t, string(text), c.old, name)
		require.NoError(t, os.WriteFile(file, []byte(strings.Replace(string(text), c.old, c.changed, 1)), 0o600))
		_, out, err := p.up(t, 2)
		require.Error(t, err, name)
		require.Contains(t, out, c.says, name)
	}
}
