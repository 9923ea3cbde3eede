//go:build long

package install

import (
	"debug/macho"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The registry has PostgreSQL for macOS, with the programs of its processor where they are looked
// for. Whether they run is not known: there is no such machine here.
func TestPackagesOfPostgresForMacOS(t *testing.T) {
	t.Parallel()
	for processor, as := range map[string]struct {
		npm string
		cpu macho.Cpu
	}{"arm64": {"arm64", macho.CpuArm64}, "amd64": {"x64", macho.CpuAmd64}} {
		b, err := npmBundle("postgres")
		require.NoError(t, err)
		dir := t.TempDir()
		for name, text := range b.files {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
		}
		require.NoError(t, npmCIFor(t.Context(), dir, "--os=darwin", "--cpu="+as.npm))
		name, ok := postgresPackage("darwin", processor)
		require.True(t, ok)
		require.NoError(t, restoreLinks(filepath.Join(dir, "node_modules", filepath.FromSlash(name))))
		for _, program := range []string{"initdb", "postgres"} {
			path := filepath.Join(postgresPrograms(dir, name), program)
			file, err := macho.OpenFat(path) // for both processors
			require.NoError(t, err)
			at := slices.IndexFunc(file.Arches, func(a macho.FatArch) bool { return a.Cpu == as.cpu })
			require.GreaterOrEqual(t, at, 0, path)
			libraries, err := file.Arches[at].ImportedLibraries()
			require.NoError(t, errors.Join(err, file.Close()))
			for _, library := range libraries {
				if inside, ok := strings.CutPrefix(library, "@loader_path/"); ok {
					require.FileExists(t, filepath.Join(filepath.Dir(path), inside), path)
				} else {
					require.Regexp(t, "^/(usr/lib|System/Library)/", library, "%s needs a library that a new Mac lacks", path)
				}
			}
		}
		require.FileExists(t, filepath.Join(postgresPrograms(dir, name), "..", "share",
			"postgresql", "postgresql.conf.sample"))
	}
}
