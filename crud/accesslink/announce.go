package accesslink

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/webhook"
)

// announce tells the account's webhooks of links that the transaction makes.
func (l *Links) announce(ctx context.Context, tx pgx.Tx, account uuid.UUID, created ...AccessLink) error {
	events := make([]webhook.LinkCreated, len(created))
	for i, a := range created {
		events[i] = webhook.LinkCreated{
			Link: webhook.Link{
				AccessLinkID: a.ID, LeadMagnetID: a.LeadMagnetID, GenericLinkID: a.GenericLinkID, SubmissionID: a.SubmissionID,
				Email: *a.Email, Source: string(a.Source),
			},
			URL: *a.URL, MaxViews: a.MaxViews, ExpiresAt: a.ExpiresAt, CreatedAt: a.CreatedAt,
		}
	}
	return webhook.Emit(ctx, tx, l.deps.Tokens, account, events...)
}
