package layout_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// section returns the text of ARCHITECTURE.md below a heading.
func section(t *testing.T, heading string) string {
	t.Helper()
	_, text, found := strings.Cut(string(read(t, "ARCHITECTURE.md")), "\n## "+heading+"\n")
	require.True(t, found, heading)
	return strings.Split(text, "\n## ")[0]
}

// Every package that ARCHITECTURE.md names as a room is there.
func TestRoomsExist(t *testing.T) {
	t.Parallel()
	room := regexp.MustCompile("`((?:cmd|ingest|query|crud|pkg)/[a-z/-]+)`")
	for _, m := range room.FindAllStringSubmatch(section(t, "The rooms"), -1) {
		require.DirExists(t, filepath.Join(root, m[1]), "a room of ARCHITECTURE.md")
	}
}

// Every function that the walks of ARCHITECTURE.md name, as package.Function or
// package.Type.Method, is there.
func TestWalksExist(t *testing.T) {
	t.Parallel()
	declared := map[string]bool{}
	eachSource(t, func(f string, _ *token.FileSet, file *ast.File) {
		if within(f, "cmd") {
			return
		}
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				name := fn.Name.Name
				if fn.Recv != nil {
					name = strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*") + "." + name
				}
				declared[path.Base(path.Dir(f))+"."+name] = true
			}
		}
	})
	function := regexp.MustCompile("`([a-z]+(?:\\.[A-Za-z]+){1,2})`")
	walked := function.FindAllStringSubmatch(section(t, "The three walks"), -1)
	require.Greater(t, len(walked), 20)
	for _, m := range walked {
		require.True(t, declared[m[1]], "ARCHITECTURE.md walks through %s, which is not there", m[1])
	}
}
