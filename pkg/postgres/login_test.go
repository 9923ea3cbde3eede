package postgres_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/postgres"
)

// The password of the user changes, first in the file and then in Postgres, and later the user: no request under load fails, though each
// one opens a connection.
func TestRequestsOutliveANewPassword(t *testing.T) {
	t.Parallel()
	owner := enginetest.Postgres(t)
	admin, err := pgx.Connect(t.Context(), owner)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, admin.Close(context.Background())) })
	user := enginetest.NewUser(t, "first")
	address := func(user, password string) string {
		u, err := url.Parse(owner)
		require.NoError(t, err)
		u.User = url.UserPassword(user, password)
		return u.String()
	}
	file := filepath.Join(t.TempDir(), "postgres-url")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text+"\n"), 0o600)) }
	write(address(user, "first"))
	secret := config.NewSecret(config.SecretConfig{Setting: "--postgres-url", Path: file, Value: address(user, "first"), Check: postgres.SameServer("--postgres-url", address(user, "first"))})
	take := func() {
		t.Helper()
		_, err := secret.Look()
		require.NoError(t, err)
		taken, err := secret.Look()
		require.NoError(t, err)
		require.True(t, taken)
	}
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: address(user, "first"), MaxConns: 4, Secret: secret})
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	stop, served := make(chan struct{}), &atomic.Int64{}
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := pool.Transaction(context.Background(), func(tx pgx.Tx) error {
					_, err := tx.Exec(context.Background(), "SELECT 1")
					return err
				})
				if err != nil {
					t.Errorf("a request failed: %v", err)
					return
				}
				served.Add(1)
				pool.Unscoped().Reset() // the next one opens a connection
			}
		})
	}
	more := func() {
		t.Helper()
		before := served.Load()
		require.Eventually(t, func() bool { return served.Load() > before+20 || t.Failed() }, enginetest.Timeout, 5*time.Millisecond)
	}
	more()
	write(address(user, "second"))
	take()
	more()
	enginetest.SetPassword(t, user, "second")
	more()
	require.Equal(t, []string{address(user, "second")}, secret.Candidates(""), "the one before is forgotten")

	other := enginetest.NewUser(t, "third")
	write(address(other, "third"))
	take()
	more()
	var now string
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT current_user").Scan(&now))
	require.Equal(t, other, now)

	for _, wrong := range []string{"postgres://%zz", address(other, "third") + "x"} {
		write(wrong)
		_, err := secret.Look()
		require.NoError(t, err)
		_, err = secret.Look()
		require.Error(t, err)
		require.NotContains(t, err.Error(), "third")
	}
	more()
	close(stop)
	load.Wait()
}
