// Package requestid says which ids of requests are taken over from a client or a proxy, so that a
// request can be followed through all processes by one id.
package requestid

// Header carries the id, in the request if the sender has one, and in every answer.
const Header = "X-Request-Id"

// MaxLength is the length of the longest id that is taken over, in bytes.
const MaxLength = 128

// Valid reports whether an id is safe to log and to send back: 1 to MaxLength letters, digits,
// hyphens, underscores and dots of ASCII.
func Valid[T string | []byte](id T) bool {
	if len(id) == 0 || len(id) > MaxLength {
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
