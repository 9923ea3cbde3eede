// Package alert tells owners when a number leaves its usual range or passes a threshold, and when
// nothing comes from a page that had visits.
//
// An account has rules. A job checks them once an hour: it asks the reports for the numbers, and
// writes down what is unusual. An alert is open as long as that lasts, and there is one of a thing
// at a time, so no one hears of it twice. The transaction that opens it queues its notice, or
// leaves that to the end of the account's quiet hours.
package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
	"lodestone/pkg/token"
)

const (
	// settle is how long after an hour it is checked: its events are stored by then.
	settle = 10 * time.Minute
	// interval is the time between two looks for what is due.
	interval = 5 * time.Minute
	// roundTime bounds a look, which is shorter than a job may take. The rest is due at the next one.
	roundTime = 40 * time.Second
	// accountTime bounds the questions about one account.
	accountTime = 15 * time.Second
	// keep is how long an alert is kept after it ended.
	keep = 90 * 24 * time.Hour
	// maxListed is how many alerts a notice names.
	maxListed = 50
)

// Numbers answers questions of metrics; it is implemented by dashboard.WeeklyReports.
type Numbers interface {
	Ask(ctx context.Context, account uuid.UUID, queries []frame.Query) (frame.Batch, error)
}

// Notifier sends notices; it is implemented by notice.Notices.
type Notifier interface {
	// Alerts sends a notice of alerts, once the transaction, which is the account's, commits.
	Alerts(ctx context.Context, tx pgx.Tx, account uuid.UUID, settings store.TakeAlertSettingsRow, a mail.Alerts) error
}

// Deps are the dependencies of alerts. Now may be nil; all others are required.
type Deps struct {
	Postgres *postgres.Pool
	Queue    *queue.Queue
	Tokens   *token.Ring
	Numbers  Numbers
	Notifier Notifier
	Now      func() time.Time // the clock; nil: time.Now
}

// Alerts checks the rules of accounts, and serves their operations. It is safe for concurrent use.
type Alerts struct{ deps Deps }

// checks is the job of checking what is due. It may run twice, and at the same time.
type checks struct{}

// Kind implements river.JobArgs.
func (checks) Kind() string { return "alerts" }

// New returns the alerts of an installation, and has the queue check them.
func New(d Deps) (*Alerts, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	a := &Alerts{d}
	if err := queue.Register(d.Queue,
		river.WorkFunc(func(ctx context.Context, _ *river.Job[checks]) error { return a.Check(ctx) })); err != nil {
		return nil, err
	}
	d.Queue.AddPeriodic("alerts", river.PeriodicInterval(interval), checks{})
	return a, nil
}

// Check checks every account whose rules are due, once an hour, and sends what waited for the end
// of quiet hours. One account's failure is not the others'; it is due again at the next look.
func (a *Alerts) Check(ctx context.Context) error {
	q, begun := store.New(a.deps.Postgres.Unscoped()), time.Now()
	due := a.deps.Now().Add(-settle).Truncate(time.Hour)
	var errs []error
	for after := uuid.Nil; ; {
		accounts, err := q.AccountsWithAlerts(ctx, store.AccountsWithAlertsParams{After: after, Since: due})
		if err != nil || len(accounts) == 0 {
			if err = errors.Join(append(errs, err)...); err != nil {
				return fmt.Errorf("check alerts: %w", err)
			}
			return nil
		}
		for _, account := range accounts {
			if after = account.ID; time.Since(begun) > roundTime {
				return errors.Join(errs...)
			}
			if err := a.checkAccount(ctx, account, due); err != nil {
				errs = append(errs, fmt.Errorf("account %s: %w", account.ID, err))
			}
		}
	}
}

func (a *Alerts) checkAccount(ctx context.Context, account store.AccountsWithAlertsRow, due time.Time) error {
	asking, cancel := context.WithTimeout(ctx, accountTime)
	defer cancel()
	c := check{Alerts: a, account: account.ID, zone: timezone.OrUTC(account.Timezone), now: a.deps.Now()}
	if err := c.run(asking, due); err != nil {
		return err
	}
	return a.deps.Postgres.Account(ctx, account.ID, func(tx pgx.Tx) error {
		settings, err := store.New(tx).TakeAlertSettings(ctx)
		if err != nil {
			return fmt.Errorf("take account: %w", err)
		}
		if err := c.record(ctx, tx, due); err != nil {
			return err
		}
		if isQuiet(c.now.In(c.zone), settings.QuietFrom, settings.QuietUntil) {
			return nil
		}
		return a.send(ctx, tx, account.ID, settings)
	})
}

// isQuiet reports whether a local time is in quiet hours, which may go over midnight.
func isQuiet(at time.Time, from, until *string) bool {
	if from == nil || until == nil {
		return false
	}
	clock := at.Format("15:04")
	if *from < *until {
		return *from <= clock && clock < *until
	}
	return *from <= clock || clock < *until
}

// send sends all alerts that wait, as one notice.
func (a *Alerts) send(ctx context.Context, tx pgx.Tx, account uuid.UUID, settings store.TakeAlertSettingsRow) error {
	q := store.New(tx)
	rows, err := q.ListAlerts(ctx, store.ListAlertsParams{Waiting: true, RowLimit: maxListed})
	if err != nil {
		return fmt.Errorf("list alerts that wait: %w", err)
	}
	if len(rows) == 0 {
		return nil
	}
	total, err := q.SetAlertsSent(ctx, a.deps.Now())
	if err != nil {
		return fmt.Errorf("mark alerts as sent: %w", err)
	}
	list := mail.Alerts{Total: int(total)}
	for _, r := range rows {
		list.List = append(list.List, mail.Alert{
			Name: nameOf(r.Name, r.Slug), Link: r.Alert.GenericLinkID, Metric: r.Metric,
			Direction: r.Alert.Direction, Value: r.Alert.Value,
			Low: r.Alert.UsualLow, High: r.Alert.UsualHigh, Threshold: r.Threshold, Since: r.Alert.Since,
			Ended: r.Alert.EndedAt != nil, Pages: r.Alert.Pages,
		})
	}
	return a.deps.Notifier.Alerts(ctx, tx, account, settings, list)
}
