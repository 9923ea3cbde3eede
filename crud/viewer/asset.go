package viewer

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"lodestone/pkg/asset"
)

// assetPath begins the paths of what the page loads.
const assetPath = "/assets/viewer/"

// build is what `make web` built. Without a build all of it is empty.
type build struct {
	Page  string `json:"page"`  // hash of the page's scripts
	PDFJS string `json:"pdfjs"` // version of pdf.js

	files asset.Files
}

func readBuild(files fs.FS) (*build, error) {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		return nil, fmt.Errorf("read the reading page's files: %w", err)
	}
	b := &build{}
	manifest, err := fs.ReadFile(dist, "manifest.json")
	if errors.Is(err, fs.ErrNotExist) {
		return b, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the reading page's files: %w", err)
	}
	if err := json.Unmarshal(manifest, b); err != nil {
		return nil, fmt.Errorf("read the reading page's manifest: %w", err)
	}
	b.files, err = asset.Load(dist)
	return b, err
}

// Done reports whether there is a build.
func (b *build) Done() bool { return b.Page != "" }

// Script returns the path of the page's script below assetPath. Paths begin with what the content
// depends on, so browsers keep it for good.
func (b *build) Script() string { return b.Page + "/viewer.js" }

// Library returns the path of pdf.js, which the script loads.
func (b *build) Library() string { return b.Page + "/pdf.min.js" }

// Assets returns the path of the folder of what pdf.js loads.
func (b *build) Assets() string { return b.PDFJS + "/pdfjs/" }

// workerPolicy is what the code that reads documents may do: load its own parts. A worker has the
// policy of its script.
const workerPolicy = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

// ServeHTTP implements http.Handler for paths below assetPath.
func (b *build) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetPath), "/")
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	h.Set("X-Content-Type-Options", "nosniff")
	file := b.files[name]
	if file == nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if version != b.Page && version != b.PDFJS {
		h.Set("Cache-Control", "no-store") // a page of another release, which must do with this one
	}
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Content-Security-Policy", workerPolicy)
	file.Serve(w, r)
}
