package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/email"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Forget removes the messages that mention an address from the queue, asked for until a time, in a transaction of the account. It returns how many it removed. A
// message of a day that lists others as well is removed whole: what waits here was refused by its channel before.
func (c *Channels) Forget(ctx context.Context, tx pgx.Tx, key string, until time.Time) (n int, err error) {
	queries := store.New(tx)
	rows, err := queries.JobsOfAccount(ctx, store.JobsOfAccountParams{Kind: message{}.Kind(), Until: until})
	if err != nil {
		return 0, fmt.Errorf("read chat messages: %w", err)
	}
	for _, row := range rows {
		var m message
		if err := json.Unmarshal(row.Args, &m); err != nil {
			return n, fmt.Errorf("read chat message: %w", err)
		}
		text, err := c.deps.Tokens.Open(sealingMessages, m.Sealed, m.ID[:])
		if errors.Is(err, token.ErrSealed) {
			continue // no one can read it
		}
		if err != nil {
			return n, fmt.Errorf("open chat message: %w", err)
		}
		if !email.MentionsJSON(text, key) {
			continue
		}
		if err := queries.RemoveJob(ctx, row.ID); err != nil {
			return n, fmt.Errorf("remove chat message: %w", err)
		}
		n++
	}
	return n, nil
}
