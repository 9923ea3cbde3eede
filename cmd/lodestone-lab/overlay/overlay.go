// Package overlay builds the product with other sources than those in its directory. The compiler
// takes them by its flag -overlay, so that nothing in the product serves the laboratory.
package overlay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Sources are the contents of files that are changed or added, by their paths from the product's
// root.
type Sources map[string][]byte

// With returns the sources of both. A file that both have is taken from more.
func (s Sources) With(more Sources) Sources {
	all := maps.Clone(s)
	maps.Copy(all, more)
	return all
}

// Root returns the directory of the product's module.
func Root(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "lodestone")
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find the module of Lodestone: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Go returns a command of the go tool, such as build or test, that takes these sources. They are
// written into dir.
func (s Sources) Go(ctx context.Context, dir, command string, args ...string) (*exec.Cmd, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	replace := map[string]string{}
	for file, source := range s {
		path := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		replace[filepath.Join(root, file)] = path
		err = errors.Join(err, os.WriteFile(path, source, 0o600))
	}
	text, jsonErr := json.Marshal(map[string]any{"Replace": replace})
	file := filepath.Join(dir, "overlay.json")
	if err := errors.Join(err, jsonErr, os.WriteFile(file, text, 0o600)); err != nil {
		return nil, fmt.Errorf("write the sources to build: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{command, "-overlay", file}, args...)...)
	cmd.Dir = root // the product is built with the versions of its own go.mod
	return cmd, nil
}

// Build compiles a program as releases do, from a package of the module in a directory.
func Build(ctx context.Context, dir, program, source string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags",
		"-s -w", "-o", program, source)
	cmd.Env, cmd.Dir = append(os.Environ(), "CGO_ENABLED=0"), dir
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", filepath.Base(program), err, output)
	}
	return nil
}

// Version returns the tag of this checkout, or its commit, "-dirty" where files are changed.
func Version(ctx context.Context) (string, error) {
	root, err := Root(ctx)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, "git", "-C", root, "describe", "--tags", "--always", "--dirty").Output()
	if err != nil {
		return "", fmt.Errorf("find the version of this checkout: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
