package source

import "net/http"

// Withheld reports whether a visitor asked not to be tracked, by Global Privacy Control or by the
// older Do Not Track. Then nothing of where the visit came from is stored.
func Withheld(h http.Header) bool {
	return h.Get("Sec-Gpc") == "1" || h.Get("Dnt") == "1"
}
