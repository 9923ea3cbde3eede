package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lodestone/pkg/engine"
	"lodestone/pkg/test/enginetest"
)

// Parts of many inserts would fill the block group of their table's directory, where ext4 finds no
// free inode any more.
func TestFilesOfTablesAreSpreadOverTheDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server := engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: enginetest.Runtime(), Dir: dir, MemoryBytes: enginetest.ClickHouseMemory, Launcher: enginetest.Launcher(t), Installer: enginetest.Installer(t),
	})
	startFor(t, server)
	must(t, server.HTTPURL(), "CREATE TABLE default.t (x UInt64) ENGINE = MergeTree ORDER BY x")
	require.NoError(t, server.Probe(t.Context()))
	tables, err := filepath.Glob(filepath.Join(dir, "data", "store", "*", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, tables)
	var disk unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &disk))
	for _, table := range tables {
		d, err := os.Open(table)
		require.NoError(t, err)
		flags, err := unix.IoctlGetInt(int(d.Fd()), unix.FS_IOC_GETFLAGS)
		require.NoError(t, d.Close())
		const topDir = 0x20000
		require.Equal(t, disk.Type == unix.EXT4_SUPER_MAGIC, err == nil && flags&topDir != 0, table)
	}
}
