package viewer

import (
	"time"

	"lodestone/crud/limit"
	"lodestone/pkg/config"
)

// Config is the setting of the reading pages.
type Config struct {
	Openings int `name:"viewer-openings-per-hour" default:"120" help:"Times that one visitor's address (an IPv6 network of 64 bits) may open one access link in an hour. Visitors in one office share an address."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Openings < 1 || c.Openings > 1_000_000 {
		return config.Invalid("--viewer-openings-per-hour", "is out of range", "give a number from 1 to 1000000")
	}
	return nil
}

func (c Config) openings() limit.Rule {
	return limit.Rule{Name: "openings", Quota: c.Openings, Window: time.Hour}
}
