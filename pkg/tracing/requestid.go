package tracing

// RequestIDHeader carries the id of a request, by which it can be followed through all processes:
// in the request if the sender has one, and in every answer.
const RequestIDHeader = "X-Request-Id"

// MaxRequestID is the length of the longest id that is taken over, in bytes.
const MaxRequestID = 128

// ValidRequestID reports whether an id is safe to log and to send back: 1 to MaxRequestID letters,
// digits, hyphens, underscores and dots of ASCII.
func ValidRequestID[T string | []byte](id T) bool {
	if len(id) == 0 || len(id) > MaxRequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}
