package ratelimit

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Seconds returns the time until the window ends in whole seconds, rounded up: who waits as long is
// not refused again.
func (s State) Seconds() int64 { return max(1, int64((s.Reset+time.Second-1)/time.Second)) }

// WriteHeader sets the headers that tell a client where it stands: RateLimit-Policy and RateLimit
// (draft-ietf-httpapi-ratelimit-headers), and their older relatives, in which X-RateLimit-Reset is
// the time of the window's end in seconds since 1970.
func (s State) WriteHeader(h http.Header, now time.Time) {
	h.Set("RateLimit-Policy", fmt.Sprintf(`"%s";q=%d;w=%d`, s.Name, s.Quota, int64(Window/time.Second)))
	h.Set("RateLimit", fmt.Sprintf(`"%s";r=%d;t=%d`, s.Name, s.Remaining, s.Seconds()))
	h.Set("X-RateLimit-Limit", strconv.Itoa(s.Quota))
	h.Set("X-RateLimit-Remaining", strconv.Itoa(s.Remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(now.Unix()+s.Seconds(), 10))
}
