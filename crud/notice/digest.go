package notice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
)

const (
	// digestHour is when the mail about the day before goes out, in the account's time zone: early in
	// the morning.
	digestHour = 5

	digestInterval = 10 * time.Minute

	// maxListed is how many leads or readers a daily mail names.
	maxListed = 50
)

// digests is the job of looking which daily mails are due. It may run twice, and at the same time.
type digests struct{}

// Kind implements river.JobArgs.
func (digests) Kind() string { return "daily-notices" }

// SendDigests has every daily mail sent that is due, each once, however many processes do it. Days
// are those of the account's time zone.
func (n *Notices) SendDigests(ctx context.Context) error {
	q, now := store.New(n.deps.Postgres.Unscoped()), n.deps.Now()
	leads := eachAccount(func(after uuid.UUID) ([]store.AccountsWithDigestRow, error) {
		return q.AccountsWithDigest(ctx, store.AccountsWithDigestParams{Before: now, After: after})
	}, func(a store.AccountsWithDigestRow) (uuid.UUID, error) {
		before := dayBegin(now, a.Timezone)
		if !a.DigestUntil.Before(before) {
			return a.ID, nil
		}
		return a.ID, n.deps.Postgres.Account(ctx, a.ID, func(tx pgx.Tx) error { return n.sendDigest(ctx, tx, a.ID, before) })
	})
	readers := eachAccount(func(after uuid.UUID) ([]store.AccountsWithReadingsRow, error) {
		return q.AccountsWithReadings(ctx, after)
	}, func(a store.AccountsWithReadingsRow) (uuid.UUID, error) {
		before := dayBegin(now, a.Timezone)
		return a.ID, n.deps.Postgres.Account(ctx, a.ID,
			func(tx pgx.Tx) error { return n.sendDailyReadings(ctx, tx, a.ID, before) })
	})
	if err := errors.Join(leads, readers); err != nil {
		return fmt.Errorf("send daily notices: %w", err)
	}
	return nil
}

// eachAccount calls do for all accounts that next returns, a page at a time in the order of their
// ids. One account's failure is not the others'.
func eachAccount[A any](next func(after uuid.UUID) ([]A, error), do func(a A) (uuid.UUID, error)) error {
	var errs []error
	for after := uuid.Nil; ; {
		accounts, err := next(after)
		if err != nil || len(accounts) == 0 {
			return errors.Join(append(errs, err)...)
		}
		for _, a := range accounts {
			if after, err = do(a); err != nil {
				errs = append(errs, fmt.Errorf("account %s: %w", after, err))
			}
		}
	}
}

// dayBegin returns the midnight up to which daily mails tell at a time, in a time zone. The mail
// about a day goes out at digestHour.
func dayBegin(now time.Time, name string) time.Time {
	zone := timezone.OrUTC(name)
	local := now.In(zone)
	day := local.Day()
	if local.Hour() < digestHour {
		day--
	}
	return timezone.Midnight(zone, local.Year(), local.Month(), day)
}

// sendDigest sends the leads until a midnight that no mail had yet. Without any, it sends no mail.
func (n *Notices) sendDigest(ctx context.Context, tx pgx.Tx, account uuid.UUID, before time.Time) error {
	q := store.New(tx)
	a, err := q.TakeNotices(ctx)
	if err != nil {
		return fmt.Errorf("take account: %w", err)
	}
	if a.Notify != Daily || !a.DigestUntil.Before(before) {
		return nil // another process was faster, or it was switched off just now
	}
	total, err := q.CountLeads(ctx, store.CountLeadsParams{AccountID: account, Since: a.DigestUntil, Before: before})
	if err != nil {
		return fmt.Errorf("count leads: %w", err)
	}
	if err := q.SetDigestUntil(ctx, before); err != nil {
		return fmt.Errorf("mark the day as sent: %w", err)
	}
	if total == 0 {
		return nil
	}
	rows, err := q.Leads(ctx, store.LeadsParams{AccountID: account, Since: a.DigestUntil,
		Before: before, RowLimit: maxListed})
	if err != nil {
		return fmt.Errorf("list leads: %w", err)
	}
	zone, texts := timezone.OrUTC(a.Timezone), n.texts.In(locale.Or(a.Language, ""))
	leads := &mail.Leads{Day: texts.Days(a.DigestUntil.In(zone), before.Add(-time.Second)), Total: int(total)}
	for _, row := range rows {
		lead := mail.Lead{Email: row.Email, Link: row.Title, Verified: row.Verified, SubmittedAt: row.Since}
		if row.Name != nil {
			lead.Name = *row.Name
		}
		leads.List = append(leads.List, lead)
	}
	return n.send(ctx, tx, mail.Message{Kind: mail.KindDigest, AccountID: account, Leads: leads, Timezone: a.Timezone,
		Language: locale.Or(a.Language, "")}, addressOf(a))
}
