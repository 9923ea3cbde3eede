package notice

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// Alerts implements alert.Notifier. Mails follow the account's setting alert_notices; chat programs
// get every notice that they ask for.
func (n *Notices) Alerts(ctx context.Context, tx pgx.Tx, account uuid.UUID, settings store.TakeAlertSettingsRow,
	a mail.Alerts) error {
	to := confirmed(settings.NotifyEmail, settings.NotifyConfirmedAt)
	if !settings.AlertNotices {
		to = nil
	}
	path := "/dashboard/settings/alerts"
	if len(a.List) == 1 && a.List[0].Link != nil {
		path = "/dashboard/links/" + a.List[0].Link.String()
	}
	return n.send(ctx, tx, mail.Message{
		Kind: mail.KindAlerts, AccountID: account, Alerts: &a, URL: n.deps.Pages.URL(path), Timezone: settings.Timezone,
		Language: locale.Or(settings.Language, ""),
	}, to)
}
