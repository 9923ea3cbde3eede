package blockgroup

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestSpread(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	table := filepath.Join(dir, "abc", "table")
	require.NoError(t, os.MkdirAll(table, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "abc", "file"), nil, 0o600))
	for range 2 {
		require.NoError(t, Spread(filepath.Join(dir, "*", "*")))
	}
	require.Equal(t, onExt4(t, dir), isSpread(t, table))
	require.False(t, isSpread(t, dir))
	require.NoError(t, os.Mkdir(filepath.Join(table, "part"), 0o700))
	require.False(t, isSpread(t, filepath.Join(table, "part")), "files of a part stay together")
	require.NoError(t, Spread(filepath.Join(dir, "none", "*")))
}

func onExt4(t *testing.T, dir string) bool {
	t.Helper()
	var s unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &s))
	return s.Type == unix.EXT4_SUPER_MAGIC
}

func isSpread(t *testing.T, dir string) bool {
	t.Helper()
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	flags, err := unix.IoctlGetInt(int(d.Fd()), unix.FS_IOC_GETFLAGS)
	return err == nil && flags&topDir != 0
}
