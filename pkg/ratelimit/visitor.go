package ratelimit

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgtype"

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

// count counts once for a subject, and returns the count and the time until its window ends. The
// count stops at one over the quota.
func count(ctx context.Context, db *postgres.Pool, rule Rule, subject uuid.UUID) (used int,
	reset time.Duration, err error) {
	return add(ctx, db, rule, subject, 1)
}

// add counts a weight for a subject, as count does.
func add(ctx context.Context, db *postgres.Pool, rule Rule, subject uuid.UUID, weight int) (used int,
	reset time.Duration, err error) {
	row, err := store.New(db.Unscoped()).CountRequest(ctx, store.CountRequestParams{
		Policy: rule.Name, Subject: subject, Weight: int32(weight), Quota: int32(rule.Quota),
		Span: pgtype.Interval{Microseconds: rule.Window.Microseconds(), Valid: true},
	})
	return int(row.Used), time.Duration(row.SecondsLeft * float64(time.Second)), err
}

// Visitors counts what visitors do, who have no keys. Only a keyed hash of a subject is stored. It
// is safe for concurrent use.
type Visitors struct {
	db     *postgres.Pool
	tokens *token.Ring
}

// NewVisitors returns a limiter that counts in a database. tokens makes the key under which
// subjects are hashed.
func NewVisitors(db *postgres.Pool, tokens *token.Ring) *Visitors {
	return &Visitors{db, tokens}
}

// Take counts that a subject did something, and returns 0 if it may, else how long it has to wait.
func (v *Visitors) Take(ctx context.Context, rule Rule, subject string) (wait time.Duration, err error) {
	used, reset, err := count(ctx, v.db, rule, v.hash(rule.Name, subject))
	if err != nil {
		return 0, fmt.Errorf("count visitor for %s: %w", rule.Name, err)
	}
	if used <= rule.Quota {
		return 0, nil
	}
	return max(time.Second, reset), nil
}

// Wait returns how long a subject has to wait before Take lets it do something, and counts nothing.
func (v *Visitors) Wait(ctx context.Context, rule Rule, subject string) (wait time.Duration, err error) {
	used, reset, err := add(ctx, v.db, rule, v.hash(rule.Name, subject), 0)
	if err != nil {
		return 0, fmt.Errorf("read count of visitor for %s: %w", rule.Name, err)
	}
	if used < rule.Quota {
		return 0, nil
	}
	return max(time.Second, reset), nil
}

// TakeAddress is Take keyed by a client's address and, unless it is "", a resource. An address that
// is not known is not counted: it would stand for many clients.
func (v *Visitors) TakeAddress(ctx context.Context, rule Rule, addr netip.Addr,
	resource string) (wait time.Duration, err error) {
	if !addr.IsValid() {
		return 0, nil
	}
	return v.Take(ctx, rule, clientaddr.Network(addr).String()+" "+resource)
}

// Forget deletes the counts of windows that are over.
func (v *Visitors) Forget(ctx context.Context) error {
	if _, err := store.New(v.db.Unscoped()).ForgetCounts(ctx); err != nil {
		return fmt.Errorf("delete counts: %w", err)
	}
	return nil
}

// hash tells subjects apart, and the subjects of one rule from those of another.
func (v *Visitors) hash(rule, subject string) (id uuid.UUID) {
	key := v.tokens.Derive("visitor limits")
	h := hmac.New(sha256.New, key[:])
	_, _ = h.Write([]byte(rule + "\x00" + subject)) // documented never to fail
	copy(id[:], h.Sum(nil))
	return id
}
