package install

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/cpu"

	"lodestone/pkg/clickhouse"
)

//go:embed clickhouse/package.json clickhouse/package-lock.json postgres/package.json postgres/package-lock.json kafka/pom.xml
var manifests embed.FS

// ClickHouse says how to run a ClickHouse server: by a binary of the system, or by a library.
type ClickHouse struct {
	Server  string // a clickhouse binary, or ""
	Library string // libchdb, or ""
}

// postgresOldest is the oldest version of the system's server that is accepted.
const postgresOldest = 15

const runServerYourself = "install a clickhouse server binary (version 26.10 or newer) so that it is on the PATH, or run one elsewhere and give --clickhouse-url"

// ClickHouse returns the system's server if it is new enough, else the library, installed if
// necessary.
func (i *Installer) ClickHouse(ctx context.Context) (ClickHouse, error) {
	if !i.PackagedOnly {
		if path := i.systemClickHouse(ctx); path != "" {
			return ClickHouse{Server: path}, nil
		}
	}
	name, ok := map[string]string{
		"linux/amd64":  "@chdb/lib-linux-x64-gnu",
		"linux/arm64":  "@chdb/lib-linux-arm64-gnu",
		"darwin/amd64": "@chdb/lib-darwin-x64",
		"darwin/arm64": "@chdb/lib-darwin-arm64",
	}[runtime.GOOS+"/"+runtime.GOARCH]
	b, err := npmBundle("clickhouse")
	if err != nil {
		return ClickHouse{}, err
	}
	if !ok || !locked(b.files["package-lock.json"], name) {
		return ClickHouse{}, noClickHouse(runtime.GOOS, runtime.GOARCH)
	}
	if runtime.GOARCH == "amd64" && !cpu.X86.HasAVX2 {
		return ClickHouse{},
			fmt.Errorf("%w: ClickHouse's package needs a processor with AVX2, which this one lacks (virtual machines often hide it: choose the host's own CPU model): %s", ErrUnsupported, runServerYourself)
	}
	b.size = 900 << 20
	b.progress = "downloading ClickHouse (178 MB, 570 MB unpacked; once)"
	b.fetch = npmCI
	b.patch = confined
	dir, err := i.ensure(ctx, b)
	if err != nil {
		return ClickHouse{}, err
	}
	for _, file := range libraryNames {
		library := filepath.Join(dir, "node_modules", filepath.FromSlash(name), file)
		if _, err := os.Stat(library); err == nil {
			return ClickHouse{Library: library}, nil
		}
	}
	return ClickHouse{}, fmt.Errorf("%w: npm left %s out, as on a Linux with another C library than glibc: %s",
		ErrUnsupported, name, runServerYourself)
}

// noClickHouse is the error of a machine for which npm has no package that we could lock. Postgres
// and Kafka are there on all of them.
func noClickHouse(system, processor string) error {
	return fmt.Errorf("%w: npm has no ClickHouse for %s/%s, only PostgreSQL: %s", ErrUnsupported, system,
		processor, runServerYourself)
}

// npmBundle reads the manifest of a folder beside this file.
func npmBundle(folder string) (bundle, error) {
	b := bundle{name: folder, files: map[string][]byte{}}
	for _, file := range []string{"package.json", "package-lock.json"} {
		text, err := manifests.ReadFile(folder + "/" + file)
		if err != nil {
			return bundle{}, fmt.Errorf("read the manifest of %s: %w", folder, err)
		}
		b.files[file] = text
	}
	return b, nil
}

// locked reports whether a lock file contains the hash of a package: without it, the download could
// not be verified.
func locked(lock []byte, name string) bool {
	var l struct {
		Packages map[string]struct{ Integrity string }
	}
	return json.Unmarshal(lock, &l) == nil && l.Packages["node_modules/"+name].Integrity != ""
}

var versionNumber = regexp.MustCompile(`(\d+)\.\d+`)

// systemClickHouse returns the system's server if it restricts read-only users to reading.
func (i *Installer) systemClickHouse(ctx context.Context) string {
	path, err := exec.LookPath("clickhouse")
	if err != nil {
		return ""
	}
	output, err := exec.CommandContext(ctx, path, "server", "--version").Output()
	if err != nil || !clickhouse.Confines(string(output)) {
		i.Log.Info("the system's clickhouse is not used: it does not confine read-only users, or prints no version", "file",
			path, "output", strings.TrimSpace(string(output)), "error", err)
		return ""
	}
	return path
}

// version runs a program that prints its version and returns the first number of it.
func version(ctx context.Context, program string, args ...string) (int, error) {
	out, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return 0, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	m := versionNumber.FindSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("%s prints no version", program)
	}
	return strconv.Atoi(string(m[1]))
}
