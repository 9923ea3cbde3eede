package viewer

import (
	"net/netip"
	"time"

	"lodestone/pkg/limit"
	"lodestone/pkg/ratelimit"
)

// Config is the setting of the reading pages.
type Config struct {
	Openings int `kong:"-"`
	Sending  int `kong:"-"`
	PerAddr  int `kong:"-"`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.Openings = 120
	c.Sending = 1024
	c.PerAddr = 128
	return nil
}

// sending returns what bounds the files that are sent at a time.
func (c Config) sending() *limit.Slots[netip.Addr] {
	return limit.NewSlots[netip.Addr](int64(c.Sending), int64(c.PerAddr))
}

func (c Config) openings() ratelimit.Rule {
	return ratelimit.Rule{Name: "openings", Quota: c.Openings, Window: time.Hour}
}
