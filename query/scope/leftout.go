package scope

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// leftOutFor is for how long an answer about what an account leaves out holds.
const leftOutFor = time.Second

// leftOut knows which suspected sessions accounts leave out of their numbers. nil knows of none.
type leftOut struct {
	postgres *postgres.Pool
	mu       sync.Mutex
	known    map[uuid.UUID]leftOutRules
}

type leftOutRules struct {
	rules []suspect.Rule
	at    time.Time
}

// Heed makes every statement leave out the sessions of the rules that its account leaves out. It is
// called once, before the first query.
func (c *ClickHouse) Heed(p *postgres.Pool) {
	c.leftOut = &leftOut{postgres: p, known: map[uuid.UUID]leftOutRules{}}
}

type leavingKey struct{}

// Leaving returns a context whose statements leave out the sessions of these rules, whatever the
// account says.
func Leaving(ctx context.Context, rules ...suspect.Rule) context.Context {
	return context.WithValue(ctx, leavingKey{}, rules)
}

// of returns the rules whose sessions a statement for the account leaves out.
func (l *leftOut) of(ctx context.Context, account uuid.UUID) ([]suspect.Rule, error) {
	if rules, ok := ctx.Value(leavingKey{}).([]suspect.Rule); ok {
		return rules, nil
	}
	if l == nil {
		return nil, nil
	}
	l.mu.Lock()
	known, ok := l.known[account]
	l.mu.Unlock()
	if ok && time.Since(known.at) < leftOutFor {
		return known.rules, nil
	}
	now := time.Now()
	var names []string
	err := l.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		own, err := store.New(tx).OwnAccount(ctx)
		names = own.LeftOutSuspects
		return err
	})
	if err != nil && ok {
		return known.rules, nil // Postgres is away: what was true shortly before
	}
	if err != nil && !errors.Is(err, pgx.ErrNoRows) { // of an account that is gone, everything is read
		return nil, fmt.Errorf("read what the account leaves out: %w", err)
	}
	var rules []suspect.Rule
	for _, rule := range suspect.Rules() { // no other text gets into a statement
		if slices.Contains(names, string(rule)) {
			rules = append(rules, rule)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.known) >= maxKnown {
		clear(l.known)
	}
	l.known[account] = leftOutRules{rules, now}
	return rules, nil
}

// maxKnown bounds the accounts that are remembered.
const maxKnown = 10_000

// without returns the condition, in the form of filters, that an event is in no session of the
// rules. The session is as the projection quarters has it, so that the projection can answer. Rows
// of a rule are never changed, and deleted only with the events or the account, so FINAL is not
// needed.
func without(account uuid.UUID, rules []suspect.Rule) string {
	return fmt.Sprintf(` AND if(session_id = toUUID(\'%s\'), event_id, session_id) NOT IN (`+
		`SELECT id FROM lodestone.suspects WHERE account_id = toUUID(\'%s\') AND rule IN %s)`,
		uuid.Nil, account, list(rules))
}

// list returns rules as a set, in the form of filters.
func list(rules []suspect.Rule) string {
	names := make([]string, len(rules))
	for i, rule := range rules {
		names[i] = `\'` + string(rule) + `\'`
	}
	return "(" + strings.Join(names, ",") + ")"
}
