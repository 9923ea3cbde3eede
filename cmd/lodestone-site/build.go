package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// module is the folder of this program's module in the repository.
const module = "cmd/lodestone-site"

// site is a checkout whose documentation is built.
type site struct {
	root    string // of the repository
	version string // that pages show
}

// build writes the site to a directory, which it replaces. The directory stays as it was if anything is wrong; then the error has every broken
// link.
func (s site) build(ctx context.Context, out string) error {
	sections, err := navigation(s.root)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.root, module, "web/node_modules/minisearch")); err != nil {
		return errors.New("the library of the search is not installed: make site")
	}
	work, err := os.MkdirTemp("", "lodestone-site-")
	if err != nil {
		return fmt.Errorf("create a directory to build in: %w", err)
	}
	defer func() { _ = os.RemoveAll(work) }() // what stays is in a directory for such things
	staged, built := filepath.Join(work, "stage"), filepath.Join(work, "site")
	if err := s.stage(staged, sections); err != nil {
		return err
	}
	if err := s.hugo(ctx, work, staged, built); err != nil {
		return err
	}
	read, err := readSite(built, s.root)
	if err != nil {
		return err
	}
	if err := errors.Join(read.check()...); err != nil {
		return err
	}
	if err := read.writeIndex(built, pages(sections)); err != nil {
		return err
	}
	if err := readable(built); err != nil {
		return err
	}
	if err := os.RemoveAll(out); err != nil {
		return fmt.Errorf("remove the site of before: %w", err)
	}
	if err := os.CopyFS(out, os.DirFS(built)); err != nil {
		return fmt.Errorf("write the site: %w", err)
	}
	return nil
}

// hugo runs Hugo, which the compiler builds the first time.
func (s site) hugo(ctx context.Context, work, staged, built string) error {
	cmd := exec.CommandContext(ctx, "go", "tool", "hugo", "build", "--source", staged, "--destination", built, "--cacheDir", filepath.Join(work, "cache"),
		"--printPathWarnings", "--noBuildLock")
	cmd.Dir = filepath.Join(s.root, module)
	cmd.Env = append(os.Environ(), "HUGO_ENVIRONMENT=production", "GOWORK=off")
	var printed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &printed, &printed
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("run Hugo: %w\n%s", err, printed.String())
	}
	if bytes.Contains(printed.Bytes(), []byte("WARN")) {
		return fmt.Errorf("a warning of Hugo:\n%s", printed.String())
	}
	return nil
}

// readable lets everyone read the files, as a web server has to.
func readable(dir string) error {
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.Chmod(name, 0o755) //nolint:gosec // it is published
		}
		return os.Chmod(name, 0o644) //nolint:gosec // it is published
	})
	if err != nil {
		return fmt.Errorf("set rights: %w", err)
	}
	return nil
}
