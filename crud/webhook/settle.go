package webhook

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// The states of a delivery.
const (
	statePending   = "pending"
	stateDelivered = "delivered"
	stateFailed    = "failed"
)

const (
	// jitter is the part of a delay by which it may be shorter or longer.
	jitter = 0.1
	// maxRetryAfter bounds the delay that an endpoint can ask for.
	maxRetryAfter = 24 * time.Hour
	// keepAttempts is how many attempts of a delivery the log keeps.
	keepAttempts = 20
	// disableAfter is how long an endpoint fails without a success before it is disabled: five days.
	disableAfter = 5 * 24 * time.Hour
	// disableFailures is how many attempts must have failed before an endpoint is disabled, so that a
	// quiet one is not disabled for two bad moments that lie days apart.
	disableFailures = 10
)

// schedule is the delay after each failed attempt; after the last one the message is given up.
var schedule = [...]time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 24 * time.Hour}

// settle writes down an attempt, and what follows from it for the delivery and its endpoint. It
// takes the endpoint before the delivery, as everything does that takes both.
func (w *Webhooks) settle(ctx context.Context, d store.WebhookDelivery, a *Attempt) (store.WebhookDelivery, error) {
	kept := keptAttempt{Attempt: *a}
	if err := kept.seal(w.tokens, d.ID); err != nil {
		return d, err
	}
	text, err := json.Marshal(kept)
	if err != nil {
		return d, fmt.Errorf("encode attempt: %w", err)
	}
	now := w.now()
	row := store.SettleWebhookDeliveryParams{ID: d.ID, Claim: claimOf(d), Keep: keepAttempts, Attempt: text}
	disabled := false
	err = w.db.Transaction(ctx, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		row.State, row.Reason, row.NextAttemptAt, row.SettledAt = stateDelivered, nil, nil, &now
		disabled = false
		switch {
		case Kind(d.Kind) == kindTest: // says nothing about other messages
			if !a.delivered() {
				row.State, row.Reason = stateFailed, new("It was a test, which is not repeated.")
			}
		case a.delivered():
			err = q.WebhookSucceeded(ctx, d.EndpointID)
		default:
			disabled, err = w.failed(ctx, tx, d, a, now, &row)
		}
		if err != nil {
			return err
		}
		d, err = q.SettleWebhookDelivery(ctx, row)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("write down attempt: %w", err)
	}
	result := resultDelivered
	if !a.delivered() {
		result = resultFailed
	}
	w.metrics.attempts.WithLabelValues(result).Inc()
	if disabled {
		w.metrics.disabled.Inc()
		w.log.Warn("disabled a failing webhook", "webhook_id", d.EndpointID, "account_id", d.AccountID)
	}
	return d, nil
}

// failed decides the next step after a failed attempt, and reports whether it disabled the
// endpoint. Then the owner gets a mail.
func (w *Webhooks) failed(ctx context.Context, tx pgx.Tx, d store.WebhookDelivery, a *Attempt, now time.Time,
	row *store.SettleWebhookDeliveryParams) (disabled bool, err error) {
	q := store.New(tx)
	endpoint, err := q.WebhookFailed(ctx, store.WebhookFailedParams{ID: d.EndpointID, At: now})
	if err != nil {
		return false, err
	}
	why, gone := "", 0
	switch {
	case a.gone(Format(endpoint.Format)):
		gone = *a.StatusCode
		why = fmt.Sprintf("It answered with %d: it wants no more messages.", gone)
	case endpoint.Failures >= disableFailures && !now.Before(endpoint.FailingSince.Add(disableAfter)):
		why = fmt.Sprintf("It failed for 5 days without a success, %d times in a row.", endpoint.Failures)
	}
	row.State = stateFailed
	switch {
	case why != "" && endpoint.IsActive:
		disabled = true
		if endpoint, err = q.DisableWebhook(ctx, store.DisableWebhookParams{ID: d.EndpointID,
			Reason: why, At: now}); err != nil {
			return false, err
		}
		if err := w.drop(ctx, tx, d.EndpointID); err != nil {
			return false, err
		}
		if w.notifier != nil {
			if err := w.notifier.WebhookDisabled(ctx, tx, endpoint, gone); err != nil {
				return false, err
			}
		}
		fallthrough
	case !endpoint.IsActive:
		row.Reason = new(dropped)
	case int(d.Tries) >= len(schedule):
		row.Reason = new(fmt.Sprintf("It was given up after %d attempts.", d.Tries+1))
	default:
		next := now.Add(delay(int(d.Tries), a.retryAfter))
		row.State, row.NextAttemptAt, row.SettledAt = statePending, &next, nil
	}
	return disabled, nil
}

// dropped is the reason of a delivery whose endpoint is not active.
const dropped = "The webhook is not active."

// drop gives up what waits for an endpoint that is not active.
func (w *Webhooks) drop(ctx context.Context, tx pgx.Tx, endpoint uuid.UUID) error {
	if err := store.New(tx).DropWebhookDeliveries(ctx, store.DropWebhookDeliveriesParams{ID: endpoint, At: w.now(),
		Reason: dropped}); err != nil {
		return fmt.Errorf("give up deliveries: %w", err)
	}
	return nil
}

// delay returns how long to wait after so many failed attempts before this one.
func delay(before int, asked time.Duration) time.Duration {
	planned := float64(schedule[before]) * (1 - jitter + 2*jitter*rand.Float64())
	return max(time.Duration(planned), min(asked, maxRetryAfter))
}

func claimOf(d store.WebhookDelivery) uuid.UUID {
	if d.Claim == nil {
		return uuid.Nil
	}
	return *d.Claim
}

// isLost reports whether an error of settle says that the claim is not held any more: another
// process makes the same delivery, or has made it.
func isLost(err error) bool { return errors.Is(err, pgx.ErrNoRows) }
