package ratelimit

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
)

// Budget bounds what accounts use of something in a window, where the use is known only afterwards:
// the next one waits until the window of those that used too much ends. It is safe for concurrent
// use.
type Budget struct {
	db   *postgres.Pool
	rule Rule

	mu    sync.Mutex
	spent map[uuid.UUID]windowUse // by this process
}

// windowUse is an account's use in its current window, in this process.
type windowUse struct {
	ends   time.Time
	amount int
}

// NewBudget returns a budget that counts in a database. The quota is in the unit of what is
// charged.
func NewBudget(db *postgres.Pool, rule Rule) *Budget {
	return &Budget{db: db, rule: rule, spent: map[uuid.UUID]windowUse{}}
}

// ProcessorRule is so many seconds of processor time in a window, in milliseconds.
func ProcessorRule(seconds int) Rule { return Rule{string(ProcessorTime), 1000 * seconds, Window} }

// Wait returns 0 if something of the budget is left, else how long there is none. When Postgres
// cannot be asked, it goes by what this process charged.
func (b *Budget) Wait(ctx context.Context, account uuid.UUID) time.Duration {
	used, reset, err := b.add(ctx, account, 0)
	if err != nil {
		own := b.here(account, 0)
		used, reset = own.amount, time.Until(own.ends)
	}
	if used < b.rule.Quota {
		return 0
	}
	return max(time.Second, reset)
}

// Charge adds what was used. It does so also when the caller has gone. The error says that Postgres
// could not be asked.
func (b *Budget) Charge(ctx context.Context, account uuid.UUID, amount int) error {
	b.here(account, amount)
	_, _, err := b.add(context.WithoutCancel(ctx), account, amount)
	return err
}

// here adds to what this process charged.
func (b *Budget) here(account uuid.UUID, amount int) windowUse {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	s := b.spent[account]
	if !now.Before(s.ends) {
		s = windowUse{ends: now.Add(b.rule.Window)}
	}
	s.amount += amount
	if len(b.spent) >= maxTallies {
		clear(b.spent)
	}
	b.spent[account] = s
	return s
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
