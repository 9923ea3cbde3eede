package engine

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// secretsFile holds an engine's passwords, generated for each data directory.
const secretsFile = "passwords.json"

// passwords returns a password for each user, generated on the first call for a directory.
func passwords(dir string, users ...string) (map[string]string, error) {
	path := filepath.Join(dir, secretsFile)
	known := map[string]string{}
	text, err := os.ReadFile(path)
	switch {
	case err == nil:
		if err := json.Unmarshal(text, &known); err != nil {
			return nil, fmt.Errorf("read the passwords in %s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the passwords: %w", err)
	}
	added := false
	for _, user := range users {
		if known[user] == "" {
			known[user], added = rand.Text(), true
		}
	}
	if !added {
		return known, nil
	}
	if text, err = json.Marshal(known); err != nil {
		return nil, err
	}
	if err := writeFile(path, text); err != nil {
		return nil, fmt.Errorf("keep the passwords: %w", explainFile(err))
	}
	return known, nil
}

// writeFile replaces a file atomically and durably, readable only for its owner.
func writeFile(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
