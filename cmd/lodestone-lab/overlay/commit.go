package overlay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Checkout puts the sources of a commit into a new directory, as a work tree of the product's repository, and removes them after fn.
func Checkout(ctx context.Context, tree, commit string, fn func() error) (err error) {
	root, err := Root(ctx)
	if err != nil {
		return err
	}
	worktree := func(ctx context.Context, args ...string) error {
		out, err := exec.CommandContext(ctx, "git", append([]string{"-C", root, "worktree"}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("git worktree %s of %s: %w: %s", args[0], commit, err, out)
		}
		return nil
	}
	if err := worktree(ctx, "add", "--detach", "--force", tree, commit); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, worktree(context.WithoutCancel(ctx), "remove", "--force", tree)) }()
	return fn()
}

// Build compiles a program as releases do, from a package of the module in a directory.
func Build(ctx context.Context, dir, program, source string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, source)
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

// BuildCommit compiles Lodestone as it was at a commit, in a work tree below a directory for as long as that takes. Its pages are those of this checkout:
// the laboratory is about what processes store and exchange.
func BuildCommit(ctx context.Context, dir, commit, program string) error {
	root, err := Root(ctx)
	if err != nil {
		return err
	}
	tree := filepath.Join(dir, "tree")
	return Checkout(ctx, tree, commit, func() error {
		for _, front := range []string{"crud/viewer", "crud/embed", "crud/dashboard/island", "ingest/beacon"} {
			dist := filepath.Join(tree, front, "dist")
			if err := errors.Join(os.RemoveAll(dist), os.CopyFS(dist, os.DirFS(filepath.Join(root, front, "dist")))); err != nil {
				return fmt.Errorf("copy the pages: %w", err)
			}
		}
		return Build(ctx, tree, program, "./cmd/lodestone")
	})
}
