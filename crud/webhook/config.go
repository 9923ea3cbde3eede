package webhook

import (
	"errors"
	"net/netip"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/dialguard"
)

// Config is the setting of webhooks.
type Config struct {
	AllowNetworks []string      `name:"webhook-allow-networks" placeholder:"NETWORK" help:"Private networks that webhooks may reach, also over http, such as 10.1.0.0/16 or 127.0.0.1, for development and for your own receivers. Default: none; in up, the loopback network while all its own addresses are on it."`
	MaxEndpoints  int           `name:"webhook-max-endpoints" default:"20" help:"Maximum number of webhooks of an account."`
	Concurrency   int           `name:"webhook-concurrency" default:"128" help:"Maximum number of messages that one process sends concurrently."`
	PerEndpoint   int           `name:"webhook-endpoint-concurrency" default:"4" help:"Maximum number of messages that all processes together send concurrently to one webhook."`
	Timeout       time.Duration `name:"webhook-timeout" default:"15s" help:"Maximum time for a webhook to answer."`
	DisableAfter  time.Duration `name:"webhook-disable-after" default:"120h" help:"Time without a success after which a failing webhook is disabled."`
	SessionIdle   time.Duration `name:"session-idle" default:"30m" help:"Time without activity after which a session ends, and webhooks and owners are notified."`
	Keep          time.Duration `name:"webhook-keep" default:"720h" help:"How long the log of messages is kept."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if _, err := c.networks(); err != nil {
		errs = append(errs, config.Invalid("--webhook-allow-networks", "cannot be read: "+err.Error(), "give networks such as 10.1.0.0/16, or addresses, or none"))
	}
	number := func(setting string, value, lowest, highest int, remedy string) {
		if value < lowest || value > highest {
			errs = append(errs, config.Invalid(setting, "is out of range", remedy))
		}
	}
	number("--webhook-max-endpoints", c.MaxEndpoints, 1, 1000, "give a number from 1 to 1000")
	number("--webhook-concurrency", c.Concurrency, 1, 10_000, "give a number from 1 to 10000")
	number("--webhook-endpoint-concurrency", c.PerEndpoint, 1, 1000, "give a number from 1 to 1000")
	period := func(setting string, value, lowest, highest time.Duration, remedy string) {
		if value < lowest || value > highest {
			errs = append(errs, config.Invalid(setting, "is out of range", remedy))
		}
	}
	period("--webhook-timeout", c.Timeout, 100*time.Millisecond, maxTimeout, "give a time from 100ms to 25s")
	period("--webhook-disable-after", c.DisableAfter, time.Minute, 8760*time.Hour, "give a time from 1m to 8760h")
	period("--session-idle", c.SessionIdle, time.Second, 24*time.Hour, "give a time from 1s to 24h")
	period("--webhook-keep", c.Keep, time.Hour, 8760*time.Hour, "give a time from 1h to 8760h")
	return errors.Join(errs...)
}

// networks returns what AllowNetworks means: the word none, alone, is how to have none in up.
func (c Config) networks() ([]netip.Prefix, error) {
	if len(c.AllowNetworks) == 1 && c.AllowNetworks[0] == "none" {
		return nil, nil
	}
	return dialguard.ParseNetworks(c.AllowNetworks)
}

// maxTimeout is shorter than an operation of the API may take, since a test is sent by one.
const maxTimeout = 25 * time.Second
