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

// guesses are the wrong passcodes of a subject, which are bounded.
type guesses struct {
	ratelimit.Rule
	subject string
}

// guessesOf returns those of one link: of a network, and then of everyone, so that a network that
// is refused uses nothing of what others have. An address that is not known stands for many
// clients.
func guessesOf(link store.GenericLink, client netip.Addr) (list []guesses) {
	id := link.ID.String()
	if client.IsValid() {
		list = append(list, guesses{ratelimit.Rule{Name: "passcodes-network", Quota: 10, Window: 15 * time.Minute},
			clientaddr.Network(client).String() + " " + id})
	}
	return append(list, guesses{ratelimit.Rule{Name: "passcodes", Quota: 100, Window: time.Hour}, id})
}

// checkPasscode returns an Invalid if a form does not have the passcode of its link, and a
// *LimitError if there were too many guesses. A guess is counted before it is compared, so that
// guesses at the same time are no way around the limits, and what was right is taken back: people
// in one office, who know the passcode, do not lock each other out.
func (c *Capture) checkPasscode(ctx context.Context, link store.GenericLink, f Form, client netip.Addr) error {
	if link.PasscodeHash == nil {
		return nil
	}
	for _, guess := range guessesOf(link, client) {
		wait, err := c.deps.Limiter.Take(ctx, guess.Rule, guess.subject)
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
	for _, guess := range guessesOf(link, client) {
		if err := c.deps.Limiter.Return(ctx, guess.Rule, guess.subject); err != nil {
			return fmt.Errorf("take back guess of passcode: %w", err)
		}
	}
	return nil
}
