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

// About returns the mails in the queue that go to an address, or tell the owner of it as a lead, in a transaction of the account. Of the
// leads that a mail lists, others are left out. Mails whose token key is missing can be read by no one, and are left out.
func (q *Queue) About(ctx context.Context, tx pgx.Tx, key string) ([]Kept, error) {
	rows, err := store.New(tx).MailsOfAccount(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("read mails: %w", err)
	}
	var kept []Kept
	for _, row := range rows {
		var j job
		if err := json.Unmarshal(row.Args, &j); err != nil {
			return nil, fmt.Errorf("read mail: %w", err)
		}
		m, err := j.open(q.tokens)
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if m.Leads != nil {
			var own []Lead
			for _, l := range m.Leads.List {
				if email.Key(l.Email) == key {
					own = append(own, l)
				}
			}
			m.Leads = &Leads{Day: m.Leads.Day, List: own}
		}
		if email.Key(m.To) == key || m.Leads != nil && len(m.Leads.List) > 0 {
			kept = append(kept, Kept{m, row.State, row.CreatedAt})
		}
	}
	return kept, nil
}
