package webhook

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	pollEvery = 500 * time.Millisecond
	// claimMargin is the time that a claim lasts beyond the timeout of its attempt. When it has run
	// out, its process is taken for dead, and another one delivers.
	claimMargin = 15 * time.Second
	// noteTimeout bounds the recording of an attempt, and stopTimeout the return of a claim.
	noteTimeout = 5 * time.Second
	stopTimeout = 500 * time.Millisecond
)

// Deliverer is the service that sends due deliveries. Any number of processes may run one: each
// delivery is claimed by one of them, for a time, and no endpoint gets more at once than the
// settings allow.
//
// It polls Postgres rather than being notified: a look costs little, needs no connection of its
// own, and finds also what was queued while no process ran.
type Deliverer struct {
	*service.Loop
	w *Webhooks
}

// Deliverer returns the service. Call it once.
func (w *Webhooks) Deliverer() *Deliverer {
	d := &Deliverer{w: w}
	d.Loop = service.NewLoop("webhooks", d.run)
	return d
}

type job struct {
	delivery store.WebhookDelivery
	format   Format
	to       address
}

func (d *Deliverer) run(ctx context.Context, ready func()) error {
	// Attempts outlive the order to stop by a moment, which most of them need no more of.
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	ready()
	poll := time.NewTicker(pollEvery)
	defer poll.Stop()
	done := make(chan struct{}, d.w.config.Concurrency)
	flying, failing := 0, false
	look := true
	for ctx.Err() == nil {
		if free := d.w.config.Concurrency - flying; look && free > 0 {
			jobs, err := d.w.claim(ctx, free)
			if err != nil && ctx.Err() == nil {
				d.w.metrics.errors.Inc()
				if !failing { // once an outage, not at every look
					d.w.log.Warn("cannot read due webhook deliveries, will try again", "error", err)
				}
			}
			failing = err != nil
			for _, j := range jobs {
				flying++
				go func() {
					defer func() { done <- struct{}{} }()
					d.w.deliver(work, j)
				}()
			}
		}
		select {
		case <-ctx.Done():
		case <-poll.C:
			look = true
		case <-done:
			flying--
			look = !failing // there may be more for the same endpoint
		}
	}
	late := time.AfterFunc(d.w.grace, cancel)
	defer late.Stop()
	for ; flying > 0; flying-- {
		<-done
	}
	return nil
}

// claim takes deliveries that are due, at most so many.
func (w *Webhooks) claim(ctx context.Context, most int) (jobs []job, err error) {
	err = w.db.Transaction(ctx, func(tx pgx.Tx) error {
		q, now := store.New(tx), w.now()
		// Two statements: the second one has to see what others claimed until the first one had the
		// locks.
		endpoints, err := q.LockDueWebhooks(ctx, store.LockDueWebhooksParams{At: now, RowLimit: int64(most)})
		if err != nil || len(endpoints) == 0 {
			return err
		}
		rows, err := q.ClaimWebhookDeliveries(ctx, store.ClaimWebhookDeliveriesParams{
			EndpointIDs: endpoints, At: now, Until: now.Add(w.config.Timeout + claimMargin),
			MaxClaims: int64(w.config.PerEndpoint), RowLimit: int64(most),
		})
		for _, row := range rows {
			jobs = append(jobs, job{row.WebhookDelivery, Format(row.Format), address{row.Url, row.UrlSealed}})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	return jobs, nil
}

// deliver makes the attempt of a claim, and writes down how it went.
func (w *Webhooks) deliver(ctx context.Context, j job) {
	_, err := w.attempt(ctx, j)
	if err == nil || isLost(err) {
		return
	}
	if ctx.Err() == nil {
		// The claim runs out, and the message is sent again under the same id.
		w.metrics.errors.Inc()
		w.log.Warn("cannot record the outcome of a webhook delivery", "delivery_id", j.delivery.ID, "error", err)
		return
	}
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	err = store.New(w.db.Unscoped()).ReleaseWebhookDelivery(release, store.ReleaseWebhookDeliveryParams{ID: j.delivery.ID,
		Claim: claimOf(j.delivery)})
	if err != nil {
		w.log.Warn("cannot release a delivery; it waits until its claim expires", "delivery_id",
			j.delivery.ID, "error", err)
	}
}

// attempt sends a message, and settles the delivery.
func (w *Webhooks) attempt(ctx context.Context, j job) (store.WebhookDelivery, error) {
	secrets, err := w.secrets(ctx, j.delivery.EndpointID)
	if err != nil {
		return j.delivery, err
	}
	text, unreadable := w.body(j.delivery)
	to, unknown := w.url(j.delivery.EndpointID, j.to)
	a := &Attempt{AttemptedAt: api.TimeOf(w.now()), URL: to}
	switch {
	case j.format == JSON && len(secrets) == 0:
		a.fail("Its secret cannot be read by this installation: make a new one with rotate-secret.")
	case unknown != nil:
		a.fail("Its URL cannot be read by this installation: set it again.")
	case unreadable != nil:
		a.fail("The message cannot be read by this installation.")
	default:
		if a, err = w.send(ctx, to, j.delivery.EventID, text, secrets); err != nil {
			return j.delivery, err
		}
	}
	if j.format != JSON { // whoever has the URL can post
		a.URL = j.to.hint
	}
	// What was sent is written down even when the process is stopped now.
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	return w.settle(note, j.delivery, a)
}
