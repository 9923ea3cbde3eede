// Package beacon is the script that counts views of others' landing pages. Its source is in web;
// `make web` builds it.
package beacon

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
)

//go:embed all:dist
var dist embed.FS

// ErrNotBuilt is the error of Load in a program that was compiled without the script.
var ErrNotBuilt = errors.New("the beacon script is not built: run `make web`, then build the program again")

// Script is the script as it is served. It is not changed after Load.
type Script struct {
	Plain   []byte
	Gzipped []byte
	ETag    string // of both, quoted
}

// Load returns the script, or ErrNotBuilt.
func Load() (*Script, error) {
	plain, err := dist.ReadFile("dist/beacon.js")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("read beacon script: %w", err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("compress beacon script: %w", err)
	}
	if _, err := w.Write(plain); err != nil {
		return nil, fmt.Errorf("compress beacon script: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress beacon script: %w", err)
	}
	sum := sha256.Sum256(plain)
	// Weak, since the two forms differ in their bytes.
	return &Script{Plain: plain, Gzipped: packed.Bytes(), ETag: `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`}, nil
}
