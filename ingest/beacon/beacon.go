// Package beacon is the script that counts views of others' landing pages. Its source is in web;
// `make web` builds it.
package beacon

import (
	"embed"
	"errors"
	"io/fs"

	"lodestone/pkg/asset"
)

//go:embed all:dist
var files embed.FS

// ErrNotBuilt is the error of Load in a program that was compiled without the script.
var ErrNotBuilt = errors.New("the beacon script is not built: run `make web`, then build the program again")

// Load returns the script, or ErrNotBuilt.
func Load() (*asset.File, error) {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		return nil, err
	}
	built, err := asset.Load(dist)
	if err != nil {
		return nil, err
	}
	if script := built["beacon.js"]; script != nil {
		return script, nil
	}
	return nil, ErrNotBuilt
}
