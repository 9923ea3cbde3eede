package collector

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"
)

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
	began  time.Time // times are counted from here, by the monotonic clock, which nobody sets
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

// take counts a request, or returns after how long there is room for it. Each link has a bucket of its own; the zero UUID
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
// million addresses, it drops all: to forget somebody's requests is better than to refuse others'.
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
