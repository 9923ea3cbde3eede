package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// release is what is built, and from what.
type release struct {
	Version   string
	Commit    string
	Date      time.Time
	Source    string // the checkout
	Out       string
	Site      string // directory of the site of the documentation
	Platforms []platform

	work     string // directory of intermediate files
	programs map[platform]string
}

type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "-" + p.processor }

// programs are built for each platform. The second runs ClickHouse's library for `lodestone up`,
// which finds it beside the first.
var programNames = []string{"lodestone", "lodestone-clickhouse"}

// fronts are the front-ends that the programs embed.
var fronts = []string{"crud/viewer", "crud/embed", "crud/dashboard/island", "ingest/beacon"}

// build writes everything but the signatures.
func (r *release) build(ctx context.Context) (err error) {
	for _, front := range fronts {
		if _, err := os.Stat(filepath.Join(r.Source, front, "dist", "manifest.json")); err != nil {
			return fmt.Errorf("%s is not built, run `make web`: %w", front, err)
		}
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil { //nolint:gosec // it is for everyone
		return err
	}
	if old, err := os.ReadDir(r.Out); err != nil || len(old) > 0 {
		return fmt.Errorf("%s is not an empty directory, and its files would be signed (%w)", r.Out, err)
	}
	if r.work, err = os.MkdirTemp("", "lodestone-release-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.work) }()
	r.programs = map[platform]string{}
	for _, p := range r.Platforms {
		if r.programs[p], err = r.compile(ctx, p, programNames...); err != nil {
			return err
		}
	}
	shared, err := r.sharedFiles(ctx)
	if err != nil {
		return err
	}
	var linux []platform
	for _, p := range r.Platforms {
		bom, err := r.bom(p)
		if err != nil {
			return err
		}
		files := append(r.platformFiles(p, bom), shared...)
		if err := r.archive(p, files); err != nil {
			return err
		}
		if p.system != "linux" {
			continue
		}
		linux = append(linux, p)
		for _, format := range []string{"deb", "rpm"} {
			if err := r.pack(format, p, files); err != nil {
				return fmt.Errorf("make the %s: %w", format, err)
			}
		}
	}
	if len(linux) > 0 {
		if err := r.image(linux); err != nil {
			return fmt.Errorf("make the image: %w", err)
		}
	}
	if err := r.documentation(); err != nil {
		return fmt.Errorf("make the archive of the documentation: %w", err)
	}
	return writeChecksums(r.Out, r.checksums())
}

func (r *release) checksums() string { return "lodestone-" + r.Version + "-sha256.txt" }

// compile builds programs for a platform, without the paths and the state of this checkout, and
// returns their directory.
func (r *release) compile(ctx context.Context, p platform, names ...string) (string, error) {
	dir := filepath.Join(r.work, p.String())
	const build = "lodestone/pkg/build"
	flags := fmt.Sprintf("-s -w -buildid= -X %[1]s.version=%[2]s -X %[1]s.commit=%[3]s -X %[1]s.date=%[4]s", build, r.Version, r.Commit, r.Date.Format(time.RFC3339))
	for _, name := range names {
		fmt.Fprintln(os.Stderr, "building", name, "for", p)
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", flags, "-o", filepath.Join(dir, name), "./cmd/"+name)
		cmd.Dir = r.Source
		// What someone set on this machine must not show in the programs.
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.system, "GOARCH="+p.processor, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=-mod=readonly", "GOEXPERIMENT=")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("build %s for %s: %w: %s", name, p, err, out)
		}
	}
	return dir, nil
}

// entry is a file of an archive and of a package.
type entry struct {
	path     string // below the prefix: "bin/lodestone"
	absolute bool   // the path is one of the root instead: "etc/lodestone/collector.env"
	source   string // the file
	mode     os.FileMode
	config   bool // the owner of the machine edits it
}

// sharedFiles are those of all platforms: manuals, completions and documents.
func (r *release) sharedFiles(ctx context.Context) (files []entry, err error) {
	here := platform{runtime.GOOS, runtime.GOARCH}
	dir := r.programs[here]
	if dir == "" {
		if dir, err = r.compile(ctx, here, programNames[0]); err != nil {
			return nil, err
		}
	}
	program := filepath.Join(dir, programNames[0])
	manuals := filepath.Join(r.work, "man")
	if err := os.Mkdir(manuals, 0o700); err != nil {
		return nil, err
	}
	if err := run(ctx, nil, program, "manual", manuals); err != nil {
		return nil, err
	}
	pages, err := filepath.Glob(filepath.Join(manuals, "*.1"))
	if err != nil {
		return nil, err
	}
	for _, page := range pages {
		files = append(files, entry{path: "share/man/man1/" + filepath.Base(page), source: page, mode: 0o644})
	}
	for shell, path := range map[string]string{
		"bash": "share/bash-completion/completions/lodestone",
		"zsh":  "share/zsh/site-functions/_lodestone",
		"fish": "share/fish/vendor_completions.d/lodestone.fish",
	} {
		file := filepath.Join(r.work, "completion."+shell)
		to, err := os.Create(file)
		if err != nil {
			return nil, err
		}
		if err := run(ctx, to, program, "completion", shell); err != nil {
			return nil, err
		}
		if err := to.Close(); err != nil {
			return nil, err
		}
		files = append(files, entry{path: path, source: file, mode: 0o644})
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		files = append(files, entry{path: "share/doc/lodestone/" + name, source: filepath.Join(r.Source, name), mode: 0o644})
	}
	return files, nil
}

func run(ctx context.Context, to *os.File, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if to != nil {
		cmd.Stdout = to
	}
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run %s %s: %w: %s", filepath.Base(program), strings.Join(args, " "), err, complaint.String())
	}
	return nil
}

// platformFiles are the programs, the list of what is in them, and on Linux the units of systemd
// with their settings.
func (r *release) platformFiles(p platform, bom string) (files []entry) {
	for _, name := range programNames {
		files = append(files, entry{path: "bin/" + name, source: filepath.Join(r.programs[p], name), mode: 0o755})
	}
	files = append(files, entry{path: "share/doc/lodestone/sbom.cdx.json", source: bom, mode: 0o644})
	if p.system != "linux" {
		return files
	}
	for _, name := range processes {
		unit := "lodestone-" + name + ".service"
		files = append(files, entry{path: "lib/systemd/system/" + unit, source: filepath.Join(r.Source, "deploy/systemd", unit), mode: 0o644})
	}
	files = append(files, entry{path: "lib/sysusers.d/lodestone.conf", source: filepath.Join(r.Source, "deploy/systemd/sysusers.conf"), mode: 0o644})
	return append(files, entry{path: "etc/lodestone/lodestone.env", absolute: true, source: filepath.Join(r.Source, "deploy/systemd/lodestone.env"), mode: 0o600, config: true})
}

// processes have a unit of systemd each.
var processes = []string{"migrate", "collector", "consumer", "query", "crud"}
