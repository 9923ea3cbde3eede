// Package island serves the scripts of the dashboard, which web has in TypeScript. Screens are
// drawn on the server and work without them: scripts draw another period, filter or order in place,
// listen to keys, and keep what was typed.
package island

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"lodestone/pkg/asset"
)

//go:embed all:dist
var dist embed.FS

// Path begins the paths of the scripts.
const Path = "/dashboard/scripts/"

// Scripts is what `make web` built; empty in a program that was built without it. It is safe for
// concurrent use.
type Scripts struct {
	Hash string `json:"hash"` // of all files

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
	s := &Scripts{}
	var err error
	if s.files, err = asset.LoadBuild(files, s); err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	return s, nil
}

// Main returns the path of the script that every screen loads, or "" without a build. It begins
// with the hash of the build, so browsers keep the script for good.
func (s *Scripts) Main() string {
	if s.Hash == "" {
		return ""
	}
	return Path + s.Hash + "/island.js"
}

// ServeHTTP implements http.Handler for paths below Path.
func (s *Scripts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, Path), "/")
	if !strings.HasSuffix(name, ".js") {
		name = "" // the manifest is not served
	}
	s.files.ServeVersion(w, r, name, hash == s.Hash)
}
