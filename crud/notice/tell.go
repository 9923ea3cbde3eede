package notice

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
)

// Notice is what an owner is notified of, in the words of its mail and the language of the account.
type Notice struct {
	Kind      mail.Kind // KindLead, KindDigest, KindReading, KindReadings, KindWeekly or KindWebhook
	AccountID uuid.UUID
	Words     mail.Words
}

// Teller tells an account's people of notices by another way than mail. It decides by itself
// whether the account wants that.
type Teller interface {
	// Tell has a notice sent once the transaction commits, and not if it does not. The transaction is
	// the account's or of no scope. It is called for each notice, whether or not the account has an
	// address for mails.
	Tell(ctx context.Context, tx pgx.Tx, n Notice) error
}

// send mails a notice if there is an address, and gives it to the other ways.
func (n *Notices) send(ctx context.Context, tx pgx.Tx, m mail.Message, to *string) error {
	if to != nil {
		m.To, m.Unsubscribe = *to, n.unsubscribeURL(m.AccountID, *to)
		if m.Kind == mail.KindReading || m.Kind == mail.KindReadings {
			m.Unsubscribe += aboutReaders
		}
		if m.Kind == mail.KindWeekly {
			m.Unsubscribe += aboutWeeks
		}
		if err := n.deps.Mail.Send(ctx, tx, m); err != nil {
			return err
		}
	}
	if len(n.deps.Tellers) == 0 {
		return nil
	}
	words, err := n.deps.Mail.Words(m)
	if err != nil {
		return err
	}
	for _, t := range n.deps.Tellers {
		if err := t.Tell(ctx, tx, Notice{Kind: m.Kind, AccountID: m.AccountID, Words: words}); err != nil {
			return fmt.Errorf("tell of %s: %w", m.Kind, err)
		}
	}
	return nil
}

// optional returns an address, nil for "".
func optional(address string) *string {
	if address == "" {
		return nil
	}
	return &address
}
