// Package island serves the scripts of the dashboard, which web has in TypeScript. Screens are drawn on the server and work without them:
// scripts draw another period, filter or order in place, listen to keys, and keep what was typed.
package island

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"lodestone/pkg/asset"
)

//go:embed all:dist
var dist embed.FS

// Path begins the paths of the scripts.
const Path = "/dashboard/scripts/"

// Scripts is what `make web` built; empty in a program that was built without it. It is safe for concurrent use.
type Scripts struct {
	hash  string // of all files
	files asset.Files
}

// New reads the build.
func New() (*Scripts, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	return read(files)
}

func read(files fs.FS) (*Scripts, error) {
	manifest, err := fs.ReadFile(files, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return &Scripts{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	var built struct {
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal(manifest, &built); err != nil {
		return nil, fmt.Errorf("read the manifest of the dashboard's scripts: %w", err)
	}
	s := &Scripts{hash: built.Hash}
	if s.files, err = asset.Load(files); err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	return s, nil
}

// Main returns the path of the script that every screen loads, or "" without a build. It begins with the hash of the build, so browsers
// keep the script for good.
func (s *Scripts) Main() string {
	if s.hash == "" {
		return ""
	}
	return Path + s.hash + "/island.js"
}

// ServeHTTP implements http.Handler for paths below Path.
func (s *Scripts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	file := s.files[name]
	if file == nil || !strings.HasSuffix(name, ".js") {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if hash != s.hash {
		h.Set("Cache-Control", "no-store") // a page of another release, which must do with this one
	}
	file.Serve(w, r)
}
