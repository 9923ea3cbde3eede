package viewer

import (
	"errors"
	"net/netip"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/slot"
)

// Config is the setting of the reading pages.
type Config struct {
	Openings int `name:"viewer-openings-per-hour" default:"120" help:"How many times per hour one address (an IPv6 network of 64 bits counts as one) may open one access link. Visitors in one office share an address."`
	Sending  int `name:"viewer-files-at-once" default:"1024" help:"Maximum number of documents that one process sends concurrently, each with about 150 KB of memory. Further requests get 503."`
	PerAddr  int `name:"viewer-files-per-address" default:"128" help:"Maximum number of documents sent concurrently to one address. Further requests get 429."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	for _, s := range []struct {
		name  string
		value int
	}{
		{"--viewer-openings-per-hour", c.Openings}, {"--viewer-files-at-once", c.Sending}, {"--viewer-files-per-address", c.PerAddr},
	} {
		if s.value < 1 || s.value > 1_000_000 {
			errs = append(errs, config.Invalid(s.name, "is out of range", "give a number from 1 to 1000000"))
		}
	}
	return errors.Join(errs...)
}

// sending returns what bounds the files that are sent at a time.
func (c Config) sending() *slot.Slots[netip.Addr] {
	return slot.New[netip.Addr](int64(c.Sending), int64(c.PerAddr))
}

func (c Config) openings() ratelimit.Rule {
	return ratelimit.Rule{Name: "openings", Quota: c.Openings, Window: time.Hour}
}
