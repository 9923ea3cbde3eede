package capture

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

// guesses bounds wrong passcodes of one link: those of a network, and those of everyone.
func guesses() (network, everyone ratelimit.Rule) {
	return ratelimit.Rule{Name: "passcodes-network", Quota: 10, Window: 15 * time.Minute},
		ratelimit.Rule{Name: "passcodes", Quota: 100, Window: time.Hour}
}

// checkPasscode returns an Invalid if a form does not have the passcode of its link, and a
// *LimitError if there were too many guesses. A guess is counted before it is compared, so that
// guesses at the same time are no way around the limits, and what was right is taken back: people
// in one office, who know the passcode, do not lock each other out.
func (c *Capture) checkPasscode(ctx context.Context, link store.GenericLink, f Form, client netip.Addr) error {
	if link.PasscodeHash == nil {
		return nil
	}
	network, everyone := guesses()
	counted := map[ratelimit.Rule]string{everyone: link.ID.String()}
	if client.IsValid() {
		counted[network] = clientaddr.Network(client).String() + " " + link.ID.String()
	}
	for rule, subject := range counted {
		wait, err := c.deps.Limiter.Take(ctx, rule, subject)
		if err != nil {
			return fmt.Errorf("count guess of passcode: %w", err)
		}
		if wait > 0 {
			return &LimitError{wait}
		}
	}
	right, err := c.passwords.Check(ctx, f.Passcode, *link.PasscodeHash)
	if err != nil {
		return fmt.Errorf("check passcode: %w", err)
	}
	if !right {
		return Invalid{FieldPasscode: "wrong.passcode"}
	}
	for rule, subject := range counted {
		if err := c.deps.Limiter.Return(ctx, rule, subject); err != nil {
			return fmt.Errorf("take back guess of passcode: %w", err)
		}
	}
	return nil
}
