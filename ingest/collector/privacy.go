package collector

import (
	"unicode/utf8"

	"github.com/valyala/fasthttp"

	"lodestone/pkg/event"
)

// objects reports whether the sender asked not to be tracked: Global Privacy Control or the older
// Do Not Track.
func objects(h *fasthttp.RequestHeader) bool {
	return string(h.Peek("Sec-GPC")) == "1" || string(h.Peek("DNT")) == "1"
}

// userAgent returns the sender's user agent as it is kept: valid UTF-8 of at most MaxAgentBytes.
// It aliases the header if nothing had to be changed.
func userAgent(raw []byte) []byte {
	if len(raw) > event.MaxAgentBytes {
		cut := event.MaxAgentBytes
		// Not in the middle of a character; no character has more than three bytes after its first.
		for back := 0; back < utf8.UTFMax-1 && cut > 0 && !utf8.RuneStart(raw[cut]); back++ {
			cut--
		}
		raw = raw[:cut]
	}
	if utf8.Valid(raw) {
		return raw
	}
	valid := make([]byte, 0, event.MaxAgentBytes)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw) // a broken byte becomes U+FFFD, which is longer
		if len(valid)+utf8.RuneLen(r) > event.MaxAgentBytes {
			break
		}
		valid, raw = utf8.AppendRune(valid, r), raw[size:]
	}
	return valid
}
