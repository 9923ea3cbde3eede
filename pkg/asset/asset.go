// Package asset serves the files that the build of a front-end wrote. The build compresses them as
// far as it can; a client gets the smallest form that it takes. It also has what
// all pages share: the typeface, the icon, and what crawlers ask for.
package asset

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
)

// Files are the files of a build by their path within it. They do not change, and are safe for
// concurrent use.
type Files map[string]*File

// File is one file in each content coding that the build wrote.
type File struct {
	// Type is the media type.
	Type string
	// ETag is quoted. It is weak, since the codings of a file share it.
	ETag string

	forms map[string][]byte // by content coding; "" is the file itself
}

// codings are the content codings, the smallest first, with the ending of their files' names.
var codings = []struct{ name, ending string }{{"br", ".br"}, {"gzip", ".gz"}, {"", ""}}

var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".wasm": "application/wasm",
	".ttf": "font/ttf", ".txt": "text/plain; charset=utf-8",
}

// Load reads the files of a build. Of name.br and name.gz it makes one file, called name. Names
// that begin with a dot are left out. A directory without a build gives no files and no error.
func Load(dir fs.FS) (Files, error) {
	files := Files{}
	err := fs.WalkDir(dir, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasPrefix(entry.Name(), ".") {
			return err
		}
		body, err := fs.ReadFile(dir, name)
		if err != nil {
			return err
		}
		for _, c := range codings {
			if plain, found := strings.CutSuffix(name, c.ending); found {
				files.add(plain, c.name, body)
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the files of a front-end: %w", err)
	}
	for name, file := range files {
		if err := file.complete(); err != nil {
			return nil, fmt.Errorf("decompress %s of a front-end: %w", name, err)
		}
	}
	return files, nil
}

func (f Files) add(name, coding string, body []byte) {
	file := f[name]
	if file == nil {
		file = &File{Type: types[path.Ext(name)], forms: map[string][]byte{}}
		if file.Type == "" {
			file.Type = "application/octet-stream"
		}
		f[name] = file
	}
	file.forms[coding] = body
}

// complete adds the plain form of a file that the build wrote only compressed, and the ETag.
func (f *File) complete() error {
	if f.forms[""] == nil {
		r, err := gzip.NewReader(bytes.NewReader(f.forms["gzip"]))
		if err != nil {
			return err
		}
		if f.forms[""], err = io.ReadAll(r); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(f.forms[""])
	f.ETag = `W/"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	return nil
}

// Encode returns the file in the smallest form that a client takes, and the content coding of that
// form, which is "" for the file itself. accepted is the client's Accept-Encoding. The body must
// not be changed.
func (f *File) Encode(accepted string) (body []byte, coding string) {
	for _, c := range codings {
		if body := f.forms[c.name]; body != nil && (c.name == "" || Accepts(accepted, c.name)) {
			return body, c.name
		}
	}
	return nil, ""
}
