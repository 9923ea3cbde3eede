package collector

import "sync/atomic"

// admission bounds what is worked on at the same time, so that under overload some are told at
// once to come back later, and nobody waits for long. Each of its requests waits for Kafka or the
// disk, so the number of them is the queue as well: there is no other.
type admission struct {
	maxRequests, maxBytes int64
	requests, bytes       atomic.Int64
}

// ticket is what one request holds of it.
type ticket struct {
	admission *admission
	bytes     int64
}

// enter admits a request that takes so many bytes, or does not.
func (a *admission) enter(bytes int64) (ticket, bool) {
	t := ticket{a, 0}
	if a.requests.Add(1) > a.maxRequests || !t.grow(bytes) {
		t.leave()
		return ticket{}, false
	}
	return t, true
}

// grow takes more bytes, or nothing if there are not enough.
func (t *ticket) grow(bytes int64) bool {
	if t.admission.bytes.Add(bytes) > t.admission.maxBytes {
		t.admission.bytes.Add(-bytes)
		return false
	}
	t.bytes += bytes
	return true
}

func (t *ticket) leave() {
	t.admission.requests.Add(-1)
	t.admission.bytes.Add(-t.bytes)
}
