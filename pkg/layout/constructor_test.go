package layout_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Constructors of the product have one shape: New(Config, Deps), settings first. One that takes a
// value or two may take them as they are. Nothing is called Options or Parts beside it.
func TestConstructorsHaveOneShape(t *testing.T) {
	t.Parallel()
	found := 0
	eachSource(t, func(f string, set *token.FileSet, file *ast.File) {
		if within(f, "cmd/lodestone-lab") {
			return
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil || !strings.HasPrefix(d.Name.Name, "New") {
					continue
				}
				found++
				if n := parameters(d); n > 2 {
					t.Errorf("%s: %s has %d parameters: give it a Config and Deps", set.Position(d.Pos()), d.Name.Name, n)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && (strings.HasSuffix(s.Name.Name, "Options") ||
						strings.HasSuffix(s.Name.Name, "Parts")) {
						t.Errorf("%s: %s: settings are a Config, collaborators are Deps", set.Position(s.Pos()), s.Name.Name)
					}
				}
			}
		}
	})
	require.Greater(t, found, 40)
}

// eachSource calls fn with each Go file that is no test, parsed with its comments.
func eachSource(t *testing.T, fn func(name string, set *token.FileSet, file *ast.File)) {
	t.Helper()
	for _, f := range files(t) {
		if filepath.Ext(f) != ".go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, f, read(t, f), parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		fn(f, set, file)
	}
}

// parameters counts those of a function; a context, a test and a variable number at the end are
// apart.
func parameters(d *ast.FuncDecl) int {
	n := 0
	for _, field := range d.Type.Params.List {
		selector, ok := field.Type.(*ast.SelectorExpr)
		apart := ok && (selector.Sel.Name == "Context" || selector.Sel.Name == "TB")
		if _, variadic := field.Type.(*ast.Ellipsis); !apart && !variadic {
			n += len(field.Names)
		}
	}
	return n
}
