package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/email"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Kept is a message in the queue.
type Kept struct {
	Channel uuid.UUID
	State   string // of the job: available, running, retryable, scheduled, completed, cancelled or discarded
	At      time.Time
	Text    []string // its lines, the heading first
}

// About returns the messages in the queue that mention an address, in a transaction of the account, without their links. Lines that name others alone are left
// out. Messages whose token key is missing can be read by no one, and are left out.
func (c *Channels) About(ctx context.Context, tx pgx.Tx, key string) ([]Kept, error) {
	rows, err := store.New(tx).QueueOfAccount(ctx, message{}.Kind())
	if err != nil {
		return nil, fmt.Errorf("read chat messages: %w", err)
	}
	var kept []Kept
	for _, row := range rows {
		m, text, err := c.mentioning(row.Args, key)
		if err != nil {
			return nil, err
		}
		if text == nil {
			continue
		}
		var w mail.Words
		if err := json.Unmarshal(text, &w); err != nil {
			return nil, fmt.Errorf("read chat message: %w", err)
		}
		kept = append(kept, Kept{m.ChannelID, row.State, row.CreatedAt, linesAbout(w, key)})
	}
	return kept, nil
}

// linesAbout returns the lines of a message but those that name others alone.
func linesAbout(w mail.Words, key string) []string {
	all := append([]string{w.Subject}, w.Before...)
	for _, f := range w.Facts {
		all = append(all, f.Name+": "+f.Value)
	}
	lines := []string{}
	for _, line := range append(all, w.After...) {
		if !strings.Contains(line, "@") || email.Mentions(line, key) {
			lines = append(lines, line)
		}
	}
	return lines
}

// Forget removes the messages that mention an address from the queue, asked for until a time, in a transaction of the account. It returns how many it removed. A
// message of a day that lists others as well is removed whole: what waits here was refused by its channel before.
func (c *Channels) Forget(ctx context.Context, tx pgx.Tx, key string, until time.Time) (n int, err error) {
	queries := store.New(tx)
	rows, err := queries.JobsOfAccount(ctx, store.JobsOfAccountParams{Kind: message{}.Kind(), Until: until})
	if err != nil {
		return 0, fmt.Errorf("read chat messages: %w", err)
	}
	for _, row := range rows {
		_, text, err := c.mentioning(row.Args, key)
		if err != nil {
			return n, err
		}
		if text == nil {
			continue
		}
		if err := queries.RemoveJob(ctx, row.ID); err != nil {
			return n, fmt.Errorf("remove chat message: %w", err)
		}
		n++
	}
	return n, nil
}

// mentioning returns a message and its words, opened, and no words if they do not mention an address or if no one can read them.
func (c *Channels) mentioning(args []byte, key string) (m message, words []byte, err error) {
	if err := json.Unmarshal(args, &m); err != nil {
		return m, nil, fmt.Errorf("read chat message: %w", err)
	}
	words, err = c.deps.Tokens.Open(sealingMessages, m.Sealed, m.ID[:])
	if errors.Is(err, token.ErrSealed) {
		return m, nil, nil
	}
	if err != nil {
		return m, nil, fmt.Errorf("open chat message: %w", err)
	}
	if !email.MentionsJSON(words, key) {
		return m, nil, nil
	}
	return m, words, nil
}
