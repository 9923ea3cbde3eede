package deploy_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
	"lodestone/pkg/test/enginetest"
)

// binary builds the program as the Dockerfile does.
func binary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lodestone")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o",
		path, "lodestone/cmd/lodestone")
	cmd.Env, cmd.Dir = append(os.Environ(), "CGO_ENABLED=0"), root
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// Each process starts from exactly the environment that the compose file gives it, and from that of
// the Helm chart, addresses replaced by those of engines at hand, and says that it is ready.
func TestEveryProcessStarts(t *testing.T) { //nolint:tparallel // the chart's processes start when those of the compose file have ended
	t.Parallel()
	_, variables, secrets := project(t)
	variables["STACK_SQL_QUERIES"] = "7"
	p, err := load(t.Context(), variables)
	require.NoError(t, err)
	host := &host{t: t, project: p, secrets: secrets, dir: t.TempDir(), binary: binary(t)}
	host.startEngines()
	host.starts(t, "compose")
	status, text := get(t.Context(),
		host.sql+"/?query="+
			url.QueryEscape("SELECT max_requests FROM system.scheduler WHERE resource = 'query' AND type = 'inflight_limit'"))
	require.Equal(t, 200, status, text)
	require.Equal(t, "7", strings.TrimSpace(text), "queries of SQL users that run at a time")

	host.project, host.replace, host.listen, host.dir = chart(t), host.replace[:2], map[string]string{}, t.TempDir()
	host.starts(t, "chart")
}

// starts runs every process of the project.
func (h *host) starts(t *testing.T, project string) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(h.project.Services)) {
		if slices.Contains(ours, name) {
			h.knowsItsSettings(name)
		}
	}
	for range 2 { // each start of the stack runs it
		out, err := h.command(t.Context(), "migrate").CombinedOutput()
		require.NoError(t, err, string(out))
	}
	servers := always()[1:]
	for _, name := range servers {
		h.place(name)
	}
	h.givesAccess(t)
	t.Run(project, func(t *testing.T) {
		for _, name := range servers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				h.runs(t, name)
			})
		}
	})
}

// host stands for the machine that runs the compose file.
type host struct {
	t       *testing.T
	project *types.Project
	secrets map[string]string // by name
	dir     string
	binary  string
	replace []string          // old and new addresses, in turn
	listen  map[string]string // service and variable to an address of this machine
	sql     string            // ClickHouse's HTTP address of a user who may do anything
}

func (h *host) startEngines() {
	t := h.t
	dir := enginetest.Dir(t)
	clickhouse := enginetest.NewClickHouse(t, filepath.Join(dir, "clickhouse"))
	postgres := enginetest.NewPostgres(t, filepath.Join(dir, "postgres"))
	kafka := enginetest.NewKafka(t, filepath.Join(dir, "kafka"))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute) // the first time downloads
	defer cancel()
	for _, s := range []interface {
		Start(context.Context) error
		Stop(context.Context) error
	}{clickhouse, postgres, kafka} {
		require.NoError(t, s.Start(ctx))
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
			defer cancel()
			require.NoError(t, s.Stop(ctx))
		})
	}
	h.replace = []string{"kafka:9092", kafka.Brokers()[0]}
	h.sql = clickhouse.HTTPURL()
	h.replaceURL("clickhouse-url", clickhouse)
	h.replaceURL("postgres-url", postgres)
	h.listen = map[string]string{}
}

// replaceURL puts user, password and address of an engine at hand into one of the URLs of
// compose-env, whose path and options stay.
func (h *host) replaceURL(secret string, e interface{ URL() string }) {
	given, err := url.Parse(h.secrets[secret])
	require.NoError(h.t, err)
	actual, err := url.Parse(e.URL())
	require.NoError(h.t, err)
	require.Equal(h.t, actual.Path, given.Path, "%s names another database", secret)
	given.User, given.Host = actual.User, actual.Host
	h.secrets[secret] = given.String()
}

var _ = []interface{ URL() string }{(*engine.ClickHouse)(nil), (*engine.Postgres)(nil)}

// place gives a service's ports addresses on this machine.
func (h *host) place(name string) {
	for variable, value := range h.project.Services[name].Environment {
		if strings.HasSuffix(variable, "_LISTEN") {
			_, port, _ := strings.Cut(*value, ":")
			h.listen[name+variable] = fmt.Sprintf("127.0.0.1:%d", enginetest.FreePort(h.t))
			h.replace = append(h.replace, name+":"+port, h.listen[name+variable])
		}
	}
}

// command returns what the container would run, with its environment and nothing else.
func (h *host) command(ctx context.Context, service string, args ...string) *exec.Cmd {
	s := h.project.Services[service]
	if len(args) == 0 {
		args = s.Command
	}
	cmd := exec.CommandContext(ctx, h.binary, args...)
	cmd.Dir = h.t.TempDir()
	cmd.Env = []string{}
	addresses := strings.NewReplacer(h.replace...)
	for variable, value := range s.Environment {
		text := addresses.Replace(*value)
		if own := h.listen[service+variable]; own != "" {
			text = own
		}
		if name, ok := strings.CutPrefix(text, secretsDir); ok {
			text = filepath.Join(h.dir, service+"-"+name)
			if _, err := os.Stat(text); err != nil { // once: the process that is starting reads it while its health is asked for
				require.NoError(h.t, os.WriteFile(text, []byte(h.secrets[name]+"\n"), 0o600))
			}
		}
		for _, v := range s.Volumes {
			if v.Type == types.VolumeTypeVolume {
				text = strings.ReplaceAll(text, v.Target, filepath.Join(h.dir, v.Source))
			}
		}
		cmd.Env = append(cmd.Env, variable+"="+text)
	}
	return cmd
}

// givesAccess makes the first account and its key by the commands that compose-env prints, in the
// environment of crud.
func (h *host) givesAccess(t *testing.T) {
	t.Helper()
	create := h.command(t.Context(), "crud", "account", "create", "--name", "My company", "--plan", "team")
	var problems bytes.Buffer
	create.Stderr = &problems
	account, err := create.Output()
	require.NoError(t, err, problems.String())
	key, err := h.command(t.Context(), "crud", "key", "create", "--account", strings.TrimSpace(string(account))).Output()
	require.NoError(t, err)
	require.Contains(t, string(key), "lsk_")
}

// knowsItsSettings checks that each variable is a setting of the command: a misspelt one would be
// passed over in silence.
func (h *host) knowsItsSettings(name string) {
	t := h.t
	s := h.project.Services[name]
	help, err := h.command(t.Context(), name, append(s.Command, "--help")...).CombinedOutput()
	require.NoError(t, err, string(help))
	for variable := range s.Environment {
		setting := strings.TrimSuffix(variable, "_FILE")
		require.Contains(t, string(help), "$"+setting+")", "%s has no setting %s", name, setting)
	}
}

// runs starts a service's process, waits until it is ready as its own health check sees it, and
// stops it as Docker would.
func (h *host) runs(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := h.command(ctx, name)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()

	check := h.project.Services[name].HealthCheck.Test
	require.Equal(t, "CMD", check[0])
	require.Equal(t, "/lodestone", check[1])
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for ready := false; !ready; { // whoever is ready may be so no more a moment later, when an engine has much to do
		select {
		case err := <-ended:
			t.Fatalf("%s ended (%v):\n%s", name, err, output.String())
		case <-poll.C:
			if ready = h.command(ctx, name, check[2:]...).Run() == nil; ready {
				status, _ := get(ctx, "http://"+h.listen[name+"LODESTONE_ADMIN_LISTEN"]+"/readyz")
				ready = status == 200
			}
		}
	}

	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, <-ended, output.String())
	require.NoError(t, ctx.Err())
	for _, s := range h.project.Services[name].Secrets {
		secret := h.secrets[s.Source]
		require.NotContains(t, output.String(), secret, "%s logs its secret %s", name, s.Source)
	}
}
