package mail

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

// Kept is a mail in the queue.
type Kept struct {
	Message
	State string // of the job: available, running, retryable, scheduled, completed, cancelled or discarded
	At    time.Time
}

// About returns the mails in the queue that go to an address, or tell the owner of it as a lead or a reader, in a transaction of the
// account. Others that a mail lists are left out. Mails whose token key is missing can be read by no one, and are left out.
func (q *Queue) About(ctx context.Context, tx pgx.Tx, key string) ([]Kept, error) {
	rows, err := store.New(tx).QueueOfAccount(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("read mails: %w", err)
	}
	var kept []Kept
	for _, row := range rows {
		_, m, err := q.read(row.Args)
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		own, _ := m.divide(key)
		if email.Key(m.To) == key || own.listed() > 0 {
			kept = append(kept, Kept{own, row.State, row.CreatedAt})
		}
	}
	return kept, nil
}

// Forget removes the mails to an address from the queue, and the address from those to the owner, asked for until a time, in a transaction of the account. It
// leaves those to a user of the dashboard. It returns how many mails it removed or changed.
func (q *Queue) Forget(ctx context.Context, tx pgx.Tx, key string, until time.Time) (n int, err error) {
	queries := store.New(tx)
	rows, err := queries.JobsOfAccount(ctx, store.JobsOfAccountParams{Kind: kind, Until: until})
	if err != nil {
		return 0, fmt.Errorf("read mails: %w", err)
	}
	for _, row := range rows {
		j, m, err := q.read(row.Args)
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return n, err
		}
		own, others := m.divide(key)
		switch {
		case m.Kind.toVisitor() && email.Key(m.To) == key, own.listed() > 0 && others.listed() == 0:
			err = queries.RemoveJob(ctx, row.ID)
		case own.listed() > 0:
			if j, err = seal(q.tokens, others, j.ID); err != nil {
				return n, err
			}
			var args []byte
			if args, err = json.Marshal(j); err == nil {
				err = queries.ChangeJob(ctx, store.ChangeJobParams{ID: row.ID, Args: args})
			}
		default:
			continue
		}
		if err != nil {
			return n, fmt.Errorf("remove mail: %w", err)
		}
		n++
	}
	return n, nil
}

func (q *Queue) read(args []byte) (j job, m Message, err error) {
	if err := json.Unmarshal(args, &j); err != nil {
		return j, m, fmt.Errorf("read mail: %w", err)
	}
	m, err = j.open(q.tokens)
	return j, m, err
}

// toVisitor reports whether mails of a kind go to a visitor, not to an owner or a user.
func (k Kind) toVisitor() bool { return k == KindDocument || k == KindConfirm }

// divide returns the mail with only those that it lists who have an address, and the mail without them.
func (m Message) divide(key string) (own, others Message) {
	own, others = m, m
	if m.Leads != nil {
		mine, rest := *m.Leads, *m.Leads
		mine.List, rest.List = part(m.Leads.List, func(l Lead) bool { return email.Key(l.Email) == key })
		own.Leads, others.Leads = &mine, &rest
	}
	if m.Readings != nil {
		mine, rest := *m.Readings, *m.Readings
		mine.List, rest.List = part(m.Readings.List, func(r Reading) bool { return email.Key(r.Email) == key })
		own.Readings, others.Readings = &mine, &rest
	}
	return own, others
}

func part[T any](list []T, wanted func(T) bool) (yes, no []T) {
	for _, one := range list {
		if wanted(one) {
			yes = append(yes, one)
		} else {
			no = append(no, one)
		}
	}
	return yes, no
}

// listed returns how many leads and readers the mail lists.
func (m Message) listed() (n int) {
	if m.Leads != nil {
		n += len(m.Leads.List)
	}
	if m.Readings != nil {
		n += len(m.Readings.List)
	}
	return n
}
