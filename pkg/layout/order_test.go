package layout_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// inOneDirection are the packages that people read first. In each, files can be put in an order in
// which calls go downward only.
var inOneDirection = []string{
	"ingest/collector", "ingest/consumer", "ingest/counter", "ingest/mirror", "ingest/producer", "ingest/retention",
	"ingest/spool", "ingest/stream", "ingest/verify",
	"query", "query/eventlist", "query/export", "query/live", "query/reader", "query/scope",
	"pkg/api", "pkg/auth", "pkg/backup", "pkg/chart", "pkg/engine/child", "pkg/jsonschema",
	"pkg/event", "pkg/source", "pkg/token",
	"crud/webhook", "crud/landing", "crud/mail", "crud/session", "crud/submission", "crud/queue",
}

// A call upward makes a reader go back and forth between two files: one of the functions stands in
// the wrong one.
func TestCallsGoOneWay(t *testing.T) {
	t.Parallel()
	args := []string{"-export", "-deps"}
	for _, p := range inOneDirection {
		args = append(args, module+"/"+p)
	}
	all := map[string]listed{}
	for _, p := range goList(t, ".", nil, args...) {
		all[p.ImportPath] = p
	}
	for _, name := range inOneDirection {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := all[module+"/"+name]
			require.NotEmpty(t, p.GoFiles)
			set := token.NewFileSet()
			var files []*ast.File
			for _, f := range p.GoFiles {
				parsed, err := parser.ParseFile(set, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
				require.NoError(t, err)
				files = append(files, parsed)
			}
			info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
			config := types.Config{Importer: importer.ForCompiler(set, "gc",
				func(path string) (io.ReadCloser, error) { return os.Open(all[path].Export) })}
			checked, err := config.Check(p.ImportPath, set, files, info)
			require.NoError(t, err)
			calls := map[string]map[string]string{} // file → file that it calls → a function there
			for id, used := range info.Uses {
				from, to := set.Position(id.Pos()).Filename, set.Position(used.Pos()).Filename
				if f, ok := used.(*types.Func); ok && f.Pkg() == checked && from != to && !ofInterface(f) {
					if calls[from] == nil {
						calls[from] = map[string]string{}
					}
					calls[from][to] = f.Name()
				}
			}
			var walk func(from, at string, seen map[string]bool)
			walk = func(from, at string, seen map[string]bool) {
				for to, function := range calls[at] {
					require.NotEqual(t, from, to, "%s calls %s of %s, which leads back to it", filepath.Base(at),
						function, filepath.Base(to))
					if !seen[to] {
						seen[to] = true
						walk(from, to, seen)
					}
				}
			}
			for from := range calls {
				walk(from, from, map[string]bool{})
			}
		})
	}
}

func ofInterface(f *types.Func) bool {
	receiver := f.Signature().Recv()
	return receiver != nil && types.IsInterface(receiver.Type())
}
