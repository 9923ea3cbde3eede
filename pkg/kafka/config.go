// Package kafka says how to reach Lodestone's Kafka, and makes its topics.
package kafka

import (
	"crypto/tls"
	"errors"
	"log/slog"
	"net"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"lodestone/pkg/config"
)

// Config is the setting of every process that uses Kafka.
type Config struct {
	Brokers       []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka brokers to connect to first; they name the others."`
	TLS           bool     `name:"kafka-tls" default:"false" help:"Connect to Kafka over TLS, trusting the system's certificate authorities. Default: no."`
	SASLMechanism string   `name:"kafka-sasl-mechanism" default:"none" enum:"none,plain,scram-sha-256,scram-sha-512" help:"How to log in to Kafka: none, plain, scram-sha-256 or scram-sha-512."`
	SASLUser      string   `name:"kafka-sasl-user" help:"User to log in to Kafka with."`
	SASLPassword  string   `name:"kafka-sasl-password" help:"Password to log in to Kafka with. Secret."`

	Copies
}

// Copies is the setting of how few copies of a record may be enough, also for `lodestone up` on brokers that are given.
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
			errs = append(errs, config.Invalid("--kafka-brokers", "has "+b+", which is not an address", "write host:port, several separated by commas"))
		}
	}
	if c.SASLMechanism != "none" && c.SASLMechanism != "" && (c.SASLUser == "" || c.SASLPassword == "") {
		errs = append(errs, config.Invalid("--kafka-sasl-mechanism", "needs a user and a password", "set --kafka-sasl-user and --kafka-sasl-password as well"))
	}
	return errors.Join(errs...)
}

// Options returns the settings in the form of franz-go. The client's own messages go to log.
func (c Config) Options(log *slog.Logger) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.Brokers...),
		kgo.ClientID("lodestone"),
		kgo.WithLogger(clientLog{log}),
	}
	if c.TLS {
		opts = append(opts, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	switch c.SASLMechanism {
	case "plain":
		opts = append(opts, kgo.SASL(plain.Auth{User: c.SASLUser, Pass: c.SASLPassword}.AsMechanism()))
	case "scram-sha-256":
		opts = append(opts, kgo.SASL(scram.Auth{User: c.SASLUser, Pass: c.SASLPassword}.AsSha256Mechanism()))
	case "scram-sha-512":
		opts = append(opts, kgo.SASL(scram.Auth{User: c.SASLUser, Pass: c.SASLPassword}.AsSha512Mechanism()))
	}
	return opts
}
