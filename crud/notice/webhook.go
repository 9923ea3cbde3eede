package notice

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/crud/webhook"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// WebhookDisabled mails the owner of a webhook, once the transaction commits, that it was disabled
// because it failed, unless the account is set to none. Such mails count among the HourlyNotices.
// The transaction may be of any scope.
func (n *Notices) WebhookDisabled(ctx context.Context, tx pgx.Tx, hook store.WebhookEndpoint, gone int) error {
	row, err := store.New(tx).CountOwnerNotice(ctx, store.CountOwnerNoticeParams{Now: n.deps.Now(), ID: hook.AccountID})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read whom to tell of a webhook: %w", err)
	}
	if row.NoticesSent > HourlyNotices {
		return nil
	}
	to := optional(row.NotifyEmail)
	if to != nil && !mail.CanReach(*to) { // that no one can be written to keeps no webhook from being disabled
		n.deps.Log.Warn("cannot tell of a disabled webhook: no mail can be sent to the account's notify_email", "webhook_id",
			hook.ID, "account_id", hook.AccountID)
		to = nil
	}
	w := &mail.Webhook{ID: hook.ID, Host: hostOf(hook.Url), Gone: gone}
	if hook.Description != nil {
		w.Description = *hook.Description
	}
	if hook.DisabledAt != nil {
		w.DisabledAt = *hook.DisabledAt
	}
	if w.Failures = int(hook.Failures); hook.FailingSince != nil {
		w.FailingSince = *hook.FailingSince
	}
	return n.send(ctx, tx, mail.Message{
		Kind: mail.KindWebhook, AccountID: hook.AccountID, Webhook: w, Timezone: row.Timezone,
		Language: locale.Or(row.Language, ""),
	}, to)
}

// kinds are the kinds of notices, as chat programs get them.
var kinds = map[mail.Kind]webhook.Kind{
	mail.KindLead: webhook.KindLeads, mail.KindDigest: webhook.KindLeads, mail.KindReading: webhook.KindReaders,
	mail.KindReadings: webhook.KindReaders,
	mail.KindWeekly:   webhook.KindWeekly, mail.KindWebhook: webhook.KindWebhooks,
	mail.KindAlerts: webhook.KindAlerts,
}

// send mails a notice if there is an address, and sends it to the account's chat programs, once the
// transaction commits. The transaction is the account's or of no scope.
func (n *Notices) send(ctx context.Context, tx pgx.Tx, m mail.Message, to *string) error {
	if to != nil {
		m.To, m.Unsubscribe = *to, n.unsubscribeURL(m.AccountID, *to)
		if m.Kind == mail.KindReading || m.Kind == mail.KindReadings {
			m.Unsubscribe += aboutReaders
		}
		if m.Kind == mail.KindWeekly {
			m.Unsubscribe += aboutWeeks
		}
		if m.Kind == mail.KindAlerts {
			m.Unsubscribe += aboutAlerts
		}
		if err := n.deps.Mail.Send(ctx, tx, m); err != nil {
			return err
		}
	}
	words, err := n.deps.Mail.Words(m)
	if err != nil {
		return err
	}
	return webhook.Emit(ctx, tx, n.deps.Tokens, m.AccountID, webhook.Notice{About: kinds[m.Kind], Words: words})
}

// optional returns an address, nil for "".
func optional(address string) *string {
	if address == "" {
		return nil
	}
	return &address
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil { // it was checked when it was given
		return ""
	}
	return u.Host
}
