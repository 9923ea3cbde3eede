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
	for _, at := range [][]int{{}, {0}, {5, 18}, {1<<20 - 13}, {1<<20 - 1},
		{1<<20 - 12, 2<<20 - 20}, {1 << 20, 3<<20 - 13}} {
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

// aLibrary is a file in the place of a library whose instructions are known.
func aLibrary(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "lib-linux-x64-gnu", "libchdb.so")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// codes are the instructions of that library.
func codes() (code, text string) {
	for _, i := range instructions["lib-linux-x64-gnu"] {
		code, text = code+i.code+"|", text+i.text+"|"
	}
	return code, text
}

func TestLibraryWithoutTheKeywordIsNotTakenForPatched(t *testing.T) {
	t.Parallel()
	code, _ := codes()
	require.ErrorContains(t, confined.do(filepath.Dir(aLibrary(t, code+"something else"))), "no such keyword")
	require.ErrorContains(t, confined.do(filepath.Dir(aLibrary(t, code+"PARALLEL WITH\x00"))), "remove RECURSIVE")
}

func TestEveryWayOutIsRemovedFromTheLibrary(t *testing.T) {
	t.Parallel()
	code, closed := codes()
	path := aLibrary(t, "SYSTEM\x00PARALLEL WITH\x00ORDER BY\x00RECURSIVE\x00CANNOT_CREATE_RECURSIVE_FUNCTION\x00"+code+
		"rest")
	require.NoError(t, confined.do(filepath.Dir(path)))
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "SYSTEM\x00PARALLEL\x01WITH\x00ORDER BY\x00RECURS\x01VE\x00CANNOT_CREATE_RECURSIVE_FUNCTION\x00"+
		closed+"rest", string(text))
}

// A library has to have each of the instructions once. One whose instructions are not known is not
// used.
func TestALibraryOfOtherInstructionsIsRefused(t *testing.T) {
	t.Parallel()
	const keywords = "PARALLEL WITH\x00RECURSIVE\x00"
	code, _ := codes()
	require.ErrorContains(t, confined.do(filepath.Dir(aLibrary(t, keywords))), "0 times")
	require.ErrorContains(t, confined.do(filepath.Dir(aLibrary(t, keywords+code+code))), "2 times")
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "libchdb.dylib"), []byte(keywords+code), 0o600))
	require.ErrorContains(t, confined.do(dir), "cannot confine SQL users")
}

func TestReplacedInstructionsKeepTheirLength(t *testing.T) {
	t.Parallel()
	for library, known := range instructions {
		for _, i := range known {
			require.Len(t, i.text, len(i.code), "%s: %s", library, i.closes)
		}
	}
}
