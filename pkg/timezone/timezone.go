// Package timezone has the time zones of the IANA database. They come from a copy of the one that
// Go brings along, so that they are the same on every machine: time.LoadLocation prefers the files
// of the host. The database is in the public domain.
package timezone

import (
	"archive/zip"
	"bytes"
	_ "embed" // for the zones
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

//go:generate sh -c "cp $(go env GOROOT)/lib/time/zoneinfo.zip zoneinfo.zip"

//go:embed zoneinfo.zip
var archive []byte

// ErrUnknown says that the database has no zone of a name.
var ErrUnknown = errors.New("is not a time zone of the IANA database")

// Load returns the zone of a name, such as Europe/Berlin, or ErrUnknown. Capitals matter, and
// neither Local nor names of directories of a host, such as posix/Europe/Berlin, are zones. It is
// safe for concurrent use.
func Load(name string) (*time.Location, error) {
	if name == "UTC" {
		return time.UTC, nil
	}
	known, err := zones()
	if err != nil {
		return nil, err
	}
	file, ok := known[name]
	if !ok {
		return nil, fmt.Errorf("%q %w", name, ErrUnknown)
	}
	data, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read time zone %s: %w", name, err)
	}
	zone, err := time.LoadLocationFromTZData(name, data)
	if err != nil {
		return nil, fmt.Errorf("read time zone %s: %w", name, err)
	}
	return zone, nil
}

// OrUTC returns the zone of a name, or UTC for one that the database does not have. It is safe for
// concurrent use.
func OrUTC(name string) *time.Location {
	zone, err := Load(name)
	if err != nil {
		return time.UTC
	}
	return zone
}

// zones returns the files of all zones, by name.
var zones = sync.OnceValues(func() (map[string]*zip.File, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("read time zones: %w", err)
	}
	byName := make(map[string]*zip.File, len(r.File))
	for _, f := range r.File {
		if !f.FileInfo().IsDir() {
			byName[f.Name] = f
		}
	}
	return byName, nil
})

func read(f *zip.File) (data []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(r)
}
