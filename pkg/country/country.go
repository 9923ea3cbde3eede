// Package country finds the country of an address in a file on this machine: an address goes to no
// other.
package country

import (
	"fmt"
	"net/netip"
	"os"
	"sync/atomic"

	"github.com/oschwald/maxminddb-golang/v2"

	"lodestone/pkg/config"
	"lodestone/pkg/event"
)

// Config is the setting of where countries come from.
type Config struct {
	Database string `name:"country-database" placeholder:"FILE" help:"MaxMind DB file that maps addresses to countries, such as GeoLite2-Country.mmdb. The collector looks up the address of each visitor in memory and stores two letters, nothing finer. The file is read when the process starts. Default: countries are not stored."`
}

const setting = "--country-database"

// Validate returns the problem of the setting, if it has one.
func (c Config) Validate() error {
	_, err := c.Open()
	return err
}

// Open returns the database, nil if there is none: it knows no country. Its error names the
// setting.
func (c Config) Open() (*Database, error) {
	if c.Database == "" {
		return nil, nil
	}
	const remedy = "give the path of a MaxMind DB file of countries (.mmdb), or leave the setting out"
	// Into memory: a mapped file that is replaced in its place would end the process.
	content, err := os.ReadFile(c.Database)
	if err != nil {
		return nil, config.Invalid(setting, fmt.Sprintf("cannot be read: %v", err), remedy)
	}
	reader, err := maxminddb.OpenBytes(content)
	if err != nil {
		return nil, config.Invalid(setting, fmt.Sprintf("is %s, which is not a MaxMind DB file: %v", c.Database, err), remedy)
	}
	d := &Database{reader: reader}
	if !d.hasCountries() {
		return nil, config.Invalid(setting, fmt.Sprintf("is %s, a file of type %q, which has no countries", c.Database,
			reader.Metadata.DatabaseType), remedy)
	}
	return d, nil
}

// Database knows countries of addresses. It is safe for concurrent use.
type Database struct {
	reader *maxminddb.Reader
	// recent has the countries of records that were read, by their place in the file: reading one
	// allocates memory. An element is the place, and the two letters in its lowest bytes.
	recent [1 << recentBits]atomic.Uint64
}

// recentBits makes space for a file of countries, which has a few hundred records.
const recentBits = 12

// Country returns the country of an address, zero if it is not known.
func (d *Database) Country(addr netip.Addr) event.Country {
	if d == nil || !addr.IsValid() {
		return event.Country{}
	}
	found := d.reader.Lookup(addr.Unmap())
	if !found.Found() {
		return event.Country{}
	}
	place := uint64(found.Offset()) + 1
	slot := &d.recent[place*0x9e3779b97f4a7c15>>(64-recentBits)]
	if known := slot.Load(); known>>16 == place {
		return event.Country{byte(known >> 8), byte(known)}
	}
	c := read(found)
	slot.Store(place<<16 | uint64(c[0])<<8 | uint64(c[1]))
	return c
}

// paths are where makers of such files put the code of the country: MaxMind and DB-IP, then IPinfo
// in two products.
var paths = [][]any{{"country", "iso_code"}, {"country_code"}, {"country"}}

// read returns the country of a record, zero if it has none.
func read(found maxminddb.Result) event.Country {
	for _, path := range paths {
		var code string
		if err := found.DecodePath(&code, path...); err != nil {
			continue // of another kind
		}
		if c, ok := event.ParseCountry(code); ok {
			return c
		}
	}
	return event.Country{}
}

// probed is how many networks may have no country before the file is taken for one of something
// else.
const probed = 100_000

// hasCountries reports whether the file is about countries.
func (d *Database) hasCountries() bool {
	left := probed
	for network := range d.reader.Networks() {
		if read(network) != (event.Country{}) {
			return true
		}
		if left--; left == 0 {
			break
		}
	}
	return false
}
