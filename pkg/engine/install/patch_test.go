package install

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The keyword is found wherever it stands, also across the bounds of what is read at a time.
func TestOverwrite(t *testing.T) {
	t.Parallel()
	old, text := []byte("PARALLEL WITH"), []byte("PARALLEL\x01WITH")
	for _, at := range [][]int{{}, {0}, {5, 18}, {1<<20 - 13}, {1<<20 - 1}, {1<<20 - 12, 2<<20 - 20}, {1 << 20, 3<<20 - 13}} {
		content := bytes.Repeat([]byte("PARALLEL "), 3<<20/9+1)[:3<<20]
		want := bytes.Clone(content)
		for _, i := range at {
			copy(content[i:], old)
			copy(want[i:], text)
		}
		path := filepath.Join(t.TempDir(), "lib")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		n, err := overwrite(path, old, text)
		require.NoError(t, err)
		require.Equal(t, len(at), n, at)
		got, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(want, got), at)
	}
}

func TestLibraryWithoutTheKeywordIsNotTakenForPatched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libchdb.so"), []byte("something else"), 0o600))
	require.ErrorContains(t, confined.do(dir), "no such keyword")
}

func TestEveryKeywordIsRemovedFromTheLibrary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "libchdb.so")
	require.NoError(t, os.WriteFile(path, []byte("SYSTEM\x00PARALLEL WITH\x00ORDER BY\x00RECURSIVE\x00CANNOT_CREATE_RECURSIVE_FUNCTION\x00"), 0o600))
	require.NoError(t, confined.do(dir))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "SYSTEM\x00PARALLEL\x01WITH\x00ORDER BY\x00RECURS\x01VE\x00CANNOT_CREATE_RECURSIVE_FUNCTION\x00", string(text))
	require.NoError(t, os.WriteFile(path, []byte("PARALLEL WITH\x00"), 0o600))
	require.ErrorContains(t, confined.do(dir), "remove RECURSIVE")
}

// A library whose machine code is known has to have the function, and loses it.
func TestSettingsCannotBeReset(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), resetSetting.library, "libchdb.so")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	keywords := "PARALLEL WITH\x00RECURSIVE\x00"
	require.NoError(t, os.WriteFile(path, []byte(keywords+resetSetting.code+"rest"), 0o600))
	require.NoError(t, confined.do(filepath.Dir(path)))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), resetSetting.text+"rest")
	require.NoError(t, os.WriteFile(path, []byte(keywords), 0o600))
	require.ErrorContains(t, confined.do(filepath.Dir(path)), "0 times")
}
