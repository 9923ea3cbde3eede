package mail

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	gomail "github.com/wneessen/go-mail"

	"lodestone/crud/web"
	"lodestone/pkg/store"
)

// Lengths of what owners write to recipients, in characters.
const (
	maxSubject = 200
	maxLine    = 5000
)

// writeToRecipient writes a mail in the words of an owner.
func writeToRecipient(m Message, t *web.Texts, here string) letter {
	l := letter{
		Subject: Clean(m.Own.Subject, maxSubject), Heading: Clean(m.Title, maxTitle),
		Before: paragraphs(m.Own.Before), After: paragraphs(m.Own.After),
		Button: t.Say("mail.document.button"), URL: m.URL, ReplyTo: m.Own.ReplyTo,
		Reason:           t.Say("mail.recipient.reason", "where", here),
		UnsubscribeWords: t.Say("mail.recipient.off"), Unsubscribe: m.Unsubscribe, OneClick: m.Unsubscribe,
	}
	if len(l.Before) > 0 {
		l.Preview = l.Before[0]
	}
	return l
}

// paragraphs returns the lines of a text that have something in them.
func paragraphs(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = Clean(line, maxLine); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// settleTimeout bounds what is noted of a mail that was not handed over, also while the process
// stops.
const settleTimeout = 5 * time.Second

// errNotDue says that a mail is not to be sent any more.
var errNotDue = errors.New("the recipient is gone, unsubscribed, or got the mail before")

// handOver gives a mail to the server. One to a recipient is claimed before, so that it is not
// handed over twice if the process dies meanwhile. isLast says that no other try follows.
func (w *worker) handOver(ctx context.Context, m Message, msg *gomail.Msg, isLast bool) error {
	if m.Recipient == uuid.Nil || w.postgres == nil {
		return w.send(ctx, m.Kind, msg)
	}
	reminder := m.Kind == KindReminder
	var claimed int64
	err := w.postgres.Account(ctx, m.AccountID, func(tx pgx.Tx) (err error) {
		claimed, err = store.New(tx).ClaimRecipientMail(ctx,
			store.ClaimRecipientMailParams{ID: m.Recipient, Reminder: reminder})
		return err
	})
	if err != nil {
		return err
	}
	if claimed == 0 {
		return errNotDue
	}
	if err = w.send(ctx, m.Kind, msg); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	settled := w.postgres.Account(ctx, m.AccountID, func(tx pgx.Tx) error {
		if isPermanent(err) {
			return store.New(tx).BounceRecipient(ctx, store.BounceRecipientParams{ID: m.Recipient, Failure: err.Error()})
		}
		return store.New(tx).ReleaseRecipientMail(ctx, store.ReleaseRecipientMailParams{ID: m.Recipient,
			Failure: err.Error(), Reminder: reminder, IsLast: isLast})
	})
	if settled != nil {
		w.log.Error("cannot record that a mail to a recipient was not sent", "account_id", m.AccountID, "error", settled)
	}
	return err
}

func (w *worker) send(ctx context.Context, kind Kind, msg *gomail.Msg) error {
	if w.sender == nil {
		return errNoServer
	}
	return w.sender.send(ctx, kind, msg)
}
