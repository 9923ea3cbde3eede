// Package layout holds the rules that keep the repository in shape, as tests: imports between
// packages, the place of files, and the licences of dependencies. It has no code of its own.
package layout_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "lodestone"

// root is the repository, seen from this package's tests.
const root = "../.."

// modules are the directories of the repository's modules: the product, and those that the product
// does not know, the laboratory, the tests of the Helm chart, what makes releases and what builds
// the documentation's site.
var modules = []string{".", "cmd/lodestone-lab", "deploy/helm/test", "cmd/lodestone-release"}

// rule forbids packages to import others. Paths are prefixes that end at a slash or at the end.
type rule struct {
	packages []string // these, relative to the module; "" is every package of ours
	except   []string // but not these
	mustNot  []string // import these: relative to the module if they begin with a dot
	testsToo bool     // tests are held to it as well
	why      string
}

// testSupport are the packages that only tests import.
var testSupport = []string{"pkg/test", "query/querytest", "ingest/consumer/consumertest"}

var rules = []rule{
	{
		packages: []string{"ingest"}, mustNot: []string{"./query", "./crud", "./cmd"}, testsToo: true,
		why: "the parts are processes of their own: they meet in Kafka, ClickHouse and Postgres, whose contracts are in pkg",
	},
	{
		packages: []string{"query"}, mustNot: []string{"./ingest", "./crud", "./cmd"}, testsToo: true,
		why: "the parts are processes of their own: they meet in Kafka, ClickHouse and Postgres, whose contracts are in pkg",
	},
	{
		packages: []string{"crud"}, mustNot: []string{"./ingest", "./query", "./cmd"}, testsToo: true,
		why: "the parts are processes of their own: they meet in Kafka, ClickHouse and Postgres, whose contracts are in pkg",
	},
	{
		packages: []string{"pkg"}, mustNot: []string{"./ingest", "./query", "./crud", "./cmd", "./deploy"}, testsToo: true,
		why: "pkg is what the parts share: if it knew one of them, all would depend on it",
	},
	{
		except: []string{"cmd/lodestone-clickhouse"}, mustNot: []string{"github.com/ebitengine/purego"}, testsToo: true,
		why: "loading a C library makes a program dynamically linked and lets a crash of the library take it down: only the launcher, a process of its own, does it",
	},
	{
		except: testSupport,
		mustNot: []string{
			"testing", "github.com/stretchr/testify", "pgregory.net/rapid", "go.uber.org/goleak", "github.com/emersion/go-smtp",
			"github.com/emersion/go-sasl", "github.com/maxmind/mmdbwriter",
		},
		why: "what only tests need is not part of the programs",
	},
	{
		except: slices.Concat(testSupport, []string{"cmd/lodestone-lab"}), mustNot: []string{"./pkg/test"},
		why: "what only tests and the laboratory need is not part of the programs",
	},
	{
		packages: []string{"ingest", "query", "crud"}, except: testSupport, mustNot: []string{"./pkg/engine"},
		why: "the parts get addresses and do not care whose engines answer there; cmd decides",
	},
}

// listed is the entry of a package in `go list`.
type listed struct {
	Dir, Export                                  string // of the sources, of what the compiler made
	GoFiles                                      []string
	ImportPath                                   string
	Standard                                     bool
	Imports, TestImports, XTestImports, CgoFiles []string
	Module                                       *struct{ Path, Version, Dir string }
}

// goList lists packages of a module, which is named by its directory.
func goList(t *testing.T, module string, env []string, args ...string) []listed {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go",
		append([]string{"list",
			"-json=ImportPath,Standard,Dir,GoFiles,Export,Imports,TestImports,XTestImports,CgoFiles,Module"}, args...)...)
	cmd.Dir = filepath.Join(root, module)
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, "go list: %s", stderr.String())
	var all []listed
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		all = append(all, p)
	}
}

func TestImports(t *testing.T) {
	t.Parallel()
	for _, m := range modules {
		for _, p := range goList(t, m, nil, "./...") {
			for _, r := range rules {
				if r.covers(p.ImportPath) {
					r.check(t, p)
				}
			}
		}
	}
}

func (r rule) check(t *testing.T, p listed) {
	t.Helper()
	imports := p.Imports
	if r.testsToo {
		imports = slices.Concat(imports, p.TestImports, p.XTestImports)
	}
	for _, i := range imports {
		if i != p.ImportPath && r.forbids(i) {
			t.Errorf("%s imports %s: %s", p.ImportPath, i, r.why)
		}
	}
}

func (r rule) covers(path string) bool {
	inside, ours := strings.CutPrefix(path, module+"/")
	if !ours || slices.ContainsFunc(r.except, func(e string) bool { return within(inside, e) }) {
		return false
	}
	return len(r.packages) == 0 || slices.ContainsFunc(r.packages, func(p string) bool { return within(inside, p) })
}

func (r rule) forbids(path string) bool {
	return slices.ContainsFunc(r.mustNot, func(f string) bool {
		if ours, ok := strings.CutPrefix(f, "./"); ok {
			f = module + "/" + ours
		}
		return within(path, f)
	})
}

func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

// TestRulesHoldSomething keeps a rule from passing because its words match nothing.
func TestRulesHoldSomething(t *testing.T) {
	t.Parallel()
	require.True(t, rules[0].covers("lodestone/ingest/consumer"))
	require.False(t, rules[0].covers("lodestone/ingestion"))
	require.True(t, rules[0].forbids("lodestone/query/report"))
	require.True(t, rules[4].covers("lodestone/cmd/lodestone"))
	require.False(t, rules[4].covers("lodestone/cmd/lodestone-clickhouse"))
	require.True(t, rules[4].forbids("github.com/ebitengine/purego"))
}

// Every go.mod is one of the modules that tests and `make check` cover.
func TestModules(t *testing.T) {
	t.Parallel()
	var found []string
	for _, f := range files(t) {
		if filepath.Base(f) == "go.mod" {
			found = append(found, filepath.Dir(f))
		}
	}
	require.ElementsMatch(t, modules, found)
	require.Contains(t, string(read(t, "Makefile")), "LAB := "+modules[1]+"\nRELEASE := "+modules[3]+"\nCHART := "+
		modules[2]+"\nMODULES := . $(LAB) $(CHART) $(RELEASE)\n")
}

// Every module that the product needs directly has its reason beside it, so that the next one has
// to find one.
func TestEveryModuleHasAReason(t *testing.T) {
	t.Parallel()
	required := regexp.MustCompile(`(?m)^(?:require )?\t?(\S+) v\S+(.*)$`).FindAllStringSubmatch(string(read(t, "go.mod")),
		-1)
	require.NotEmpty(t, required)
	for _, r := range required {
		require.Contains(t, r[2], "// ", "%s: say in go.mod, behind its version, what it is needed for", r[1])
	}
}

// What the laboratory measures and breaks in its own process is the product as it is built.
func TestTheLaboratoryHasTheVersionsOfTheProduct(t *testing.T) {
	t.Parallel()
	versions := func(module string) map[string]string {
		cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
		cmd.Dir = filepath.Join(root, module)
		out, err := cmd.Output()
		require.NoError(t, err)
		var file struct {
			Require []struct{ Path, Version string }
		}
		require.NoError(t, json.Unmarshal(out, &file))
		all := map[string]string{}
		for _, r := range file.Require {
			all[r.Path] = r.Version
		}
		return all
	}
	ours := versions(".")
	shared := 0
	for path, version := range versions(modules[1]) {
		if v, ok := ours[path]; ok {
			shared++
			require.Equal(t, v, version, "%s in %s/go.mod", path, modules[1])
		}
	}
	require.Greater(t, shared, 20)
}

// The main program is one static file: a container image needs nothing else, and `lodestone up`
// runs on any Linux. With cgo, or with purego in its place, it would need the C library.
func TestMainProgramIsStatic(t *testing.T) {
	t.Parallel()
	for _, p := range goList(t, ".", []string{"CGO_ENABLED=1"}, "-deps", "./cmd/lodestone") {
		if !p.Standard && len(p.CgoFiles) > 0 { // the standard library has another way without cgo
			t.Errorf("cmd/lodestone needs %s, which uses cgo", p.ImportPath)
		}
		switch {
		case within(p.ImportPath, "github.com/ebitengine/purego"):
			t.Errorf("cmd/lodestone needs %s, which makes it dynamically linked", p.ImportPath)
		case p.ImportPath == "testing":
			t.Errorf("cmd/lodestone needs package testing")
		}
	}
}
