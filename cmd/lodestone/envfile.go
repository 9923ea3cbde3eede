package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// envFile is the file in the data directory with the addresses and keys of a running `lodestone
// up`.
const envFile = "lodestone.env"

// envLine is one line of it.
type envLine struct{ name, value string }

// writeEnvFile writes the settings so that a shell can source them. Only the owner may read the
// file: it holds passwords and a key.
func writeEnvFile(dir string, settings []envLine) (path string, err error) {
	path = filepath.Join(dir, envFile)
	var b strings.Builder
	b.WriteString("# How to reach what `lodestone up` runs. Written at each start. For a shell: source it; to export it to programs: set -a; source it; set +a.\n")
	for _, s := range settings {
		b.WriteString(s.name + "=" + shellQuote(s.value) + "\n")
	}
	return path, writePrivate(path, b.String())
}

// shellQuote returns a value as a shell takes it back, plainly where that is possible, so that
// simpler readers understand the file as well.
func shellQuote(value string) string {
	if strings.IndexFunc(value, func(r rune) bool { return !strings.ContainsRune(plainCharacters, r) }) < 0 {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
}

const plainCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/@=?%+"

// readEnvFile returns a setting of the file, or "" if there is none.
func readEnvFile(dir, name string) (string, error) {
	f, err := os.Open(filepath.Join(dir, envFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read settings of the last start: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), name+"="); ok {
			return strings.Trim(value, "'"), nil
		}
	}
	return "", nil
}

// writePrivate replaces a file atomically: a crash leaves the old one or the new one.
func writePrivate(path, text string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // created with mode 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that counts is the first one
		}
	}()
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// readOrMake returns the text of a private file, which it makes the first time.
func readOrMake(path string, fresh func() (string, error)) (string, error) {
	text, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(text)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	created, err := fresh()
	if err != nil {
		return "", err
	}
	return created, writePrivate(path, created+"\n")
}
