package bench

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
)

// queried is the query service on stored events, and who asks it: somebody of the largest account.
type queried struct {
	process *Process
	address string // of the API
	account uuid.UUID
	recipient
}

// startQueried stores events instead of what there is, gives somebody so many access links of the largest account, and
// starts the query service. The caller stops the process.
func (b *Bench) startQueried(ctx context.Context, e *Engines, store driver.Conn, events *traffic.Generator, rows int64, links int) (q queried, err error) {
	b.Sayf("storing %d events", rows)
	if err := e.fillAgain(ctx, store, events, rows); err != nil {
		return q, err
	}
	q.account = events.Accounts()[0]
	if q.recipient, err = e.addRecipient(ctx, store, q.account, links); err != nil {
		return q, err
	}
	q.process, q.address, err = b.startQuery(ctx, e)
	return q, err
}

// startQuery starts the query service, with limits of requests that nobody reaches. The caller stops it.
func (b *Bench) startQuery(ctx context.Context, e *Engines) (p *Process, address string, err error) {
	if address, err = FreeAddress(); err != nil {
		return nil, "", err
	}
	p, err = b.Lodestone(ctx, e, "query", "LISTEN="+address,
		"LIMIT_REQUESTS_PER_MINUTE=10000000", "LIMIT_ANALYTICS_PER_MINUTE=10000000", "LIMIT_ANALYTICS_EMAIL_PER_MINUTE=10000000")
	return p, address, err
}
