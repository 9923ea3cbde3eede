package clickhouse_test

import (
	"bytes"
	"context"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
)

// The file gets a new password while ClickHouse has the one before, and ClickHouse gets it later: no query and no insert's connection fails,
// though each opens a connection.
func TestQueriesOutliveANewPassword(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := enginetest.NewMigratedClickHouse(t, dir)
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	_, err := clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	with := func(address, password string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		u.User = url.UserPassword(u.User.Username(), password)
		return u.String()
	}
	u, err := url.Parse(server.URL())
	require.NoError(t, err)
	first, _ := u.User.Password()
	follow := func(setting, address string) (*config.Secret, func(password string)) {
		file := filepath.Join(t.TempDir(), "address")
		secret := config.NewSecret(config.SecretConfig{Setting: setting, Path: file, Value: address, Check: clickhouse.SameServer(setting, address)})
		return secret, func(password string) {
			require.NoError(t, os.WriteFile(file, []byte(with(address, password)+"\n"), 0o600))
			_, err := secret.Look()
			require.NoError(t, err)
			taken, err := secret.Look()
			require.NoError(t, err)
			require.True(t, taken)
		}
	}
	native, change := follow("--clickhouse-url", server.URL())
	c := clickhouse.Config{URL: server.URL(), Secret: native}
	topology, err := clickhouse.NewTopology(c)
	require.NoError(t, err)
	login := clickhouse.HTTPLogin{URL: strings.Replace(server.HTTPURL(), u.User.String()+"@", "", 1), Native: c}

	http := server.HTTPURL()
	stop, served := make(chan struct{}), [3]atomic.Int64{}
	var load sync.WaitGroup
	asks := []func(ctx context.Context) error{
		func(ctx context.Context) error { // as what reads does
			conn, err := clickhouse.Open(c, 1)
			if err != nil {
				return err
			}
			defer func() { _ = conn.Close() }()
			return conn.Ping(ctx)
		},
		func(ctx context.Context) error { // as a consumer does
			return topology.Each(ctx, func(_ uint16, conn *ch.Client) error { return conn.Ping(ctx) })
		},
		func(ctx context.Context) error { // as exports do
			return login.Do(func(user, password string) error { return clickhouse.AskHTTP(ctx, http, user, password) })
		},
	}
	for i, ask := range asks {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := ask(context.Background()); err != nil {
					t.Errorf("request %d failed: %v", i, err)
					return
				}
				served[i].Add(1)
			}
		})
	}
	more := func() {
		t.Helper()
		for i := range served {
			before := served[i].Load()
			require.Eventually(t, func() bool { return served[i].Load() > before+10 || t.Failed() }, enginetest.Timeout, 5*time.Millisecond)
		}
	}
	more()
	change("second")
	more()
	close(stop)
	load.Wait()
	require.Len(t, native.Candidates(""), 2)

	// The embedded server reads its users when it starts.
	require.NoError(t, server.Stop(t.Context()))
	kept := filepath.Join(dir, "passwords.json")
	text, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.Contains(t, string(text), first)
	require.NoError(t, os.WriteFile(kept, bytes.Replace(text, []byte(first), []byte("second"), 1), 0o600))
	require.NoError(t, server.Start(t.Context()))
	for _, ask := range asks {
		require.NoError(t, ask(t.Context()))
	}
	require.Len(t, native.Candidates(""), 1, "the password before is forgotten")
	old, err := clickhouse.Open(clickhouse.Config{URL: with(server.URL(), first)}, 1)
	require.NoError(t, err)
	require.Error(t, old.Ping(t.Context()), "the password before is not valid any more")
	require.NoError(t, old.Close())
}
