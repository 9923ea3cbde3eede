package collector

import (
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// admission bounds what is worked on at the same time, so that under overload some are refused at
// once, and the others do not wait for long. Each of its requests waits for Kafka or the disk, so
// the number of them is the queue as well: there is no other.
type admission struct {
	maxRequests, maxBytes int64
	requests, bytes       atomic.Int64
}

// permit is what one request holds of it.
type permit struct {
	admission *admission
	bytes     int64
}

// acquire admits a request that takes so many bytes, or does not.
func (a *admission) acquire(bytes int64) (permit, bool) {
	p := permit{a, 0}
	if a.requests.Add(1) > a.maxRequests || !p.grow(bytes) {
		p.release()
		return permit{}, false
	}
	return p, true
}

// grow takes more bytes, or nothing if there are not enough.
func (p *permit) grow(bytes int64) bool {
	if p.admission.bytes.Add(bytes) > p.admission.maxBytes {
		p.admission.bytes.Add(-bytes)
		return false
	}
	p.bytes += bytes
	return true
}

func (p *permit) release() {
	p.admission.requests.Add(-1)
	p.admission.bytes.Add(-p.bytes)
}

// linksPerAddress is how many times the views of one link an address may send of all links
// together.
const linksPerAddress = 10

// takeView counts a view of a landing page, or rejects it and returns after how long it may be sent
// again. The link is asked first: what is refused of one link takes nothing from the others.
func (c *Collector) takeView(from netip.Addr, link uuid.UUID, now time.Time) (wait time.Duration, f *fieldError) {
	if wait, ok := c.views.Take(from, link, now); !ok {
		return wait, &fieldError{RateLimited, "there were too many views of this link from this address in the last minute; send it again later"}
	}
	if wait, ok := c.allViews.Take(from, uuid.Nil, now); !ok {
		return wait, &fieldError{RateLimited, "there were too many views from this address in the last minute; send it again later"}
	}
	return 0, nil
}

// exceeded returns the message for senders of an account that has used up its events of the month,
// or "".
func (c *Collector) exceeded(account uuid.UUID, at time.Time) string {
	if c.deps.Quotas == nil {
		return ""
	}
	return c.deps.Quotas.Exceeded(account, at)
}
