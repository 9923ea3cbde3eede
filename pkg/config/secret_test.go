package config_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
)

// followed is a Config whose secret the process follows.
type followed struct {
	Keys   string         `name:"keys"`
	Secret *config.Secret `kong:"-"`
}

var errBad = errors.New("is bad")

func (c *followed) AfterApply(f *config.Files) error {
	c.Secret = f.Secret(&c.Keys, func(text string) error {
		if strings.Contains(text, "bad") {
			return errBad
		}
		return nil
	})
	return nil
}

const (
	limit = enginetest.Timeout
	step  = 5 * time.Millisecond
)

// follow returns a Config whose secret is in a file, and what writes that file.
func follow(t *testing.T) (followed, func(text string)) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "secret")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("first\n")
	env := map[string]string{"LODESTONE_KEYS_FILE": file}
	files := &config.Files{Getenv: func(name string) string { return env[name] }}
	var s struct {
		Part followed `embed:""`
	}
	parser, err := kong.New(&s, kong.Resolvers(files), kong.Bind(files))
	require.NoError(t, err)
	_, err = parser.Parse(nil)
	require.NoError(t, err)
	require.Empty(t, files.Problems)
	require.Equal(t, "first", s.Part.Keys)
	return s.Part, write
}

func TestAProcessFollowsTheFileOfASecret(t *testing.T) {
	t.Parallel()
	c, write := follow(t)
	var seen []string
	c.Secret.OnChange(func(text string) { seen = append(seen, text) })
	look := func() (bool, error) {
		t.Helper()
		_, err := c.Secret.Look()
		require.NoError(t, err)
		return c.Secret.Look()
	}

	taken, err := look()
	require.NoError(t, err)
	require.False(t, taken, "the file is as it was")

	write("second\r\n")
	taken, err = c.Secret.Look()
	require.NoError(t, err)
	require.False(t, taken, "the file may be half written")
	require.Empty(t, seen)
	taken, err = c.Secret.Look()
	require.NoError(t, err)
	require.True(t, taken)
	require.Equal(t, []string{"second"}, seen)

	var none *config.Secret
	none.OnChange(func(string) {})
}

// A file that cannot be used changes nothing, and the log and a metric tell.
func TestABadFileKeepsTheSecret(t *testing.T) {
	t.Parallel()
	c, write := follow(t)
	lines := &enginetest.Log{}
	var seen atomic.Value
	seen.Store("first")
	c.Secret.OnChange(func(text string) { seen.Store(text) })
	metrics := prometheus.NewRegistry()
	enginetest.Run(t, c.Secret.Watch(config.WatchDeps{Log: slog.New(slog.NewTextHandler(lines, nil)),
		Registerer: metrics}))
	refused := func(want float64) func() bool {
		return func() bool {
			families, err := metrics.Gather()
			return err == nil && slices.ContainsFunc(families, func(f *dto.MetricFamily) bool {
				return f.GetName() == "lodestone_secret_file_refused" && f.GetMetric()[0].GetLabel()[0].GetValue() == "--keys" &&
					f.GetMetric()[0].GetGauge().GetValue() == want
			})
		}
	}
	for _, bad := range []string{"", "\n", "bad hunter2"} {
		write(bad)
		require.Eventually(t, refused(1), limit, step)
		require.Equal(t, "first", seen.Load())
		write("first")
		require.Eventually(t, refused(0), limit, step)
	}
	write("good hunter3")
	require.Eventually(t, func() bool { return strings.Contains(lines.String(), "using the new value") }, limit, step)
	require.Equal(t, "good hunter3", seen.Load())
	require.Contains(t, lines.String(), "is empty")
	require.Contains(t, lines.String(), errBad.Error())
	require.NotContains(t, lines.String(), "hunter")
}
