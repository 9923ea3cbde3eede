package install

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// madeVariable names the directory that this test, run again in a process with a strict umask,
// makes.
const madeVariable = "LODESTONE_TEST_MADE"

func TestDirectoriesMadeUnderAStrictUmask(t *testing.T) {
	t.Parallel()
	if dir := os.Getenv(madeVariable); dir != "" {
		require.NoError(t, MakeDir(dir, 0o711))
		return
	}
	root := t.TempDir()
	there := filepath.Join(root, "there")
	require.NoError(t, os.Mkdir(there, 0o700))
	// The umask belongs to the process.
	cmd := exec.CommandContext(t.Context(), "sh", "-c",
		`umask 077; exec "$0" -test.run '^TestDirectoriesMadeUnderAStrictUmask$'`, os.Args[0])
	cmd.Env = append(os.Environ(), madeVariable+"="+filepath.Join(there, "a", "b"))
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, string(output))
	created := fs.FileMode(0o711)
	if os.Geteuid() != 0 {
		created = 0o700 // everything runs as the one user
	}
	for path, want := range map[string]fs.FileMode{"": 0o700, "a": created, "a/b": created} {
		info, err := os.Stat(filepath.Join(there, path))
		require.NoError(t, err)
		require.Equal(t, want, info.Mode().Perm(), path)
	}

	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.Error(t, MakeDir(file, 0o711))
	require.Error(t, MakeDir(filepath.Join(file, "a"), 0o711))
	require.NoError(t, MakeDir(there, 0o711))
}
