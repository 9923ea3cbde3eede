package collector

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// admission bounds what is worked on at the same time, so that under overload some are refused at once,
// and the others do not wait for long. Each of its requests waits for Kafka or the
// disk, so the number of them is the queue as well: there is no other.
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

const (
	limitShards       = 64
	maxAddressesShard = 4096
)

// addressLimit bounds the requests of each address, or what an address sends about one link. It knows addresses by a hash under a key of
// this process only, and those of an IPv6 network of 64 bits as one. It is a leaky bucket that holds
// one minute's worth, and forgets an address that has been quiet for as long.
type addressLimit struct {
	each   time.Duration // time that a request is worth; 0: no limit
	burst  time.Duration
	seed   maphash.Seed
	began  time.Time // times are counted from here, by the monotonic clock, which cannot be set
	shards [limitShards]limitShard
}

type limitShard struct {
	mu   sync.Mutex
	full map[uint64]int64 // until when, in nanoseconds since began, the bucket of an address is not empty
}

type limitKey struct {
	addr netip.Addr
	link uuid.UUID
}

func newAddressLimit(perMinute int) *addressLimit {
	l := &addressLimit{seed: maphash.MakeSeed(), burst: time.Minute, began: time.Now()}
	if perMinute > 0 {
		l.each = time.Minute / time.Duration(perMinute)
	}
	for i := range l.shards {
		l.shards[i].full = make(map[uint64]int64)
	}
	return l
}

// take counts a request, or returns after how long it may be sent. Each link has a bucket of its own; the zero UUID
// stands for all of an address's requests.
func (l *addressLimit) take(addr netip.Addr, link uuid.UUID, now time.Time) (wait time.Duration, ok bool) {
	if l.each == 0 || !addr.IsValid() {
		return 0, true
	}
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil { // it never fails for 64
			addr = network.Addr()
		}
	}
	key := maphash.Comparable(l.seed, limitKey{addr, link})
	at := int64(now.Sub(l.began))
	s := &l.shards[key%limitShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	until := max(s.full[key], at)
	if next := until + int64(l.each); next-at <= int64(l.burst) {
		if len(s.full) >= maxAddressesShard {
			s.forget(at)
		}
		s.full[key] = next
		return 0, true
	}
	return time.Duration(until + int64(l.each) - int64(l.burst) - at), false
}

// forget drops addresses whose buckets are empty. If all are in use, which takes a quarter of a
// million addresses, it drops all: forgetting some requests is better than refusing others.
func (s *limitShard) forget(at int64) {
	for key, until := range s.full {
		if until <= at {
			delete(s.full, key)
		}
	}
	if len(s.full) >= maxAddressesShard {
		clear(s.full)
	}
}

// linksPerAddress is how many times the views of one link an address may send of all links together.
const linksPerAddress = 10

// takeView counts a view of a landing page, or rejects it and returns after how long it may be sent again. The link is asked
// first: what is refused of one link takes nothing from the others.
func (c *Collector) takeView(from netip.Addr, link uuid.UUID, now time.Time) (wait time.Duration, f *fieldError) {
	if wait, ok := c.views.take(from, link, now); !ok {
		return wait, &fieldError{RateLimited, "there were too many views of this link from this address in the last minute; send it again later"}
	}
	if wait, ok := c.allViews.take(from, uuid.Nil, now); !ok {
		return wait, &fieldError{RateLimited, "there were too many views from this address in the last minute; send it again later"}
	}
	return 0, nil
}

// exceeded returns the message for senders of an account that has used up its events of the month, or "".
func (c *Collector) exceeded(account uuid.UUID, at time.Time) string {
	if c.deps.Quotas == nil {
		return ""
	}
	return c.deps.Quotas.Exceeded(account, at)
}
