package overlay

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Release is a release before this one, or a commit that stands for one.
type Release struct {
	Revision string // a tag or a commit
	Migrates bool   // this checkout has migrations that it lacks
}

// firstSchema stands for a release as long as there is no tag: the commit of the first migrations, which a database of an older one does not
// lead to.
const firstSchema = "ebab41e5c68a9132944f33fe045048b77af55c39"

// The folders of migrations, from the root.
var migrations = []string{"pkg/postgres/migrations", "pkg/clickhouse/migrations"}

// errIncomplete says that this clone lacks what an upgrade starts from.
var errIncomplete = errors.New("this clone is not complete")

// Named returns the release of a tag or a commit.
func Named(ctx context.Context, revision string) (Release, error) {
	root, err := Root(ctx)
	if err != nil {
		return Release{}, err
	}
	return named(ctx, root, revision)
}

// Releases returns the releases to upgrade from: the newest one, and if it has all migrations of this checkout, one that has fewer, if there is one.
func Releases(ctx context.Context) ([]Release, error) {
	root, err := Root(ctx)
	if err != nil {
		return nil, err
	}
	return releases(ctx, root)
}

func releases(ctx context.Context, dir string) ([]Release, error) {
	tags, err := tags(ctx, dir)
	if err != nil {
		return nil, err
	}
	first, err := named(ctx, dir, tags[0])
	if err != nil || first.Migrates {
		return []Release{first}, err
	}
	for _, revision := range tags[1:] {
		if r, err := named(ctx, dir, revision); err != nil || r.Migrates {
			return []Release{first, r}, err
		}
	}
	return []Release{first}, nil
}

// tags returns the tags of releases below this commit, the newest first, or firstSchema. There is at least one.
func tags(ctx context.Context, dir string) ([]string, error) {
	tags, err := gitIn(ctx, dir, "-c", "versionsort.suffix=-", "tag", "--list", "v[0-9]*", "--merged", "HEAD", "--no-contains", "HEAD", "--sort=-version:refname")
	if err != nil {
		return nil, fmt.Errorf("list the tags of releases: %w", err)
	}
	if tags == "" {
		if _, err := gitIn(ctx, dir, "merge-base", "--is-ancestor", firstSchema, "HEAD"); err == nil {
			return []string{firstSchema}, nil
		}
		return nil, incomplete(ctx, dir, "the tag of a release below this commit")
	}
	return strings.Fields(tags), nil
}

func named(ctx context.Context, dir, revision string) (Release, error) {
	if _, err := gitIn(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}"); err != nil {
		return Release{}, incomplete(ctx, dir, revision)
	}
	listed, err := gitIn(ctx, dir, append([]string{"ls-tree", "-r", "--name-only", revision, "--"}, migrations...)...)
	if err != nil {
		return Release{}, fmt.Errorf("list the migrations of %s: %w", revision, err)
	}
	r, had := Release{Revision: revision}, strings.Fields(listed)
	for _, folder := range migrations {
		has, err := filepath.Glob(filepath.Join(dir, folder, "*.sql"))
		if err != nil {
			return Release{}, err
		}
		r.Migrates = r.Migrates || slices.ContainsFunc(has, func(file string) bool {
			return !slices.Contains(had, folder+"/"+filepath.Base(file))
		})
	}
	return r, nil
}

// incomplete names what a clone lacks, and the command that fetches it.
func incomplete(ctx context.Context, dir, lacks string) error {
	command := "git fetch --tags"
	if shallow, _ := gitIn(ctx, dir, "rev-parse", "--is-shallow-repository"); shallow == "true" {
		command = "git fetch --unshallow --tags"
	}
	return fmt.Errorf("%w: it lacks %s; run `%s`", errIncomplete, lacks, command)
}

func gitIn(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}
