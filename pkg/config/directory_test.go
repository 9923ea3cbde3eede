package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
)

// A directory in which no files can be made is a problem of its setting, in one line.
func TestWritable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	file := filepath.Join(home, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{home, filepath.Join(home, "a", "b"), filepath.Join(home, "a", "b")} {
		require.NoError(t, config.Writable("--spool-dir", dir))
		require.DirExists(t, dir)
	}
	entries, err := os.ReadDir(filepath.Join(home, "a", "b"))
	require.NoError(t, err)
	require.Empty(t, entries, "what was tried is removed")
	for dir, reason := range map[string]string{
		"/proc/spool": "no such file or directory", "/proc/self/x": "no such file or directory",
		"/proc": "no such file or directory",
		file:    "not a directory", filepath.Join(file, "below"): "not a directory",
		filepath.Join(home, strings.Repeat("x", 300)): "file name too long", filepath.Join(home, "\x00"): "invalid argument",
	} {
		err := config.Writable("--spool-dir", dir)
		require.True(t, config.IsInvalid(err), dir)
		require.EqualError(t, err, "--spool-dir (LODESTONE_SPOOL_DIR) is "+dir+", where no files can be written ("+reason+
			"): name a directory that the user of this process may write to")
	}
}
