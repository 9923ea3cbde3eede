package bucket_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/auth"

	"lodestone/crud/file"
	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
)

// keyring is the key of a bucket in two files, which a process follows, and the keys that the store knows.
type keyring struct {
	*testing.T
	store   *auth.IAMServiceInternal
	dir     string // of the files
	log     enginetest.Log
	metrics *prometheus.Registry
}

const (
	accessSetting = "--file-s3-access-key"
	secretSetting = "--file-s3-secret-key"
)

func newKeyring(t *testing.T) *keyring {
	t.Helper()
	return &keyring{T: t, store: newAccounts(t), dir: t.TempDir(), metrics: prometheus.NewRegistry()}
}

// create makes a key at the store.
func (k *keyring) create(access string) {
	k.Helper()
	require.NoError(k, k.store.CreateAccount(auth.Account{Access: access, Secret: "secret-of-" + access, Role: auth.RoleAdmin}))
}

// write replaces the file of a setting.
func (k *keyring) write(setting, text string) {
	k.Helper()
	require.NoError(k, os.WriteFile(filepath.Join(k.dir, setting), []byte(text+"\n"), 0o600))
}

// follow returns the settings of a process that follows the files.
func (k *keyring) follow(endpoint string) file.Config {
	k.Helper()
	env := map[string]string{
		"LODESTONE_FILE_S3_ACCESS_KEY_FILE": filepath.Join(k.dir, accessSetting), "LODESTONE_FILE_S3_SECRET_KEY_FILE": filepath.Join(k.dir, secretSetting),
	}
	given := &config.Files{Getenv: func(name string) string { return env[name] }}
	var settings struct {
		Files file.Config `embed:""`
	}
	parser, err := kong.New(&settings, kong.Resolvers(given), kong.Bind(given))
	require.NoError(k, err)
	_, err = parser.Parse([]string{"--file-store=s3://documents/lodestone", "--file-cache-bytes=0", "--file-s3-endpoint=" + endpoint, "--file-s3-region=" + region})
	require.NoError(k, err)
	require.Empty(k, given.Problems)
	enginetest.Run(k, given.Watch(config.WatchDeps{Log: slog.New(slog.NewTextHandler(&k.log, nil)), Registerer: k.metrics}))
	return settings.Files
}

// shows waits until a metric of a setting has a value.
func (k *keyring) shows(name, setting string, want float64) {
	k.Helper()
	require.Eventually(k, func() bool {
		families, err := k.metrics.Gather()
		if err != nil {
			return false
		}
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == name && m.GetLabel()[0].GetValue() == setting {
					return m.GetGauge().GetValue()+m.GetCounter().GetValue() == want
				}
			}
		}
		return false
	}, enginetest.Timeout, 10*time.Millisecond, "%s of %s is not %v", name, setting, want)
}

// The key of a bucket is replaced at the store and in the files while files are written and read, and no request fails. A wrong key is not
// used: the log says so without it, and a metric shows it.
func TestKeyOfABucketChanges(t *testing.T) {
	const refused, changes = "lodestone_secret_file_refused", "lodestone_secret_file_changes_total"
	k := newKeyring(t)
	l := newLibraryOf(t, k.store)
	k.create("first")
	k.write(accessSetting, "first")
	k.write(secretSetting, "secret-of-first")
	files := l.open(k.follow(l.config.S3.Endpoint))
	f, text := l.add(files, 1000)

	var load sync.WaitGroup
	ended := make(chan struct{})
	end := sync.OnceFunc(func() {
		close(ended)
		load.Wait()
	})
	defer end()
	var served [3]atomic.Int64
	for i := range served {
		load.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				_, err := files.Write(t.Context(), l.account, bytes.NewReader(text), int64(len(text)))
				got, readErr := l.read(files, f)
				if err != nil || readErr != nil || !bytes.Equal(text, got) {
					t.Errorf("a request fails: %v, %v", err, readErr)
					return
				}
				served[i].Add(1)
			}
		})
	}
	// Everything that began before a call has ended after it, and something that began later.
	goOn := func() {
		t.Helper()
		for i := range served {
			before := served[i].Load()
			require.Eventually(t, func() bool { return served[i].Load() >= before+2 || t.Failed() }, enginetest.Timeout, 10*time.Millisecond)
		}
		require.False(t, t.Failed())
	}

	goOn()
	k.write(accessSetting, "second")
	k.write(secretSetting, "hunter2")
	k.shows(refused, secretSetting, 1)
	goOn()
	k.create("second")
	k.shows(refused, secretSetting, 1)
	goOn()
	k.write(secretSetting, "secret-of-second")
	k.shows(changes, secretSetting, 1)
	k.shows(refused, secretSetting, 0)
	goOn()
	require.NoError(t, k.store.DeleteUserAccount("first"))
	goOn()

	k.create("third")
	k.write(secretSetting, "secret-of-third")
	k.shows(refused, secretSetting, 1)
	goOn()
	k.write(accessSetting, "third")
	k.shows(changes, secretSetting, 2)
	k.shows(refused, secretSetting, 0)
	goOn()
	require.NoError(t, k.store.DeleteUserAccount("second"))
	goOn()
	end()

	require.Contains(t, k.log.String(), "is refused by the store")
	l.stop()
	k.write(secretSetting, "hunter3")
	k.shows(refused, secretSetting, 1)
	require.Contains(t, k.log.String(), "ask the store whether it accepts the new secret key")
	for _, value := range []string{"hunter", "secret-of-"} {
		require.NotContains(t, k.log.String(), value)
	}
}
