package webhook

import (
	"errors"
	"net/netip"
	"time"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
)

// Config is the setting of webhooks.
type Config struct {
	AllowNetworks []string      `name:"webhook-allow-networks" placeholder:"NETWORK" help:"Private networks that webhooks may reach, also over http, such as 10.1.0.0/16 or 127.0.0.1, for development and for your own receivers. Default: none; in up, the loopback network while up listens only on loopback addresses."`
	MaxEndpoints  int           `kong:"-"`
	Concurrency   int           `kong:"-"`
	PerEndpoint   int           `kong:"-"`
	Timeout       time.Duration `kong:"-"`
	SessionIdle   time.Duration `name:"session-idle" default:"30m" help:"Time without activity after which a session ends, and webhooks and owners are notified."`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.MaxEndpoints = 40
	c.Concurrency = 128
	c.PerEndpoint = 4
	c.Timeout = 15 * time.Second
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if _, err := c.networks(); err != nil {
		errs = append(errs, err)
	}
	if c.SessionIdle < time.Second || c.SessionIdle > 24*time.Hour {
		errs = append(errs, config.Invalid("--session-idle", "is out of range", "give a time from 1s to 24h"))
	}
	return errors.Join(errs...)
}

// networks returns what AllowNetworks means: the word none, alone, is how to have none in up.
func (c Config) networks() ([]netip.Prefix, error) {
	if len(c.AllowNetworks) == 1 && c.AllowNetworks[0] == "none" {
		return nil, nil
	}
	return clientaddr.Networks("--webhook-allow-networks", c.AllowNetworks)
}

// maxTimeout is shorter than an operation of the API may take, since a test is sent by one.
const maxTimeout = 25 * time.Second
