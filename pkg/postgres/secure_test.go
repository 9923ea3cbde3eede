package postgres_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

// A server with TLS: authority and certificate come from the URL, as for libpq.
func TestTLS(t *testing.T) {
	t.Parallel()
	a, strangers := test.NewAuthority(t), test.NewAuthority(t)
	server, client := a.Issue("server"), a.Issue("lodestone")
	engine := enginetest.NewPostgres(t, filepath.Join(enginetest.Dir(t), "postgres"))
	enginetest.Run(t, engine)
	admin, err := pgx.Connect(t.Context(), engine.AdminURL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, admin.Close(t.Context())) })
	var data, rules string
	require.NoError(t, admin.QueryRow(t.Context(),
		"SELECT current_setting('data_directory'), current_setting('hba_file')").Scan(&data, &rules))
	info, err := os.Stat(data)
	require.NoError(t, err)
	give := func(from, name string) {
		text, err := os.ReadFile(from)
		require.NoError(t, err)
		path := filepath.Join(data, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		owner := info.Sys().(*syscall.Stat_t)
		require.NoError(t, os.Chown(path, int(owner.Uid), int(owner.Gid)))
	}
	give(server.Cert, "server.crt")
	give(server.Key, "server.key")
	give(a.CA, "root.crt")
	exec := func(statements ...string) {
		for _, s := range statements {
			_, err := admin.Exec(t.Context(), s)
			require.NoError(t, err)
		}
	}
	exec("ALTER SYSTEM SET ssl_ca_file = 'root.crt'", "ALTER SYSTEM SET ssl = on", "SELECT pg_reload_conf()")

	address := func(more ...string) string {
		u, err := url.Parse(engine.URL())
		require.NoError(t, err)
		q := url.Values{"sslmode": {"verify-full"}, "sslrootcert": {a.CA}}
		for i := 0; i < len(more); i += 2 {
			q.Set(more[i], more[i+1])
		}
		u.RawQuery = q.Encode()
		return u.String()
	}
	open := func(url string) *postgres.Pool {
		pool, err := postgres.Open(t.Context(), postgres.Config{URL: url, MaxConns: 2})
		require.NoError(t, err)
		t.Cleanup(pool.Close)
		return pool
	}
	pool := open(address())
	require.Eventually(t, func() bool { return pool.Ping(t.Context()) == nil }, enginetest.Timeout, interval,
		"the server reads its setting")
	var encrypted bool
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
		"SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted))
	require.True(t, encrypted)

	require.ErrorContains(t, open(address("sslrootcert", strangers.CA)).Ping(t.Context()), "sslrootcert of --postgres-url")

	text, err := os.ReadFile(rules)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(rules,
		append([]byte("hostssl all lodestone all scram-sha-256 clientcert=verify-full\n"), text...), 0o600))
	exec("SELECT pg_reload_conf()")
	require.Eventually(t, func() bool {
		pool.Unscoped().Reset()
		err := pool.Ping(t.Context())
		return err != nil && strings.Contains(err.Error(), "sslcert and sslkey of --postgres-url")
	}, enginetest.Timeout, interval)
	require.NoError(t, open(address("sslcert", client.Cert, "sslkey", client.Key)).Ping(t.Context()))

	err = postgres.Config{URL: address("sslrootcert", filepath.Join(a.Dir, "none.pem")), MaxConns: 1}.Validate()
	require.True(t, config.IsInvalid(err))
	require.ErrorContains(t, err, "none.pem")
}

const interval = 20 * time.Millisecond // between two looks
