package api

import "slices"

// At sets the revision of an answer, and returns the answer.
func (a *Answer[T]) At(revision int64) *Answer[T] {
	a.Revision = revision
	return a
}

// Matches reports whether a revision is one of those that Revisions returned.
func Matches(revision int64, revisions []int64) bool {
	return revisions == nil || slices.Contains(revisions, revision)
}
