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

// permit is the share of an admission that one request holds.
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

// release gives back what is held, if anything is.
func (p *permit) release() {
	if p.admission == nil {
		return
	}
	p.admission.requests.Add(-1)
	p.admission.bytes.Add(-p.bytes)
}

// requestOverhead is the approximate memory of a request beside its body.
const requestOverhead = 4 << 10

// admit lets a request with a body of so many bytes in, until its scratch is released. It looks at
// nothing that takes time: under overload most requests get no further.
func (c *Collector) admit(s *scratch, bytes int) *requestProblem {
	held, ok := c.admission.acquire(int64(bytes) + requestOverhead)
	if !ok {
		reason := refusedBytes
		if c.admission.requests.Load() >= c.admission.maxRequests {
			reason = refusedRequests
		}
		c.metrics.refused[reason].Inc()
		return overloaded
	}
	s.held = held
	return nil
}

// bodyBudget bounds the memory of large bodies that are still on their way: each takes of it as it
// grows, by what has arrived, not by what was announced. A body that the server has read together
// with its headers takes nothing, so that clients which send slowly keep none of the small ones
// out.
type bodyBudget struct {
	max  int64
	used atomic.Int64
}

func (b *bodyBudget) take(n int64) bool {
	if b.used.Add(n) > b.max {
		b.used.Add(-n)
		return false
	}
	return true
}

// linksPerAddress is how many times the views of one link an address may send of all links
// together.
const linksPerAddress = 10

// takeView counts a view of a landing page, or rejects it and returns after how long it may be sent
// again. The link is asked first: what is refused of one link takes nothing from the others.
func (c *Collector) takeView(from netip.Addr, link uuid.UUID, now time.Time) (wait time.Duration, f *fieldError) {
	if wait, ok := c.views.Take(from, link, now); !ok {
		return wait, &fieldError{RateLimited,
			"there were too many views of this link from this address in the last minute; send it again later"}
	}
	if wait, ok := c.allViews.Take(from, uuid.Nil, now); !ok {
		return wait, &fieldError{RateLimited,
			"there were too many views from this address in the last minute; send it again later"}
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
