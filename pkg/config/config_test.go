package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
)

type settings struct {
	PostgresURL string `name:"postgres-url" default:"default"`
}

// parse reads the settings as a process does, with these variables.
func parse(t *testing.T, env map[string]string, args ...string) (settings, error) {
	t.Helper()
	var s settings
	files := &config.Files{Getenv: func(name string) string { return env[name] }}
	parser, err := kong.New(&s, kong.Resolvers(files))
	require.NoError(t, err)
	_, err = parser.Parse(args)
	for _, p := range files.Problems {
		err = errors.Join(err, p)
	}
	return s, err
}

func TestSecretsComeFromFiles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(file, []byte("from the file\r\n"), 0o600))
	env := map[string]string{"LODESTONE_POSTGRES_URL_FILE": file}

	s, err := parse(t, nil)
	require.NoError(t, err)
	require.Equal(t, "default", s.PostgresURL)
	s, err = parse(t, env)
	require.NoError(t, err)
	require.Equal(t, "from the file", s.PostgresURL, "without the line break")
	s, err = parse(t, env, "--postgres-url=from the flag")
	require.NoError(t, err)
	require.Equal(t, "from the flag", s.PostgresURL)

	env["LODESTONE_POSTGRES_URL"] = "from the variable"
	_, err = parse(t, env)
	require.ErrorContains(t, err, "set either LODESTONE_POSTGRES_URL or LODESTONE_POSTGRES_URL_FILE")
	_, err = parse(t, map[string]string{"LODESTONE_POSTGRES_URL_FILE": file + ".not"})
	require.ErrorContains(t, err, "correct LODESTONE_POSTGRES_URL_FILE")
	require.NoError(t, os.WriteFile(file, []byte("\n"), 0o600))
	_, err = parse(t, map[string]string{"LODESTONE_POSTGRES_URL_FILE": file})
	require.ErrorContains(t, err, "is empty")
}

func TestProblemsNameTheSettingAndTheRemedy(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("start: %w", config.Invalid("--block-rows", "is out of range", "give a number from 1 to 9"))
	require.EqualError(t, err, "start: --block-rows (LODESTONE_BLOCK_ROWS) is out of range: give a number from 1 to 9")
	require.True(t, config.IsInvalid(err))
	require.False(t, config.IsInvalid(errors.New("another")))
}
