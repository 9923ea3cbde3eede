// Package limit counts what visitors do, who have no keys, in fixed windows: exactly across all
// processes, and without writing down who they are.
package limit

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"
	"lukechampine.com/blake3"

	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Rule is how often something may be done in a window, which begins with the first time.
type Rule struct {
	Name   string
	Quota  int
	Window time.Duration
}

// Limiter counts. It is safe for concurrent use.
type Limiter struct {
	db  *postgres.Pool
	key [token.KeyBytes]byte
}

// New returns a limiter that counts in a database. tokens makes the key under which subjects are hashed.
func New(db *postgres.Pool, tokens *token.Ring) *Limiter {
	return &Limiter{db, tokens.Derive("visitor limits")}
}

// Take counts that a subject did something, and returns 0 if it may, else how long it has to wait.
// Only a keyed hash of the subject is stored.
func (l *Limiter) Take(ctx context.Context, rule Rule, subject string) (wait time.Duration, err error) {
	row, err := store.New(l.db.Unscoped()).CountVisitor(ctx, store.CountVisitorParams{
		Policy: rule.Name, Subject: l.hash(rule.Name, subject), Quota: int32(rule.Quota),
		Span: pgtype.Interval{Microseconds: rule.Window.Microseconds(), Valid: true},
	})
	if err != nil {
		return 0, fmt.Errorf("count visitor for %s: %w", rule.Name, err)
	}
	if int(row.Used) <= rule.Quota {
		return 0, nil
	}
	return max(time.Second, time.Duration(row.SecondsLeft*float64(time.Second))), nil
}

// TakeAddress is Take for what a client's address does with something, or anything at all. One that is not known is not counted: it would stand for
// many.
func (l *Limiter) TakeAddress(ctx context.Context, rule Rule, addr netip.Addr, of string) (wait time.Duration, err error) {
	if !addr.IsValid() {
		return 0, nil
	}
	return l.Take(ctx, rule, clientaddr.Network(addr).String()+" "+of)
}

// Forget deletes the counts of windows that are over.
func (l *Limiter) Forget(ctx context.Context) error {
	if _, err := store.New(l.db.Unscoped()).ForgetVisitors(ctx); err != nil {
		return fmt.Errorf("forget visitors: %w", err)
	}
	return nil
}

// hash tells subjects apart, and the subjects of one rule from those of another.
func (l *Limiter) hash(rule, subject string) (id uuid.UUID) {
	h := blake3.New(len(id), l.key[:])
	_, _ = h.Write([]byte(rule + "\x00" + subject)) // documented never to fail
	copy(id[:], h.Sum(nil))
	return id
}
