package capture

import (
	"errors"
	"fmt"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/ratelimit"
)

// Config is the setting of the capture of addresses.
type Config struct {
	Forms            int           `name:"capture-forms-per-hour" default:"120" help:"Forms per hour from one address (an IPv6 network of 64 bits counts as one). Visitors in one office share an address."`
	Mails            int           `name:"capture-mails-per-hour" default:"5" help:"Mails per hour that forms may send to one mailbox, and four times as many per day. Protects mailboxes from floods of mail."`
	VerificationTime time.Duration `name:"capture-verification-time" default:"24h" help:"How long the link and the code in a verification mail are valid."`
	RefuseDisposable bool          `name:"capture-refuse-disposable" help:"Refuse addresses of disposable-mailbox services."`
}

const (
	minVerificationTime = 10 * time.Minute
	maxVerificationTime = 7 * 24 * time.Hour
	maxCount            = 1_000_000
)

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Forms < 1 || c.Forms > maxCount {
		errs = append(errs, config.Invalid("--capture-forms-per-hour", "is out of range", fmt.Sprintf("give a number from 1 to %d", maxCount)))
	}
	if c.Mails < 1 || c.Mails > maxCount {
		errs = append(errs, config.Invalid("--capture-mails-per-hour", "is out of range", fmt.Sprintf("give a number from 1 to %d", maxCount)))
	}
	if c.VerificationTime < minVerificationTime || c.VerificationTime > maxVerificationTime {
		errs = append(errs, config.Invalid("--capture-verification-time", "is out of range", fmt.Sprintf("give a time from %v to %v", minVerificationTime, maxVerificationTime)))
	}
	return errors.Join(errs...)
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
