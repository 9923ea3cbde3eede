package kafka

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"

	"lodestone/pkg/config"
)

// AfterApply implements the hook of kong.
func (l *Login) AfterApply(f *config.Files) error {
	l.Secret = f.Secret(&l.Password, nil)
	return nil
}

// following logs in with the password that the setting's file has at the time. While no broker has taken a new one, it is tried first over a
// connection of its own, as the client does not repeat a login that was refused: the broker may still have the one before.
type following struct {
	sasl.Mechanism // with the password of the start
	login          Login
	with           func(password string) sasl.Mechanism
}

func (f *following) Authenticate(ctx context.Context, host string) (sasl.Session, []byte, error) {
	refused := func(err error) bool { return errors.Is(err, kerr.SaslAuthenticationFailed) }
	// Of any other error, the login itself is about to tell.
	password, _ := f.login.Secret.Choose(f.login.Password, refused, func(password string) error { return f.try(ctx, host, password) })
	return f.with(password).Authenticate(ctx, host) //nolint:wrapcheck // the client's own
}

// try reports whether a broker takes a password.
func (f *following) try(ctx context.Context, host, password string) error {
	options := []kgo.Opt{kgo.SeedBrokers(host), kgo.ClientID("lodestone"), kgo.DialTimeout(dialTimeout), kgo.RequestRetries(0), kgo.SASL(f.with(password))}
	if f.login.encrypted() {
		options = append(options, kgo.Dialer(f.login.dial))
	}
	cl, err := kgo.NewClient(options...)
	if err != nil {
		return fmt.Errorf("try a new password: %w", err)
	}
	defer cl.Close()
	return cl.Ping(ctx) //nolint:wrapcheck // classified by the caller
}
