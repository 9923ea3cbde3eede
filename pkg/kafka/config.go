// Package kafka says how to reach Lodestone's Kafka, and makes its topics.
package kafka

import (
	"errors"
	"log/slog"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
)

// Config is the setting of every process that uses Kafka.
type Config struct {
	Brokers []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka brokers to connect to first. The other brokers are discovered."`

	Login
	Copies
}

// Copies is the setting of how few copies of a record may be enough, also for `lodestone up` on
// brokers that are given.
type Copies struct {
	AcceptFewerCopies bool `name:"kafka-accept-fewer-copies" default:"false" help:"Start even if, on several brokers, a topic has fewer than 3 replicas, min.insync.replicas below 2, or unclean leader election. The loss of a broker may then lose acknowledged events."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if len(c.Brokers) == 0 {
		errs = append(errs, config.Invalid("--kafka-brokers", "is missing", "give at least one address as host:port"))
	}
	for _, b := range c.Brokers {
		if _, _, err := net.SplitHostPort(b); err != nil {
			errs = append(errs, config.Invalid("--kafka-brokers", "has "+b+", which is not an address",
				"write host:port, several separated by commas"))
		}
	}
	return errors.Join(append(errs, c.validate())...)
}

// Options returns the settings in the form of franz-go. The client's own messages go to log. Hooks
// see what it does: a Meter.
func (c Config) Options(log *slog.Logger, hooks ...kgo.Hook) []kgo.Opt {
	return append([]kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("lodestone"),
		// The library's own pauses grow to five seconds, and its connections wait ten: both add to an
		// outage of a broker. There are as many tries as fit into the half minute that the library gives
		// a request.
		kgo.DialTimeout(dialTimeout),
		kgo.RetryBackoffFn(retryAfter),
		kgo.RequestRetries(maxRetries),
		kgo.WithLogger(newClientLog(log)),
		kgo.WithHooks(hooks...),
	}, c.options()...)
}
