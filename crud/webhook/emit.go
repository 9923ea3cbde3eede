// Package webhook tells an account's endpoints what happens, by the Standard Webhooks
// specification, and sends the account's notices to chat programs.
//
// An event is written down, once for each endpoint that asked for its kind, in the transaction of
// what it tells of (Emit): so no endpoint hears of what was rolled back, and none misses what was
// committed. Every process delivers what is due (Deliverer), at least once, under an id that stays
// the same.
package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Emit writes down that events happened, for every endpoint of the account that asked for their
// kind. tx is the transaction of what happened, within the account's scope or outside of any; its
// commit lets the deliveries begin. tokens seals their bodies. The events are of one kind. Without
// an endpoint for it, Emit is one short read.
func Emit[E Event](ctx context.Context, tx pgx.Tx, tokens *token.Ring, account uuid.UUID, events ...E) error {
	if len(events) == 0 {
		return nil
	}
	q, kind := store.New(tx), events[0].kind()
	endpoints, err := q.WebhookEndpointsFor(ctx, store.WebhookEndpointsForParams{AccountID: account, Kind: string(kind)})
	if err != nil {
		return fmt.Errorf("find webhooks for %s: %w", kind, err)
	}
	if len(endpoints) == 0 {
		return nil
	}
	rows := store.InsertWebhookDeliveriesParams{AccountID: account, Kind: string(kind)}
	now := time.Now()
	for _, e := range events {
		event, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make id: %w", err)
		}
		for _, endpoint := range endpoints {
			body, err := Format(endpoint.Format).encode(e, now)
			if err != nil {
				return err
			}
			id, err := uuid.NewV7()
			if err != nil {
				return fmt.Errorf("make id: %w", err)
			}
			sealed, err := tokens.Seal(sealingMessages, []byte(body), id[:])
			if err != nil {
				return fmt.Errorf("seal %s: %w", kind, err)
			}
			rows.IDs, rows.EndpointIDs = append(rows.IDs, id), append(rows.EndpointIDs, endpoint.ID)
			rows.EventIDs, rows.BodiesSealed = append(rows.EventIDs, event), append(rows.BodiesSealed, sealed)
		}
	}
	if err := q.InsertWebhookDeliveries(ctx, rows); err != nil {
		return fmt.Errorf("write down %s: %w", kind, err)
	}
	return nil
}
