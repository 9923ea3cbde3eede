package asset

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/go-json-experiment/json"
)

// LoadBuild reads the manifest.json of a build into manifest, and its files. A program that was
// built without the front-end has no manifest: then manifest stays as it is, and there are no
// files.
func LoadBuild(dir fs.FS, manifest any) (Files, error) {
	data, err := fs.ReadFile(dir, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return Files{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the manifest of a front-end: %w", err)
	}
	if err := json.Unmarshal(data, manifest); err != nil {
		return nil, fmt.Errorf("parse the manifest of a front-end: %w", err)
	}
	return Load(dir)
}

// ServeVersion answers with a file that stands below a version of the build. Browsers keep the file
// of the current version for good. Another version is that of a page of another release, which must
// do with this file and does not keep it.
func (f Files) ServeVersion(w http.ResponseWriter, r *http.Request, name string, current bool) {
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	file := f[name]
	if file == nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !current {
		h.Set("Cache-Control", "no-store")
	}
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	file.Serve(w, r)
}
