package problem

import "net/http"

// Stale returns the answer to a change of a state that is no longer the present one: a conflict
// that HTTP tells by the status 412.
func Stale(what string) *Problem {
	p := New(Conflict, "This "+what+" was changed since you read it: read it again, and decide anew. Nothing was changed.")
	p.Status = http.StatusPreconditionFailed
	return p
}
