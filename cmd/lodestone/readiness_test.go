package main

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// A process on databases without the schema runs, says that it is not ready and why, and becomes
// ready when someone migrates.
func TestNoProcessIsReadyWithoutTheSchema(t *testing.T) {
	t.Parallel()
	clickhouse := enginetest.NewClickHouse(t, enginetest.Dir(t))
	require.NoError(t, clickhouse.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, clickhouse.Stop(context.Background())) }) // the test's context has ended by then
	database := enginetest.Postgres(t)
	env := []string{
		"LODESTONE_POSTGRES_URL=" + database,
		"LODESTONE_CLICKHOUSE_URL=" + clickhouse.URL(),
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(enginetest.Kafka(t), ","),
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
	}
	dir := t.TempDir()
	address := func() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))) }
	admins := map[string]string{}
	programs := map[string]*program{}
	sites := map[string]string{}
	begin := func(command string) {
		programs[command] = launch(t, dir, append(env, "LODESTONE_LISTEN="+sites[command],
			"LODESTONE_ADMIN_LISTEN="+admins[command],
			"LODESTONE_PUBLIC_URL=https://links.example.com"), command)
	}
	for _, command := range []string{"crud", "query"} {
		admins[command], sites[command] = address(), address()
		begin(command)
	}
	for command, admin := range admins {
		require.Eventually(t, func() bool {
			status, text := get(t, "http://"+admin+"/readyz", "")
			return status == http.StatusServiceUnavailable && strings.Contains(text, "lodestone migrate")
		}, enginetest.Timeout, interval, "%s: %s", command, programs[command].out)
		require.Eventually(t, func() bool { return strings.Contains(programs[command].out.String(), "not ready") },
			enginetest.Timeout, interval)
		require.NotContains(t, programs[command].out.String(), "msg=ready", command)
	}
	require.Contains(t, programs["crud"].out.String(), "set --trusted-proxies", "a public site without a trusted proxy")
	p := launch(t, dir, env, "account", "create", "--name", "Test")
	require.NotZero(t, p.wait())
	require.Contains(t, p.out.String(), "lodestone migrate")

	first, second := launch(t, dir, env, "migrate"), launch(t, dir, env, "migrate") // two at once are harmless
	require.Zero(t, first.wait(), "%s", first.out)
	require.Zero(t, second.wait(), "%s", second.out)
	for command, admin := range admins {
		require.Eventually(t, func() bool {
			status, _ := get(t, "http://"+admin+"/readyz", "")
			return status == http.StatusOK && strings.Contains(programs[command].out.String(), "msg=ready")
		}, enginetest.Timeout, interval, "%s: %s", command, programs[command].out)
	}
}

// slowListener is a service that takes until it is released to start.
type slowListener struct {
	closing

	release chan struct{}
}

func (s slowListener) Start(context.Context) error {
	<-s.release
	return nil
}

// The admin server answers first. Whoever trusts its answer must not be refused by a listener that
// is not open yet.
func TestNoProcessIsReadyBeforeItsListeners(t *testing.T) {
	t.Parallel()
	admin := freeAddress(t)
	p := newProcess(processConfig{})
	p.addAdmin(adminConfig{Listen: admin})
	slow := slowListener{closing: func() error { return nil }, release: make(chan struct{})}
	p.stack.Add("slow listener", slow)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.run(ctx) }()
	var status int
	var text string
	require.Eventually(t, func() bool {
		status, text = get(t, "http://"+admin+"/readyz", "")
		return status != 0
	}, enginetest.Timeout, interval)
	close(slow.release)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Contains(t, text, errStarting.Error())
	require.Eventually(t, func() bool {
		status, _ = get(t, "http://"+admin+"/readyz", "")
		return status == http.StatusOK
	}, enginetest.Timeout, interval)
	cancel()
	require.NoError(t, <-ended)
}

// interrupted is a service that is stopped with its process as soon as it has started.
type interrupted struct {
	closing

	stop context.CancelFunc
}

func (s interrupted) Start(context.Context) error {
	s.stop()
	return nil
}

func TestAStopOfAProcessThatHasJustStartedIsOrderly(t *testing.T) {
	t.Parallel()
	p := newProcess(processConfig{})
	ctx, cancel := context.WithCancel(t.Context())
	p.stack.Add("last", interrupted{closing: func() error { return nil }, stop: cancel})
	require.NoError(t, p.run(ctx))
}
