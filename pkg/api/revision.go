package api

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/problem"
)

// Precondition is embedded in the input of an operation that changes or deletes a thing with a
// revision: a number that every change raises. The operation compares in the statement that
// changes, so that of many who saw the same state one changes it.
type Precondition struct {
	IfMatch *string `header:"If-Match" maxLength:"1024" doc:"ETag of the state to change, several ETags, or *. If the state has another ETag, nothing is changed and the answer is 412."`
}

// Revisions returns the revisions that may be changed, nil for any, or the problem of a header
// that is malformed. A tag that is not one of ours is no revision, so the list may be empty.
func (p Precondition) Revisions() ([]int64, error) {
	if p.IfMatch == nil || strings.TrimSpace(*p.IfMatch) == "*" {
		return nil, nil
	}
	tags, ok := entityTags(*p.IfMatch)
	if !ok {
		return nil, problem.Parameter(problem.Field{Field: "If-Match",
			Message: `must be entity tags in quotes, as an ETag header has them, or *`})
	}
	revisions := []int64{}
	for _, tag := range tags {
		number, _, found := strings.Cut(tag, "-")
		if n, err := strconv.ParseInt(number, 10, 64); found && err == nil && n > 0 {
			revisions = append(revisions, n)
		}
	}
	return revisions, nil
}

// entityTag returns the ETag of an answer: the revision, which If-Match compares, and a digest of
// the body, which also has what changes by itself, such as counters. So a view that is counted
// between reading and changing does not refuse the change, and yet is no reason for a 304.
func entityTag(revision int64, body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + strconv.FormatInt(revision, 10) + "-" + hex.EncodeToString(sum[:8]) + `"`
}

// entityTags reads a list of entity tags (RFC 9110, section 8.8.3) without their quotes. Weak ones
// count as well: what compresses an answer on its way makes its tag weak, and the revision in it
// stays exact.
func entityTags(list string) (tags []string, ok bool) {
	for rest := list; ; {
		rest = strings.TrimLeft(rest, " \t,")
		if rest == "" {
			return tags, len(tags) > 0
		}
		quoted, opened := strings.CutPrefix(strings.TrimPrefix(rest, "W/"), `"`)
		tag, after, closed := strings.Cut(quoted, `"`)
		if !opened || !closed {
			return nil, false
		}
		rest = strings.TrimLeft(after, " \t")
		if rest != "" && rest[0] != ',' {
			return nil, false
		}
		tags = append(tags, tag)
	}
}

// unchanged reports whether the sender of a request to read has the answer with this tag already.
func unchanged(r *http.Request, tag string) bool {
	if !reads(r) {
		return false
	}
	list := strings.Join(r.Header.Values("If-None-Match"), ", ")
	if strings.TrimSpace(list) == "*" {
		return true
	}
	tags, ok := entityTags(list)
	return ok && slices.Contains(tags, strings.Trim(strings.TrimPrefix(tag, "W/"), `"`))
}

// taggedAnswer is an answer with a revision. shown is nil if it is the body.
type taggedAnswer struct {
	status      int
	header      http.Header
	body, shown any
	revision    int64
}

// writeTagged is WriteJSON for a body with a revision. It answers 304 to who has it already, and
// 412 to who reads under an If-Match of another revision.
func writeTagged(w http.ResponseWriter, r *http.Request, a taggedAnswer) error {
	text, err := encode(a.body)
	if err != nil {
		return err
	}
	shown := text
	if a.shown != nil {
		if shown, err = encode(a.shown); err != nil {
			return err
		}
	}
	if lines := r.Header.Values("If-Match"); len(lines) > 0 && reads(r) {
		revisions, err := Precondition{IfMatch: new(strings.Join(lines, ", "))}.Revisions()
		if err != nil {
			return err
		}
		if !Matches(a.revision, revisions) {
			return problem.Stale("thing")
		}
	}
	return writeUnlessUnchanged(w, r, a.status, a.header, text, entityTag(a.revision, shown))
}

func reads(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

// TimelessBody is a report's body without the time of the answer, which changes although nothing
// else does.
type TimelessBody interface{ Timeless() any }

// writeReport is WriteJSON for a body that is computed. Its ETag is weak: it compares the numbers,
// not the bytes. It answers 304 to who has it already.
func writeReport(w http.ResponseWriter, r *http.Request, status int, header http.Header, body any) error {
	text, err := encode(body)
	if err != nil {
		return err
	}
	compared := text
	if t, ok := body.(TimelessBody); ok {
		if compared, err = encode(t.Timeless()); err != nil {
			return err
		}
	}
	sum := sha256.Sum256(compared)
	return writeUnlessUnchanged(w, r, status, header, text, `W/"`+hex.EncodeToString(sum[:8])+`"`)
}

// writeUnlessUnchanged answers with the text, or with 304 to who has the answer with this tag
// already.
func writeUnlessUnchanged(w http.ResponseWriter, r *http.Request, status int, header http.Header,
	text []byte, tag string) error {
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "no-store") // it may hold a personal link
	if unchanged(r, tag) {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	return WriteJSON(w, status, header, jsontext.Value(text))
}

// describeTag adds to the description what a revision brings.
func (a *API) describeTag(op *Operation, doc *DescribedOperation, success *response) {
	success.Headers["ETag"] = &header{Ref: "#/components/headers/ETag"}
	if op.Method == http.MethodGet {
		a.describeNotModified(doc)
	}
}

// Of sets what reading the thing answers with, and returns the answer.
func (a *Answer[T]) Of(shown any) *Answer[T] {
	a.Shown = shown
	return a
}

// At sets the revision of an answer, and returns the answer.
func (a *Answer[T]) At(revision int64) *Answer[T] {
	a.Revision = revision
	return a
}

// Matches reports whether a revision is one of those that Revisions returned.
func Matches(revision int64, revisions []int64) bool {
	return revisions == nil || slices.Contains(revisions, revision)
}
