package config_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/enginetest"
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
func follow(t *testing.T) (*config.Files, followed, func(text string)) {
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
	return files, s.Part, write
}

func TestAProcessFollowsTheFileOfASecret(t *testing.T) {
	t.Parallel()
	_, c, write := follow(t)
	var seen []string
	c.Secret.OnChange(func(text string) { seen = append(seen, text) })
	look := func() (bool, error) {
		t.Helper()
		_, err := c.Secret.Look()
		require.NoError(t, err)
		return c.Secret.Look()
	}

	require.Equal(t, "first", c.Secret.Value("given"))
	taken, err := look()
	require.NoError(t, err)
	require.False(t, taken, "the file is as it was")

	write("second\r\n")
	taken, err = c.Secret.Look()
	require.NoError(t, err)
	require.False(t, taken, "the file may be half written")
	require.Equal(t, "first", c.Secret.Value("given"))
	taken, err = c.Secret.Look()
	require.NoError(t, err)
	require.True(t, taken)
	require.Equal(t, "second", c.Secret.Value("given"))
	require.Equal(t, []string{"second"}, seen)

	require.Equal(t, []string{"second", "first"}, c.Secret.Candidates("given"), "no server has taken the second")
	c.Secret.Prove("first")
	require.Len(t, c.Secret.Candidates("given"), 2)
	refused := errors.New("wrong password")
	is := func(err error) bool { return errors.Is(err, refused) }
	require.NoError(t, c.Secret.Try("given", is, func(value string) error {
		if value == "second" {
			return refused
		}
		return nil
	}), "the server has the first one still")
	require.NoError(t, c.Secret.Try("given", is, func(string) error { return nil }))
	require.Equal(t, []string{"second"}, c.Secret.Candidates("given"), "the server took the second")
	require.ErrorIs(t, c.Secret.Try("given", is, func(string) error { return errBad }), errBad)

	var none *config.Secret
	require.Equal(t, "given", none.Value("given"))
	require.Equal(t, []string{"given"}, none.Candidates("given"))
}

// A file that cannot be used changes nothing, and the log and a metric tell.
func TestABadFileKeepsTheSecret(t *testing.T) {
	t.Parallel()
	files, c, write := follow(t)
	lines := &enginetest.Log{}
	metrics := prometheus.NewRegistry()
	enginetest.Run(t, files.Watch(config.WatchDeps{Log: slog.New(slog.NewTextHandler(lines, nil)), Registerer: metrics}))
	refused := func(want float64) func() bool {
		return func() bool {
			families, err := metrics.Gather()
			return err == nil && slices.ContainsFunc(families, func(f *dto.MetricFamily) bool {
				return f.GetName() == "lodestone_secret_file_refused" && f.GetMetric()[0].GetLabel()[0].GetValue() == "--keys" && f.GetMetric()[0].GetGauge().GetValue() == want
			})
		}
	}
	for _, bad := range []string{"", "\n", "bad hunter2"} {
		write(bad)
		require.Eventually(t, refused(1), limit, step)
		require.Equal(t, "first", c.Secret.Value(""))
		write("first")
		require.Eventually(t, refused(0), limit, step)
	}
	write("good hunter3")
	require.Eventually(t, func() bool { return strings.Contains(lines.String(), "has a new value") }, limit, step)
	require.Equal(t, "good hunter3", c.Secret.Value(""))
	require.Contains(t, lines.String(), "is empty")
	require.Contains(t, lines.String(), errBad.Error())
	require.NotContains(t, lines.String(), "hunter")
}
