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

const (
	// turns is how many forms have their passcodes checked at once; those of one link never are.
	turns = 32
	// countTimeout bounds the count of a guess whose visitor may be gone.
	countTimeout = 5 * time.Second
)

func newTurns() (list [turns]chan struct{}) {
	for i := range list {
		list[i] = make(chan struct{}, 1)
	}
	return list
}

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
// *LimitError if there were too many wrong ones. Forms of a link take turns, so that guesses at the
// same time are no way around the limits, and that no right one is ever counted: people in one
// office, who know the passcode, do not lock each other out.
func (c *Capture) checkPasscode(ctx context.Context, link store.GenericLink, f Form, client netip.Addr) error {
	if link.PasscodeHash == nil {
		return nil
	}
	turn := c.turns[link.ID[len(link.ID)-1]%turns]
	select {
	case turn <- struct{}{}:
		defer func() { <-turn }()
	case <-ctx.Done():
		return fmt.Errorf("wait to check a passcode: %w", ctx.Err())
	}
	for _, guess := range guessesOf(link, client) {
		wait, err := c.deps.Limiter.Wait(ctx, guess.Rule, guess.subject)
		if err != nil {
			return fmt.Errorf("look for guesses of passcode: %w", err)
		}
		if wait > 0 {
			return &LimitError{wait}
		}
	}
	right, err := c.passwords.Check(ctx, f.Passcode, *link.PasscodeHash)
	if err != nil {
		return fmt.Errorf("check passcode: %w", err)
	}
	if right {
		return nil
	}
	return c.countGuess(ctx, link, client)
}

// countGuess counts a wrong passcode, also if the visitor is gone, and returns why the form is
// refused.
func (c *Capture) countGuess(ctx context.Context, link store.GenericLink, client netip.Addr) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
	defer cancel()
	var wait time.Duration // of a limit that other processes have reached meanwhile
	for _, guess := range guessesOf(link, client) {
		more, err := c.deps.Limiter.Take(ctx, guess.Rule, guess.subject)
		if err != nil {
			return fmt.Errorf("count guess of passcode: %w", err)
		}
		wait = max(wait, more)
	}
	if wait > 0 {
		return &LimitError{wait}
	}
	return Invalid{FieldPasscode: "wrong.passcode"}
}
