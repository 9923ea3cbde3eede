//go:build ignore

// This program writes disposable/domains.txt from the npm package that disposable/package-lock.json
// pins. Run go generate after raising the version in disposable/package.json and renewing the lock
// (npm install --package-lock-only --omit-lockfile-registry-resolved=true).
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const packageName = "disposable-email-domains-js"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "disposable_gen:", err)
		os.Exit(1)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "disposable")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a leftover in the temporary directory does no harm
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join("disposable", name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund") //nolint:noctx // a person waits for it, and can interrupt it
	npm.Dir, npm.Stdout, npm.Stderr = dir, os.Stdout, os.Stderr
	if err := npm.Run(); err != nil {
		return fmt.Errorf("install %s: %w", packageName, err)
	}
	source := filepath.Join(dir, "node_modules", packageName)
	var about struct{ Version, License string }
	var domains []string
	if err := read(filepath.Join(source, "package.json"), &about); err != nil {
		return err
	}
	if err := read(filepath.Join(source, "dist", "dict", "disposable_email_blocklist.json"), &domains); err != nil {
		return err
	}
	slices.Sort(domains)
	text := fmt.Sprintf("# %s %s, %s. Made by gen; do not edit.\n%s\n", packageName, about.Version, about.License,
		strings.Join(slices.Compact(domains), "\n"))
	return os.WriteFile("disposable/domains.txt", []byte(text), 0o600)
}

func read(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
