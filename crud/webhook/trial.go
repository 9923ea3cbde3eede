package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

// testMargin is the time that a test takes beyond the answer of the endpoint.
const testMargin = 5 * time.Second

// test writes down a delivery as an event does, but claims and sends it at once, so that the answer
// can tell how it went. If the process dies meanwhile, whoever delivers finds the claim run out.
func (w *Webhooks) test(ctx context.Context, in *idInput) (*api.Answer[Delivery], error) {
	account, now := auth.From(ctx).AccountID, w.now()
	params := store.InsertWebhookTestParams{
		AccountID: account, EndpointID: in.ID, Kind: string(kindTest), ClaimedUntil: now.Add(w.config.Timeout + claimMargin),
	}
	for _, id := range []*uuid.UUID{&params.ID, &params.EventID, &params.Claim} {
		var err error
		if *id, err = uuid.NewV7(); err != nil {
			return nil, fmt.Errorf("make id: %w", err)
		}
	}
	var j job
	err := w.db.Account(ctx, account, func(tx pgx.Tx) error {
		endpoint, err := read(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		j.format, j.to = Format(endpoint.Format), address{endpoint.Url, endpoint.UrlSealed}
		text, err := j.format.encode(testData{in.ID, testMessage}, now)
		if err != nil {
			return err
		}
		if params.BodySealed, err = w.tokens.Seal(sealingMessages, []byte(text), params.ID[:]); err != nil {
			return fmt.Errorf("seal test: %w", err)
		}
		j.delivery, err = store.New(tx).InsertWebhookTest(ctx, params)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("test webhook: %w", err)
	}
	settled, err := w.attempt(ctx, j)
	if err != nil {
		return nil, fmt.Errorf("test webhook: %w", err)
	}
	shown, err := w.show(settled)
	if err != nil {
		return nil, err
	}
	return api.OK(shown), nil
}
