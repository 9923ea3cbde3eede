// Package mail sends mails: what a transaction asked for goes to the queue in that transaction, and from
// there by SMTP until the receiving server took it or refused it for good.
package mail

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/queue"
)

// Kind says what a mail is about, and so which of Message's fields it needs.
type Kind string

// The kinds of mails.
const (
	// KindDocument gives a visitor the link to the document. It needs URL.
	KindDocument Kind = "document"
	// KindConfirm asks a visitor to confirm the address. It needs URL, Code and ExpiresAt.
	KindConfirm Kind = "confirm"
)

// Message is a mail to be sent. Mails to visitors hold no text that anybody typed: who submits somebody
// else's address must not be able to write to that person.
type Message struct {
	Kind      Kind      `json:"kind"`
	AccountID uuid.UUID `json:"account_id"`
	To        string    `json:"to"` // address alone, without a name
	// URL is what the mail's button opens; a secret, as it is for the receiver only.
	URL string `json:"url,omitempty"`
	// Code is the six digits that confirm the address in place of the URL; a secret.
	Code string `json:"code,omitempty"`
	// ExpiresAt is when URL and Code become worthless; the mail is not sent after it. Zero: never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
}

func (m Message) validate() error {
	switch {
	case m.AccountID == uuid.Nil:
		return errors.New("it has no account")
	case m.To == "":
		return errors.New("it has no receiver")
	case m.URL == "":
		return errors.New("it has no URL")
	}
	switch m.Kind {
	case KindDocument:
		return nil
	case KindConfirm:
		if m.Code == "" || m.ExpiresAt.IsZero() {
			return errors.New("it has no code, or no end of it")
		}
		return nil
	default:
		return fmt.Errorf("there is no kind %q", m.Kind)
	}
}

// queueName is the queue of mails: a slow SMTP server holds up nothing else.
const queueName = "mail"

// job is a mail in the queue.
type job struct {
	Message
	// ID makes the Message-ID, which is the same at every attempt: a mail that was sent twice, because
	// the answer to the first time got lost, is shown once by most mailboxes.
	ID uuid.UUID `json:"id"`
}

// Kind implements river.JobArgs.
func (job) Kind() string { return "mail" }

// Queue takes mails. It is safe for concurrent use.
type Queue struct{ jobs *queue.Queue }

// Send has a mail sent once the transaction commits, and not if it does not. The transaction may be that of
// the message's account, or unscoped.
func (q *Queue) Send(ctx context.Context, tx pgx.Tx, m Message) error {
	if err := m.validate(); err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	id, err := uuid.NewRandom()
	if err != nil {
		return fmt.Errorf("send mail: %w", err)
	}
	return q.jobs.Insert(ctx, tx, job{Message: m, ID: id}, &river.InsertOpts{Queue: queueName, MaxAttempts: maxAttempts})
}
