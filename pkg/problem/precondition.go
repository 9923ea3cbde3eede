package problem

import "net/http"

// Stale returns the answer to a change of an outdated state: a conflict with the HTTP status 412.
func Stale(what string) *Problem {
	p := New(Conflict, "This "+what+
		" was changed since you read it. Read it again, then repeat the change if it still applies. Nothing was changed.")
	p.Status = http.StatusPreconditionFailed
	return p
}
