package notice

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
)

// weeklyHour is when the report about a week goes out, on Monday in the account's time zone. Events
// of the night are stored by then.
const weeklyHour = 7

// weeks is the job of looking which weekly reports are due. It may run twice, and at the same time.
type weeks struct{}

// Kind implements river.JobArgs.
func (weeks) Kind() string { return "weekly-reports" }

// Reporter writes weekly reports; it is implemented by dashboard.WeeklyReports.
type Reporter interface {
	// Week returns the report about the week that begins with a day, in the day's time zone, and nil
	// if there is nothing to report.
	Week(ctx context.Context, a mail.Receiver, first time.Time) (*mail.Weekly, error)
}

// SendWeekly has every weekly report sent that is due, each once, however many processes do it.
// Weeks begin on Monday in the account's time zone. A week in which nothing was deployed to send it
// is left out if another one has passed since.
func (n *Notices) SendWeekly(ctx context.Context) error {
	q, now := store.New(n.deps.Postgres.Unscoped()), n.deps.Now()
	err := eachAccount(func(after uuid.UUID) ([]store.AccountsWithWeeklyReportRow, error) {
		return q.AccountsWithWeeklyReport(ctx, store.AccountsWithWeeklyReportParams{Now: now, After: after})
	}, func(a store.AccountsWithWeeklyReportRow) (uuid.UUID, error) {
		end := weekBegin(now, a.Timezone)
		if !a.ReportedUntil.Before(end) {
			return a.ID, nil
		}
		return a.ID, n.sendWeekly(ctx, a, end)
	})
	if err != nil {
		return fmt.Errorf("send weekly reports: %w", err)
	}
	return nil
}

// weekBegin returns the Monday up to which weekly reports tell at a time, in a time zone.
func weekBegin(now time.Time, name string) time.Time {
	zone := timezone.OrUTC(name)
	local := now.In(zone)
	day := local.Day() - (int(local.Weekday())+6)%7
	if local.Weekday() == time.Monday && local.Hour() < weeklyHour {
		day -= 7
	}
	return timezone.Midnight(zone, local.Year(), local.Month(), day)
}

// sendWeekly writes the report first, without holding anything, and sends it if no other process
// was faster. An account in which no one wants it is marked as well, so that who switches it on
// later gets the report of the week that ends then.
func (n *Notices) sendWeekly(ctx context.Context, a store.AccountsWithWeeklyReportRow, end time.Time) error {
	first, language := timezone.AddDays(end, -7), locale.Or(a.Language, "")
	var week *mail.Weekly
	if a.Wanted {
		var err error
		if week, err = n.deps.Reports.Week(ctx, mail.Receiver{AccountID: a.ID, Language: language}, first); err != nil {
			return err
		}
	}
	return n.deps.Postgres.Account(ctx, a.ID, func(tx pgx.Tx) error {
		q := store.New(tx)
		row, err := q.TakeWeeklyReport(ctx)
		if err != nil {
			return fmt.Errorf("take account: %w", err)
		}
		if !row.ReportedUntil.Before(end) {
			return nil // another process was faster
		}
		if err := q.SetReportedUntil(ctx, end); err != nil {
			return fmt.Errorf("mark the week as reported: %w", err)
		}
		if week == nil {
			return nil
		}
		m := mail.Message{
			Kind: mail.KindWeekly, AccountID: a.ID, Language: language, Timezone: a.Timezone, Weekly: week,
			URL: n.deps.Pages.URL("/dashboard?from=" + first.Format(time.DateOnly) + "&to=" +
				timezone.AddDays(end, -1).Format(time.DateOnly)),
		}
		to := confirmed(row.NotifyEmail, row.NotifyConfirmedAt)
		if !row.WeeklyReport {
			to = nil
		}
		isPerson, err := n.sendToPeople(ctx, tx, m, to)
		if err != nil {
			return err
		}
		if isPerson {
			to = nil
		}
		return n.send(ctx, tx, m, to)
	})
}

// sendToPeople mails a weekly report to each of the account's people who wants it, and reports
// whether an address is that of one of them, who then decides about it.
func (n *Notices) sendToPeople(ctx context.Context, tx pgx.Tx, m mail.Message,
	address *string) (isPerson bool, err error) {
	people, err := store.New(tx).WeeklyReportPeople(ctx)
	if err != nil {
		return false, fmt.Errorf("look who wants the weekly report: %w", err)
	}
	var key string
	if address != nil {
		if parsed, err := email.Parse(*address); err == nil {
			key = parsed.Key
		}
	}
	for _, p := range people {
		isPerson = isPerson || p.EmailKey == key
		if !p.Wants || !mail.CanReach(p.Email) {
			continue
		}
		m.To, m.Unsubscribe = p.Email, n.deps.Pages.URL(weeklyPath+n.personGrant(m.AccountID, p.ID))
		if err := n.deps.Mail.Send(ctx, tx, m); err != nil {
			return false, err
		}
	}
	return isPerson, nil
}
