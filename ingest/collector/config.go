package collector

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"lodestone/pkg/certificate"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
)

// Limits of the contract. They are no settings: a client may rely on them.
const (
	MaxElements  = 500     // events in one request
	MaxBodyBytes = 1 << 20 // of a body, also after it is unpacked
)

// Config is the setting of the collector.
type Config struct {
	Listen string `name:"collector-listen" default:"127.0.0.1:8081" help:"Address to listen on for events."`
	// PublicURL is the address at which browsers reach the collector; "": not known.
	PublicURL       string             `kong:"-"`
	TLS             certificate.Server `embed:"" prefix:"collector-"`
	AckTimeout      time.Duration      `name:"collector-ack-timeout" default:"5s" help:"How long a request waits for its events to become durable before it gets 503."`
	ReadTimeout     time.Duration      `kong:"-"`
	WriteTimeout    time.Duration      `name:"collector-write-timeout" default:"10s" help:"Maximum time for a client to receive an answer."`
	IdleTimeout     time.Duration      `kong:"-"`
	MaxBodyBytes    int                `name:"collector-max-body-bytes" default:"1048576" help:"Maximum size of a body, before and after decompression; at most 1 MiB."`
	MaxHeaderBytes  int                `kong:"-"`
	MaxConnections  int                `name:"collector-max-connections" default:"65536" help:"Maximum number of open connections; clients beyond it wait until one ends."`
	MaxRequests     int                `kong:"-"` // concurrent ones, which spend most of their time waiting for Kafka
	MaxInFlight     int64              `kong:"-"`
	ViewLimit       int                `name:"collector-link-views-per-minute" default:"300" help:"Views of one link per minute from one address, through /v1/link-views and /v1/pixel.gif together. All landing pages together allow ten times as many. 0 means no limit. Programs on the same machine have no limit."`
	TrustedProxies  []string           `name:"collector-trusted-proxies" placeholder:"CIDR" help:"Addresses or networks of proxies that may state the client's address."`
	ForwardedHeader string             `name:"collector-forwarded-header" default:"x-forwarded-for" enum:"x-forwarded-for,forwarded" help:"Header that the trusted proxies set: x-forwarded-for or forwarded. The other header is ignored, because a proxy may pass on a value that the client set."`
	PrivacySignals  string             `name:"collector-privacy-signals" default:"honour" enum:"honour,ignore" help:"Effect of a Sec-GPC or DNT header: honour stores the event without user agent, language and country, and without the hash of the address; ignore has no effect."`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.IdleTimeout = time.Minute
	c.ReadTimeout = 10 * time.Second
	c.MaxHeaderBytes = 16 << 10
	c.MaxRequests = 4096
	c.MaxInFlight = 64 << 20
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	bad := func(setting, wrong, remedy string) {
		errs = append(errs, config.Invalid(setting, wrong, remedy))
	}
	if _, _, err := net.SplitHostPort(c.Listen); err != nil {
		bad("--collector-listen", "is not an address", "write host:port, such as 127.0.0.1:8081")
	}
	for _, t := range []struct {
		setting  string
		value    time.Duration
		min, max time.Duration
	}{
		{"--collector-ack-timeout", c.AckTimeout, 100 * time.Millisecond, time.Minute},
		{"--collector-write-timeout", c.WriteTimeout, 100 * time.Millisecond, 5 * time.Minute},
	} {
		if t.value < t.min || t.value > t.max {
			bad(t.setting, "is out of range", fmt.Sprintf("give a time from %v to %v", t.min, t.max))
		}
	}
	if c.AckTimeout >= c.WriteTimeout {
		bad("--collector-ack-timeout", "is not below --collector-write-timeout",
			"clients and proxies take the latter as the longest wait: give it more time than the former")
	}
	for _, n := range []struct {
		setting  string
		value    int
		min, max int
	}{
		{"--collector-max-body-bytes", c.MaxBodyBytes, 1024, MaxBodyBytes},
		{"--collector-max-connections", c.MaxConnections, 1, 1 << 24},
		{"--collector-link-views-per-minute", c.ViewLimit, 0, 1 << 24},
	} {
		if n.value < n.min || n.value > n.max {
			bad(n.setting, "is out of range", fmt.Sprintf("give a number from %d to %d", n.min, n.max))
		}
	}
	if _, err := c.proxies(); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, c.TLS.Validate("collector-"))
	if c.ForwardedHeader != headerXForwardedFor && c.ForwardedHeader != headerForwarded {
		bad("--collector-forwarded-header", "is unknown", "give x-forwarded-for or forwarded")
	}
	if c.PrivacySignals != "honour" && c.PrivacySignals != "ignore" {
		bad("--collector-privacy-signals", "is unknown", "give honour or ignore")
	}
	return errors.Join(errs...)
}

// slack is by how much a timeout of a connection may be longer than its setting.
func (c Config) slack() time.Duration {
	return min(c.ReadTimeout, c.WriteTimeout, c.IdleTimeout, 4*time.Second) / 8
}

// reservedFiles is how many files everything but the clients may have open: Kafka, Postgres, the
// spool, and in a process with engines their files.
const reservedFiles = 512

// connectionsWithin returns how many connections can be accepted in a process that may open so many
// files: at most the setting.
func (c Config) connectionsWithin(files uint64) (int, error) {
	const fewest = 64
	if files < reservedFiles+fewest {
		return 0, config.Invalid("--collector-max-connections",
			fmt.Sprintf("cannot be kept: this process may open %d files", files),
			fmt.Sprintf("raise the limit of open files (ulimit -n, LimitNOFILE=, ulimits: nofile) to %d or more: %d and one for each connection", 4*reservedFiles, reservedFiles))
	}
	return int(min(uint64(c.MaxConnections), files-reservedFiles)), nil
}

func (c Config) proxies() ([]netip.Prefix, error) {
	return clientaddr.Networks("--collector-trusted-proxies", c.TrustedProxies)
}
