package main

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// running is the `lodestone up` that tests of the package share. It starts with the first that asks
// for it, and ends with the last test.
var running struct {
	mu   sync.Mutex
	up   *up
	pool *postgres.Pool
}

// sharedUp returns the `lodestone up` that tests share, as the owner of an account that is the
// test's own: the account has no sample, its directory has the settings of commands, and the
// dashboard's address signs in its owner. A test that stops `up`, changes its settings or looks at
// all accounts starts its own.
func sharedUp(t *testing.T) *up {
	t.Helper()
	all := runShared(t)
	u := &up{t: t, dir: enginetest.Dir(t), ports: all.ports, env: maps.Clone(all.env),
		owner: "owner-" + uuid.NewString()[:8] + "@example.com"}
	u.program = &program{t: t, cmd: all.cmd, out: all.out, exited: all.exited, shared: true}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the shared `lodestone up` printed:\n%s", all.out)
		}
	})

	data := filepath.Join(u.dir, "data")
	require.NoError(t, os.Mkdir(data, 0o700))
	require.NoError(t, os.Symlink(filepath.Join(all.dir, "data", "token-keys"), filepath.Join(data, "token-keys")))
	account, key, err := demoKey(t.Context(), running.pool, data, u.owner, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	owner, err := user.NewUsers(running.pool).Add(t.Context(), account, u.owner, auth.Owner)
	require.NoError(t, err)
	page, err := signin.NewLink(t.Context(), running.pool, signin.Link{User: owner, Lasts: upLinkLasts})
	require.NoError(t, err)
	u.env["LODESTONE_API_KEY"], u.env["LODESTONE_DASHBOARD_URL"] = key, u.env["LODESTONE_URL"]+page
	text, err := os.ReadFile(filepath.Join(all.dir, "data", "lodestone.env"))
	require.NoError(t, err)
	settings := strings.NewReplacer(all.env["LODESTONE_API_KEY"], key, all.env["LODESTONE_DASHBOARD_URL"],
		u.env["LODESTONE_DASHBOARD_URL"]).Replace(string(text))
	require.NoError(t, os.WriteFile(filepath.Join(data, "lodestone.env"), []byte(settings), 0o600))
	return u
}

// runShared starts it if it does not run yet.
func runShared(t *testing.T) *up {
	t.Helper()
	running.mu.Lock()
	defer running.mu.Unlock()
	if running.up != nil {
		return running.up
	}
	parent, err := enginetest.PackageDir()
	require.NoError(t, err)
	dir, err := os.MkdirTemp(parent, "shared")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o711)) // PostgreSQL runs as another user
	u := &up{t: t, dir: dir, lasting: true, more: []string{"--no-sample"}}
	for i := range u.ports {
		u.ports[i] = enginetest.FreePort(t)
	}
	u.start()
	enginetest.AtEnd(u.kill)
	pool, err := postgres.Open(context.Background(),
		postgres.Config{URL: strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'"), MaxConns: 4})
	require.NoError(t, err)
	enginetest.AtEnd(pool.Close)
	running.up, running.pool = u, pool
	return u
}
