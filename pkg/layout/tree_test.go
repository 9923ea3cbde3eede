package layout_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// topLevel is all that the repository's top level holds, so that a newcomer sees the parts and
// nothing else. Dotfiles are settings of tools.
var topLevel = []string{
	"cmd", "crud", "deploy", "docs", "ingest", "pkg", "query",
	"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md",
	"docker-compose.yml", "go.mod", "go.sum",
}

// files returns what git tracks, and what it would track, relative to the root.
func files(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	all := strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
	return slices.DeleteFunc(all, func(f string) bool {
		_, err := os.Stat(filepath.Join(root, f))
		return err != nil // deleted, but not committed yet
	})
}

// read returns a file's text, or nothing if the file is gone: other tests run at the same time, and
// git also lists their temporary files.
func read(t *testing.T, f string) (text []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, f))
	if !errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, err)
	}
	return text
}

func TestTopLevel(t *testing.T) {
	t.Parallel()
	for _, f := range files(t) {
		top, _, _ := strings.Cut(f, "/")
		if !strings.HasPrefix(top, ".") && !slices.Contains(topLevel, top) {
			t.Errorf("%s: the top level holds only %s", f, strings.Join(topLevel, ", "))
		}
	}
}

// A path of the machine where a file was written works nowhere else.
func TestNoPathsOfOneMachine(t *testing.T) {
	t.Parallel()
	home := regexp.MustCompile(`(^|[^a-zA-Z0-9.])/(` + strings.Join([]string{"work", "root", "Users", "home/[a-z]+"},
		"|") + `)/`)
	for _, f := range files(t) {
		text := read(t, f)
		if strings.Contains(string(text[:min(len(text), 8000)]), "\x00") {
			continue // not text
		}
		for number, line := range strings.Split(string(text), "\n") {
			if home.MatchString(line) {
				t.Errorf("%s:%d names a path of one machine: %s", f, number+1, strings.TrimSpace(line))
			}
		}
	}
}

// SQL of Postgres is in pkg/store/query, where it is checked against the migrations. What installs
// Postgres or its schema has its own, and so do backups, which copy whatever tables there are, and
// tests.
func TestSQLOfPostgresIsInOnePlace(t *testing.T) {
	t.Parallel()
	statement := regexp.MustCompile(`(tx|Unscoped\(\)|[pP]ool)\.(Exec|Query|QueryRow|SendBatch)\(`)
	for _, f := range files(t) {
		if filepath.Ext(f) != ".go" || strings.HasSuffix(f, "_test.go") ||
			slices.ContainsFunc([]string{"pkg/postgres", "pkg/engine", "pkg/backup", "pkg/test", "cmd/lodestone-lab"},
				func(p string) bool { return within(f, p) }) {
			continue
		}
		for number, line := range strings.Split(string(read(t, f)), "\n") {
			if statement.MatchString(line) {
				t.Errorf("%s:%d: move the statement to pkg/store/query", f, number+1)
			}
		}
	}
}

// A lock file says what a package is, by its hash; where it comes from is the reader's own
// setting: a mirror or a proxy must do as well.
func TestLockFilesNameNoRegistry(t *testing.T) {
	t.Parallel()
	found := 0
	for _, f := range files(t) {
		switch filepath.Base(f) {
		case ".npmrc", ".yarnrc.yml", "pip.conf", "settings.xml":
			t.Errorf("%s would send package clients to a registry of our choice", f)
		case "package-lock.json":
			found++
			text := read(t, f)
			var lock struct {
				Packages map[string]struct{ Resolved, Integrity string }
			}
			require.NoError(t, json.Unmarshal(text, &lock), f)
			for name, p := range lock.Packages {
				require.Empty(t, p.Resolved, "%s: %s names its registry", f, name)
				if name != "" {
					require.NotEmpty(t, p.Integrity, "%s: nothing says what %s must be", f, name)
				}
			}
		}
	}
	require.NotZero(t, found)
}

// licences maps what we accept to words that its text has and no other's of them has.
var licences = map[string]string{
	"Apache-2.0": "Apache License",
	"MIT":        "Permission is hereby granted, free of charge",
	"BSD":        "Redistribution and use in source and binary forms",
	"ISC":        "Permission to use, copy, modify, and/or distribute",
	"ISC (old)":  "Permission to use, copy, modify, and distribute",
	"MPL-2.0":    "Mozilla Public License",
	"Unlicense":  "This is free and unencumbered software released into the public domain",
}

// Whoever builds on Lodestone must be able to under its own licence, Apache-2.0.
func TestLicencesOfDependencies(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	var all []listed
	for _, m := range modules {
		all = append(all, goList(t, m, nil, "-deps", "-test", "./...", "tool")...)
	}
	for _, p := range all {
		if p.Module == nil || within(p.Module.Path, module) || seen[p.Module.Path] {
			continue
		}
		seen[p.Module.Path] = true
		found, err := filepath.Glob(filepath.Join(p.Module.Dir, "*"))
		require.NoError(t, err)
		found = slices.DeleteFunc(found, func(f string) bool {
			name := strings.ToUpper(filepath.Base(f))
			if info, err := os.Stat(f); err == nil && info.IsDir() {
				return true // packages, and licences of pictures and examples, beside the file with the code's
			}
			return !strings.HasPrefix(name, "LICEN") && !strings.HasPrefix(name, "COPYING") && name != "UNLICENSE" ||
				strings.HasSuffix(name, ".DOCS") || strings.HasSuffix(name, ".GO") // of texts that we do not use, and code
		})
		require.NotEmpty(t, found, "%s has no licence", p.Module.Path)
		for _, f := range found {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			words := strings.Join(strings.Fields(string(text)), " ")
			accepted := false
			for _, phrase := range licences {
				accepted = accepted || strings.Contains(words, phrase)
			}
			// GPL texts speak of Apache's in places: their title decides.
			if !accepted || strings.Contains(words[:min(len(words), 300)], "GENERAL PUBLIC LICENSE") {
				t.Errorf("%s: %s is no licence that we accept", p.Module.Path, filepath.Base(f))
			}
		}
	}
	require.Greater(t, len(seen), 20)
}

// anchors returns those of a page's headings, as code hosts and the site make them.
func anchors(text string) map[string]bool {
	heading, code, link := regexp.MustCompile(`(?m)^#+ +(.+)$`), regexp.MustCompile("(?s)```.*?```"),
		regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	dropped := regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(code.ReplaceAllString(text, ""), -1) {
		words := strings.ToLower(strings.TrimSpace(link.ReplaceAllString(m[1], "$1")))
		slug := strings.ReplaceAll(dropped.ReplaceAllString(words, ""), " ", "-")
		for name, n := slug, 1; ; name, n = fmt.Sprintf("%s-%d", slug, n), n+1 {
			if !all[name] {
				all[name] = true
				break
			}
		}
	}
	return all
}

// A link from one page of the documentation leads to a file that is there, and to a heading that it
// has.
func TestLinksBetweenPages(t *testing.T) {
	t.Parallel()
	link := regexp.MustCompile(`\]\(([^)#:]*)(#[^)]*)?\)|(?:src|srcset)="([^":]+)"`)
	headings := map[string]map[string]bool{} // of each page that a link leads into
	found := 0
	for _, f := range files(t) {
		if filepath.Ext(f) != ".md" {
			continue
		}
		text := read(t, f)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			found++
			target := filepath.Join(filepath.Dir(f), m[1]+m[3])
			if m[1]+m[3] == "" {
				target = f
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s links to %s, which is not there", f, m[1]+m[3])
			} else if m[2] != "" && filepath.Ext(target) == ".md" {
				if headings[target] == nil {
					headings[target] = anchors(string(read(t, target)))
				}
				if !headings[target][m[2][1:]] {
					t.Errorf("%s links to %s, and the page has no such heading", f, m[0])
				}
			}
		}
	}
	require.Greater(t, found, 5)
}

// An interactive zsh takes a comment behind a command for arguments.
func TestShellCommandsOfDocumentsHaveNoComments(t *testing.T) {
	t.Parallel()
	block := regexp.MustCompile("(?s)```sh\n(.*?)```")
	comment := regexp.MustCompile(`(?m)(^|\s)# .*$`)
	found := 0
	for _, f := range files(t) {
		if filepath.Ext(f) != ".md" {
			continue
		}
		for _, b := range block.FindAllStringSubmatch(string(read(t, f)), -1) {
			found++
			require.NotRegexp(t, comment, b[1], f)
		}
	}
	require.Greater(t, found, 5)
}
