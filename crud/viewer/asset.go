package viewer

import (
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"sync"

	"lodestone/pkg/asset"
)

// assetPath begins the paths of what the page loads.
const assetPath = "/assets/viewer/"

// build is the output of `make web`. Without a build all of it is empty.
type build struct {
	Page  string `json:"page"`  // hash of the page's scripts
	PDFJS string `json:"pdfjs"` // version of pdf.js

	files asset.Files
}

// readBuild unpacks the embedded files once for all viewers of a process.
var readBuild = sync.OnceValues(func() (*build, error) {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		return nil, fmt.Errorf("read the reading page's files: %w", err)
	}
	b := &build{}
	if b.files, err = asset.LoadBuild(dist, b); err != nil {
		return nil, fmt.Errorf("read the reading page's files: %w", err)
	}
	return b, nil
})

// Done reports whether there is a build.
func (b *build) Done() bool { return b.Page != "" }

// Script returns the path of the page's script below assetPath. Paths begin with what the content
// depends on, so browsers keep it for good.
func (b *build) Script() string { return b.Page + "/viewer.js" }

// Library returns the path of pdf.js, which the script loads.
func (b *build) Library() string { return b.Page + "/pdf.min.js" }

// Assets returns the path of the folder of what pdf.js loads.
func (b *build) Assets() string { return b.PDFJS + "/pdfjs/" }

// workerPolicy is the content policy of the scripts that read documents: they may load their own
// parts. A worker has the policy of its script.
const workerPolicy = "default-src 'none'; connect-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

// ServeHTTP implements http.Handler for paths below assetPath.
func (b *build) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, assetPath), "/")
	if b.files[name] != nil {
		w.Header().Set("Content-Security-Policy", workerPolicy)
	}
	b.files.ServeVersion(w, r, name, version == b.Page || version == b.PDFJS)
}
