package collector

import (
	"github.com/valyala/fasthttp"

	"lodestone/pkg/event"
)

// objects reports whether the sender asked not to be tracked: Global Privacy Control or the older
// Do Not Track.
func objects(h *fasthttp.RequestHeader) bool {
	return string(h.PeekCanonical(headerSecGPC)) == "1" || string(h.PeekCanonical(headerDNT)) == "1"
}

// withheld reports whether the sender says that the connection is not the visitor's (RFC 7239): a
// server that reports for somebody else, and so would give all its visitors one hash. Anybody may say
// so, since it takes nothing from others.
func withheld(h *fasthttp.RequestHeader) bool {
	return string(h.PeekCanonical(headerForwardedKey)) == "for=unknown"
}

// userAgent returns the sender's user agent as it is kept: valid UTF-8 of at most MaxAgentBytes.
// It aliases the header if nothing had to be changed.
func userAgent(raw []byte) []byte {
	return sound(raw, event.MaxAgentBytes)
}
