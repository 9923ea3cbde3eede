package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// AssetPath begins the paths of assets.
const AssetPath = "/assets/"

// Assets are files that pages load. The path of each holds a hash of its content, so browsers keep it
// for good; a body that shrinks is compressed once, when it is added.
type Assets struct {
	prefix string // of the site
	files  map[string]*asset
}

type asset struct {
	contentType string
	plain, gzip []byte // gzip is nil where it saves nothing
}

func newAssets(prefix string) *Assets { return &Assets{prefix, map[string]*asset{}} }

// Assets returns the assets of the site. Add to them before the first request.
func (s *Site) Assets() *Assets { return s.assets }

// contentTypes are those that matter; the table of the operating system has its own mind.
var contentTypes = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".svg": "image/svg+xml", ".woff2": "font/woff2", ".wasm": "application/wasm", ".json": "application/json",
	".png": "image/png", ".webp": "image/webp", ".jpg": "image/jpeg", ".bcmap": "application/octet-stream",
	".pfb": "application/octet-stream", ".ttf": "font/ttf", ".icc": "application/octet-stream", ".map": "application/json",
}

// Add adds a file and returns its path on the site: viewer.js becomes /assets/viewer.1f2e3d4c5b6a.js.
func (a *Assets) Add(files fs.FS, name string) (string, error) {
	body, err := fs.ReadFile(files, name)
	if err != nil {
		return "", fmt.Errorf("read asset %s: %w", name, err)
	}
	sum := sha256.Sum256(body)
	extension := path.Ext(name)
	hashed := strings.TrimSuffix(path.Base(name), extension) + "." + hex.EncodeToString(sum[:6]) + extension
	return a.add(hashed, body)
}

// AddTree adds all files below a directory under one prefix, keeping their names, for programs that put
// their paths together themselves; the prefix holds a hash of all of them. It returns the path of the
// directory, with a slash at the end.
func (a *Assets) AddTree(files fs.FS, root string) (string, error) {
	hash := sha256.New()
	bodies := map[string][]byte{}
	err := fs.WalkDir(files, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		body, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		bodies[strings.TrimPrefix(name, root+"/")] = body
		fmt.Fprintf(hash, "%s\x00%d\x00%s", name, len(body), body)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read assets of %s: %w", root, err)
	}
	prefix := path.Base(root) + "." + hex.EncodeToString(hash.Sum(nil)[:6]) + "/"
	for name, body := range bodies {
		if _, err := a.add(prefix+name, body); err != nil {
			return "", err
		}
	}
	return a.prefix + AssetPath + prefix, nil
}

func (a *Assets) add(name string, body []byte) (string, error) {
	kind := contentTypes[path.Ext(name)]
	if kind == "" {
		kind = mime.TypeByExtension(path.Ext(name))
	}
	if kind == "" {
		kind = "application/octet-stream"
	}
	f := &asset{contentType: kind, plain: body}
	var packed bytes.Buffer
	packer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = packer.Write(body)
	}
	if err == nil {
		err = packer.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress asset %s: %w", name, err)
	}
	if packed.Len() < len(body)*9/10 {
		f.gzip = packed.Bytes()
	}
	a.files[name] = f
	return a.prefix + AssetPath + name, nil
}

// ServeHTTP implements http.Handler for paths below AssetPath.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := a.files[strings.TrimPrefix(r.URL.Path, AssetPath)]
	h := w.Header()
	if f == nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "There is no such file.", http.StatusNotFound)
		return
	}
	body := f.plain
	if f.gzip != nil {
		h.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header) {
			body = f.gzip
			h.Set("Content-Encoding", "gzip")
		}
	}
	h.Set("Content-Type", f.contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	if f.contentType == contentTypes[".svg"] {
		// As a document of its own it may do nothing. Scripts get no policy: a worker would take it on.
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a reader that left needs no answer
	}
}

// acceptsGzip reports whether the client takes gzip. One that says so in an unusual way gets the plain
// body.
func acceptsGzip(h http.Header) bool {
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept-Encoding"), ","), ",") {
		coding, quality, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(coding, "gzip") {
			return quality == "" || strings.HasPrefix(quality, "q=1") || strings.Trim(quality, "q=0.") != ""
		}
	}
	return false
}
