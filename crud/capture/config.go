package capture

import (
	"fmt"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/ratelimit"
)

// Config is the setting of the capture of addresses.
type Config struct {
	Forms            int           `name:"capture-forms-per-hour" default:"120" help:"Forms per hour from one address (an IPv6 network of 64 bits counts as one). Visitors in one office share an address."`
	Mails            int           `kong:"-"`
	VerificationTime time.Duration `kong:"-"`
	RefuseDisposable bool          `name:"capture-refuse-disposable" help:"Refuse addresses of disposable-mailbox services."`
}

const maxCount = 1_000_000

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.Mails = 5
	c.VerificationTime = 24 * time.Hour
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Forms < 1 || c.Forms > maxCount {
		return config.Invalid("--capture-forms-per-hour", "is out of range",
			fmt.Sprintf("give a number from 1 to %d", maxCount))
	}
	return nil
}

func (c Config) forms() ratelimit.Rule {
	return ratelimit.Rule{Name: "forms", Quota: c.Forms, Window: time.Hour}
}

func (c Config) mails() []ratelimit.Rule {
	return []ratelimit.Rule{
		{Name: "mails-hour", Quota: c.Mails, Window: time.Hour},
		{Name: "mails-day", Quota: 4 * c.Mails, Window: 24 * time.Hour},
	}
}
