package ratelimit

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
)

// Budget bounds what accounts use of something in a window, where the use is known only afterwards: the next one waits
// until the window of those that used too much ends. It is safe for concurrent use.
type Budget struct {
	db   *postgres.Pool
	rule Rule
}

// NewBudget returns a budget that counts in a database. The quota is in the unit of what is charged.
func NewBudget(db *postgres.Pool, rule Rule) *Budget { return &Budget{db, rule} }

// ProcessorRule is so many seconds of processor time in a window, in milliseconds.
func ProcessorRule(seconds int) Rule { return Rule{string(ProcessorTime), 1000 * seconds, Window} }

// Wait returns 0 if something of the budget is left, else how long there is none.
func (b *Budget) Wait(ctx context.Context, account uuid.UUID) (time.Duration, error) {
	used, reset, err := b.add(ctx, account, 0)
	if err != nil || used < b.rule.Quota {
		return 0, err
	}
	return max(time.Second, reset), nil
}

// Charge adds what was used. It does so also when the caller has gone.
func (b *Budget) Charge(ctx context.Context, account uuid.UUID, amount int) error {
	_, _, err := b.add(context.WithoutCancel(ctx), account, amount)
	return err
}

func (b *Budget) add(ctx context.Context, account uuid.UUID, amount int) (used int, reset time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, budgetTimeout)
	defer cancel()
	if used, reset, err = add(ctx, b.db, b.rule, account, amount); err != nil {
		return 0, 0, fmt.Errorf("count for the budget %s: %w", b.rule.Name, err)
	}
	return used, reset, nil
}

const budgetTimeout = time.Second
