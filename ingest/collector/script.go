package collector

import (
	"embed"
	"errors"
	"io/fs"

	"lodestone/pkg/asset"
)

// beaconFiles has the script that counts views of others' landing pages. Its source is in web;
// `make web` builds it.
//
//go:embed all:dist
var beaconFiles embed.FS

// ErrBeaconNotBuilt is the error of LoadBeacon in a program that was compiled without the script.
var ErrBeaconNotBuilt = errors.New("the beacon script is not built: run `make web`, then build the program again")

// LoadBeacon returns the script, or ErrBeaconNotBuilt.
func LoadBeacon() (*asset.File, error) {
	dist, err := fs.Sub(beaconFiles, "dist")
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
	return nil, ErrBeaconNotBuilt
}
