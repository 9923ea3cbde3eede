package alertcheck

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/overlay"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/engine"
	"lodestone/pkg/service"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const interval = 100 * time.Millisecond

// installation are the processes of Lodestone by the addresses of their metrics.
type installation struct {
	t       *testing.T
	program string
	env     []string
	admin   map[string]string // by the name of a process
}

// start runs a process until the end of the test, and waits until it is ready.
func (i *installation) start(name, command string, env ...string) {
	i.t.Helper()
	free := func() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(i.t))) }
	listen := free()
	i.admin[name] = free()
	cmd := exec.Command(i.program, command)
	cmd.Env = append(slices.Concat(i.env, env), "LODESTONE_ADMIN_LISTEN="+i.admin[name], "LODESTONE_LISTEN="+listen,
		"LODESTONE_COLLECTOR_LISTEN="+listen)
	out := &enginetest.Log{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(i.t, cmd.Start())
	i.t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()         // it was killed
		if i.t.Failed() {
			i.t.Logf("%s printed:\n%s", name, out)
		}
	})
	i.waitUntilReady(name)
}

func (i *installation) waitUntilReady(name string) {
	i.t.Helper()
	require.NoError(i.t, probe.Until(i.t.Context(), enginetest.Timeout, interval, name,
		func() error { return probe.Ready(i.t.Context(), i.admin[name]) }))
}

// checks returns the series of the checks of all processes as Prometheus stores them.
func (i *installation) checks() (series []string) {
	i.t.Helper()
	for name, admin := range i.admin {
		req, err := http.NewRequestWithContext(i.t.Context(), http.MethodGet, "http://"+admin+"/metrics", http.NoBody)
		require.NoError(i.t, err)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		require.NoError(i.t, err)
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if values, found := strings.CutPrefix(lines.Text(), "lodestone_check_failing{"); found {
				series = append(series, `lodestone_check_failing{instance="`+name+`",`+values)
			}
		}
		require.NoError(i.t, res.Body.Close())
	}
	return series
}

// Whichever engine is away, the processes that use it say so in their metrics, and someone is paged
// within five minutes: these are played in a moment, with the metrics as they were. When the engine
// is back, the alert ends.
func TestAnEngineThatIsAwayPages(t *testing.T) {
	broker := engine.KafkaConfig{Runtime: enginetest.Runtime(), Dir: t.TempDir(),
		Port: enginetest.FreePort(t), NoSync: true}
	database := engine.PostgresConfig{Runtime: enginetest.Runtime(), Dir: enginetest.Dir(t), Port: enginetest.FreePort(t),
		NoSync: true, Installer: enginetest.Installer(t)}
	store := engine.ClickHouseConfig{
		Runtime: enginetest.Runtime(), Dir: enginetest.Dir(t), TCPPort: enginetest.FreePort(t),
		HTTPPort:    enginetest.FreePort(t),
		MemoryBytes: enginetest.ClickHouseMemory, Launcher: enginetest.Launcher(t), Installer: enginetest.Installer(t),
	}
	create := map[string]func() service.Service{
		"kafka":      func() service.Service { return engine.NewKafka(broker) },
		"postgres":   func() service.Service { return engine.NewPostgres(database) },
		"clickhouse": func() service.Service { return engine.NewClickHouse(store) },
	}
	engines := map[string]service.Service{}
	for name, first := range create {
		engines[name] = first()
		require.NoError(t, engines[name].Start(t.Context()))
	}
	t.Cleanup(func() {
		for name, e := range engines {
			require.NoError(t, e.Stop(context.WithoutCancel(t.Context())), name)
		}
	})
	i := &installation{t: t, program: filepath.Join(t.TempDir(), "lodestone"),
		admin: map[string]string{}, env: append(os.Environ(),
			"LODESTONE_POSTGRES_URL="+engines["postgres"].(*engine.Postgres).URL(),
			"LODESTONE_CLICKHOUSE_URL="+engines["clickhouse"].(*engine.ClickHouse).URL(),
			"LODESTONE_KAFKA_BROKERS="+strings.Join(engines["kafka"].(*engine.Kafka).Brokers(), ","),
			"LODESTONE_TOKEN_KEYS="+token.NewKeys(9).Keys, "LODESTONE_ERASURE_LOG="+filepath.Join(t.TempDir(), "erasures"))}
	require.NoError(t, overlay.Build(t.Context(), "../../..", i.program, "./cmd/lodestone"))
	migrate := exec.CommandContext(t.Context(), i.program, "migrate")
	migrate.Env = i.env
	out, err := migrate.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, command := range []string{"collector", "consumer", "query", "crud"} {
		i.start(command, command)
	}
	i.start("spooling collector", "collector", "LODESTONE_SPOOL_DIR="+t.TempDir())
	users := map[string][]string{"kafka": {"collector", "spooling collector", "consumer"},
		"postgres": {"consumer", "crud", "query"}, "clickhouse": {"consumer", "query"}}
	for name, again := range create {
		require.NoError(t, engines[name].Stop(t.Context()))
		var away []string
		require.NoError(t, probe.Until(t.Context(), enginetest.Timeout, interval,
			name+" is away, and metrics do not say so", func() error {
				away = i.checks()
				for _, user := range users[name] {
					if !slices.Contains(away, `lodestone_check_failing{instance="`+user+`",check="`+name+`"} 1`) {
						return os.ErrNotExist
					}
				}
				return nil
			}), "%q", away)
		require.Contains(t, firing(t, away, 5*time.Minute), "LodestoneEngineAway", "%s is away", name)
		engines[name] = again()
		require.NoError(t, engines[name].Start(t.Context()))
		for process := range i.admin {
			i.waitUntilReady(process)
		}
		require.NoError(t, probe.Until(t.Context(), enginetest.Timeout, interval,
			name+" is back, and metrics do not say so", func() error {
				if strings.Contains(strings.Join(i.checks(), "\n"), "} 1") {
					return os.ErrExist
				}
				return nil
			}))
		require.NotContains(t, firing(t, i.checks(), 5*time.Minute), "LodestoneEngineAway", "%s is back", name)
	}
}
