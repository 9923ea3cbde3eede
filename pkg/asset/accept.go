package asset

import (
	"strconv"
	"strings"
)

// Accepts reports whether a client that sent this Accept-Encoding takes a content coding (RFC 9110,
// section 12.5.3).
func Accepts(accepted, coding string) bool {
	accepts, named := false, false
	for part := range strings.SplitSeq(accepted, ",") {
		name, params, _ := strings.Cut(part, ";")
		name = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(name)), "x-") // x-gzip is gzip
		if name != coding && (name != "*" || named) {
			continue
		}
		named = name != "*"
		accepts = true
		if key, value, found := strings.Cut(strings.TrimSpace(params), "="); found &&
			strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			accepts = err == nil && q > 0
		}
	}
	return accepts
}
