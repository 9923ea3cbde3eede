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
func (n *Notices) WebhookDisabled(ctx context.Context, tx pgx.Tx, hook store.WebhookEndpoint) error {
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
		n.deps.Log.Warn("cannot tell of a disabled webhook: no mail can be sent to the account's notify_email", "webhook_id", hook.ID, "account_id", hook.AccountID)
		to = nil
	}
	w := &mail.Webhook{ID: hook.ID, Host: hostOf(hook.Url)}
	if hook.Description != nil {
		w.Description = *hook.Description
	}
	if hook.DisabledReason != nil && hook.DisabledAt != nil { // they are set together
		w.Reason, w.DisabledAt = *hook.DisabledReason, *hook.DisabledAt
	}
	w.Gone = w.Reason == webhook.ReasonGone
	if w.Failures = int(hook.Failures); hook.FailingSince != nil {
		w.FailingSince = *hook.FailingSince
	}
	return n.send(ctx, tx, mail.Message{
		Kind: mail.KindWebhook, AccountID: hook.AccountID, Webhook: w, Timezone: row.Timezone, Language: locale.Or(row.Language, ""),
	}, to)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil { // it was checked when it was given
		return ""
	}
	return u.Host
}
