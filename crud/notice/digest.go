package notice

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/store"
)

const (
	// digestHour is when the mail about the day before goes out, in UTC: early in the European morning.
	digestHour = 5

	digestInterval = 10 * time.Minute

	// maxListed is how many leads a daily mail names.
	maxListed = 50
)

// digests is the job of looking which daily mails are due. It may run twice, and at the same time.
type digests struct{}

// Kind implements river.JobArgs.
func (digests) Kind() string { return "daily-notices" }

// SendDigests has every daily mail sent that is due, each once, however many processes do it. Days are
// those of UTC.
func (n *Notices) SendDigests(ctx context.Context) error {
	before := n.deps.Now().UTC().Add(-digestHour * time.Hour).Truncate(24 * time.Hour)
	accounts, err := store.New(n.deps.Postgres.Unscoped()).AccountsWithDigestDue(ctx, before)
	if err != nil {
		return fmt.Errorf("look for daily notices that are due: %w", err)
	}
	var errs []error // one account's failure is not the others'
	for _, id := range accounts {
		if err := n.deps.Postgres.Account(ctx, id, func(tx pgx.Tx) error { return n.sendDigest(ctx, tx, id, before) }); err != nil {
			errs = append(errs, fmt.Errorf("send daily notice of account %s: %w", id, err))
		}
	}
	return errors.Join(errs...)
}

// sendDigest sends the leads until a midnight that no mail had yet. Without any, it sends no mail.
func (n *Notices) sendDigest(ctx context.Context, tx pgx.Tx, account uuid.UUID, before time.Time) error {
	q := store.New(tx)
	a, err := q.TakeNotices(ctx)
	if err != nil {
		return fmt.Errorf("take account: %w", err)
	}
	if a.Notify != Daily || a.NotifyEmail == nil || a.NotifyConfirmedAt == nil || !a.DigestUntil.Before(before) {
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
	rows, err := q.Leads(ctx, store.LeadsParams{AccountID: account, Since: a.DigestUntil, Before: before, RowLimit: maxListed})
	if err != nil {
		return fmt.Errorf("list leads: %w", err)
	}
	leads := &mail.Leads{Day: days(a.DigestUntil, before), Total: int(total)}
	for _, row := range rows {
		lead := mail.Lead{Email: row.Email, Link: row.Title, Verified: row.Verified, SubmittedAt: row.Since}
		if row.Name != nil {
			lead.Name = *row.Name
		}
		leads.List = append(leads.List, lead)
	}
	return n.deps.Mail.Send(ctx, tx, mail.Message{
		Kind: mail.KindDigest, AccountID: account, To: *a.NotifyEmail, Leads: leads, Unsubscribe: n.unsubscribeURL(account, *a.NotifyEmail),
	})
}

// days names the days from a moment to the midnight that ends the last of them.
func days(since, before time.Time) string {
	const day, year = "Monday, 2 January", "Monday, 2 January 2006"
	first, last := since.UTC(), before.Add(-time.Second)
	switch {
	case first.YearDay() == last.YearDay() && first.Year() == last.Year():
		return last.Format(year)
	case first.Year() == last.Year():
		return first.Format(day) + " to " + last.Format(year)
	default:
		return first.Format(year) + " to " + last.Format(year)
	}
}
