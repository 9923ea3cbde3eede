package limit

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clientaddr"
)

const (
	shards   = 64
	maxShard = 4096 // buckets, so a quarter of a million in all
)

// AddressLimiter bounds how often a client address does something, in the memory of one process.
// Package ratelimit counts exactly across processes instead, and takes a query for it.
//
// It has a leaky bucket for each address, or for what an address does with one thing. A bucket
// holds one minute's worth, and is forgotten when it is empty. An address is known by a hash under
// a key of this process only, and an IPv6 network of 64 bits counts as one. It allocates nothing
// once a bucket exists, and is safe for concurrent use.
type AddressLimiter struct {
	each   time.Duration // time that one request is worth; 0: no limit
	seed   maphash.Seed
	began  time.Time // times are counted from here, by the monotonic clock, which cannot be set
	shards [shards]shard
}

type shard struct {
	mu   sync.Mutex
	full map[uint64]int64 // until when, in nanoseconds since began, a bucket is not empty
}

type key struct {
	addr netip.Addr
	of   uuid.UUID
}

// NewAddressLimiter returns a limiter that allows an address so many requests in a minute, or any
// number for 0.
func NewAddressLimiter(perMinute int) *AddressLimiter {
	l := &AddressLimiter{seed: maphash.MakeSeed(), began: time.Now()}
	if perMinute > 0 {
		l.each = time.Minute / time.Duration(perMinute)
	}
	for i := range l.shards {
		l.shards[i].full = map[uint64]int64{}
	}
	return l
}

// Take counts a request, or returns after how long it may be sent. Each thing that of names has a
// bucket of its own; the zero UUID stands for all requests of an address. An address that is not
// known is never refused: it may stand for many people.
func (l *AddressLimiter) Take(addr netip.Addr, of uuid.UUID, now time.Time) (wait time.Duration, ok bool) {
	return l.take(addr, of, now, true)
}

// Wait returns after how long the next request of an address may be sent, 0 for at once, and counts
// nothing.
func (l *AddressLimiter) Wait(addr netip.Addr, now time.Time) time.Duration {
	wait, _ := l.take(addr, uuid.Nil, now, false)
	return wait
}

func (l *AddressLimiter) take(addr netip.Addr, of uuid.UUID, now time.Time,
	counted bool) (wait time.Duration, ok bool) {
	if l.each == 0 || !addr.IsValid() {
		return 0, true
	}
	id := maphash.Comparable(l.seed, key{clientaddr.Network(addr), of})
	at := int64(now.Sub(l.began))
	s := &l.shards[id%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	until, known := s.full[id]
	if !known || until < at {
		until = at
	}
	next := until + int64(l.each)
	if over := next - at - int64(time.Minute); over > 0 {
		return time.Duration(over), false
	}
	if counted {
		if len(s.full) >= maxShard {
			s.forget(at)
		}
		s.full[id] = next
	}
	return 0, true
}

// forget drops empty buckets, or all if none is empty: forgetting some requests is better than
// refusing others.
func (s *shard) forget(at int64) {
	for id, until := range s.full {
		if until <= at {
			delete(s.full, id)
		}
	}
	if len(s.full) >= maxShard {
		clear(s.full)
	}
}
