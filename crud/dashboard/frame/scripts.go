package frame

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"lodestone/pkg/asset"
)

//go:embed all:island/dist
var scriptFiles embed.FS

// scriptsPath begins the paths of the scripts.
const scriptsPath = "/dashboard/scripts/"

// scripts are those of the dashboard, which island/web has in TypeScript: they draw another period,
// filter or order in place, listen to keys, and keep what was typed. Screens are drawn on the
// server and work without them. It is empty in a program that was built without `make web`, and
// safe for concurrent use.
type scripts struct {
	Hash string `json:"hash"` // of all files

	files asset.Files
}

// newScripts reads the build.
func newScripts() (*scripts, error) {
	files, err := fs.Sub(scriptFiles, "island/dist")
	if err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	return readScripts(files)
}

func readScripts(files fs.FS) (*scripts, error) {
	s := &scripts{}
	var err error
	if s.files, err = asset.LoadBuild(files, s); err != nil {
		return nil, fmt.Errorf("read the scripts of the dashboard: %w", err)
	}
	return s, nil
}

// Main returns the path of the script that every screen loads, or "" without a build. It begins
// with the hash of the build, so browsers keep the script for good.
func (s *scripts) Main() string { return s.path("island.js") }

func (s *scripts) path(name string) string {
	if s.Hash == "" {
		return ""
	}
	return scriptsPath + s.Hash + "/" + name
}

// PasskeyScript returns the path of the script of passkeys, which the sign-in page loads as well,
// or "" without a build.
func PasskeyScript() (string, error) {
	s, err := newScripts()
	if err != nil {
		return "", err
	}
	return s.path("passkey.js"), nil
}

// ServeHTTP implements http.Handler for paths below scriptsPath.
func (s *scripts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	hash, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, scriptsPath), "/")
	if !strings.HasSuffix(name, ".js") {
		name = "" // the manifest is not served
	}
	s.files.ServeVersion(w, r, name, hash == s.Hash)
}
