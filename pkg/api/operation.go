package api

import (
	"context"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

// Operation says what an operation is and what it asks for.
type Operation struct {
	ID     string // unique name, such as list-generic-links
	Method string
	Path   string // with {name} for parameters
	Scope  auth.Scope
	// Also has the scopes that a caller needs besides, since what the operation hands out allows as
	// much.
	Also        []auth.Scope
	Summary     string
	Description string
	Tag         string
	Status      int            // of success; default 200
	PerPage     PageSize       // of an input that embeds Paging
	Tagged      bool           // its answers have a revision, and so an ETag
	Report      bool           // its answers are computed, and have a weak ETag of what they say but the time
	MaxBody     int64          // bytes; default 1 MiB
	Timeout     time.Duration  // of the whole operation; default 30 s
	Limit       ratelimit.Name // what its requests are counted under; default ratelimit.Requests
	// Safe says that a POST changes nothing, so that it takes no Idempotency-Key.
	Safe bool
	// Secret says that the answer shows something once only: it is not kept for an
	// Idempotency-Key.
	Secret bool
	// BodyExample and AnswerExample are shown in the description: values that encode as JSON. The
	// tests of the contract send the first one.
	BodyExample, AnswerExample any
	Errors                     []problem.Code // beyond those that follow from the above
	// ReadOnly names fields that things of this kind have and a body cannot set: the message
	// to who tries says so. Register adds the fields of its answer.
	ReadOnly []string
	// NotHere has the messages about such fields that another operation sets.
	NotHere map[string]string
	// Audited says that the operation calls auth.RecordRead before it answers, although it only reads:
	// an export of personal data.
	Audited bool
	// Sessions says that the cookie of a session of the dashboard stands for a key, on requests of the
	// dashboard's own pages.
	Sessions bool
	// Ranges says that a RegisterRaw operation answers like http.ServeContent: parts of its answer can
	// be asked for, and nothing is sent again that the client has.
	Ranges bool
	// Body describes the body of a RegisterRaw operation; content type to schema.
	Body map[string]*jsonschema.Schema
	// Answers describes the answers of a RegisterRaw operation; content type to schema.
	Answers map[string]*jsonschema.Schema
}

const (
	defaultMaxBody = 1 << 20
	defaultTimeout = 30 * time.Second
)

// Answer is the answer of a typed operation.
type Answer[T any] struct {
	Status int // 0: the operation's
	Header http.Header
	Body   T
	// Revision, of an operation that is Tagged, counts the changes of what the body shows, from 1.
	Revision int64
	// Shown, of an operation that is Tagged, is the body that reading the thing would answer, if it
	// differs from Body. The ETag is computed from it.
	Shown any
}

// Empty is the body of an answer without one.
type Empty struct{}

// OK returns an answer with a body.
func OK[T any](body T) *Answer[T] { return &Answer[T]{Body: body} }

// Created returns the answer 201 to a request that created the resource at a location.
func Created[T any](location string, body T) *Answer[T] {
	return &Answer[T]{Status: http.StatusCreated, Header: http.Header{"Location": {location}}, Body: body}
}

// Register adds an operation. In is a struct whose fields are
//   - `path:"id"`: a string or a uuid.UUID (another text is answered with 404);
//   - `header:"Name"`: as query below;
//   - `query:"name"`: a string, int, bool, uuid.UUID or time.Time, or a pointer to one of them, nil
//     when the parameter is absent; `required:"true"`, `default`, `enum`, `minimum`, `maximum`,
//     `minLength`, `maxLength`, `pattern`, `patternDescription` and `doc` as in package jsonschema;
//   - Body, a struct: the JSON body. A field is required unless tagged `required:"false"`; a
//     pointer may be null; the other tags are as above. Strings are single lines unless
//     `format:"text"`; `format:"uuid"` and `format:"date-time"` are checked.
//
// The function is called with what passed all that, by a caller who has the scope; it may be
// called concurrently. Its errors are answered as problem.From decides. Register panics when the
// operation cannot be: that is a mistake in the program.
func Register[In, Out any](a *API, op Operation, fn func(ctx context.Context, in *In) (*Answer[Out], error)) {
	out := reflect.TypeFor[Out]()
	b := newBinder[In](a, &op, out)
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	doc := a.describe(&op, b)
	var body map[string]*MediaType
	if out != reflect.TypeFor[Empty]() {
		body = map[string]*MediaType{
			"application/json": {Schema: a.schemas.Of(out, op.ID+"-answer"), Example: op.AnswerExample},
		}
	}
	success := a.success(&op, body)
	if op.Tagged || op.Report {
		a.describeTag(&op, doc, success)
	}
	doc.Responses[strconv.Itoa(op.Status)] = success
	a.openapi.add(doc)
	a.serve(op, func(w http.ResponseWriter, r *http.Request) error {
		in := new(In)
		if err := b.bind(w, r, in); err != nil {
			return err
		}
		answer, err := fn(r.Context(), in)
		if err != nil {
			return err
		}
		status := answer.Status
		if status == 0 {
			status = op.Status
		}
		switch {
		case op.Tagged:
			return writeTagged(w, r, taggedAnswer{status, answer.Header, answer.Body, answer.Shown, answer.Revision})
		case op.Report:
			return writeReport(w, r, status, answer.Header, answer.Body)
		}
		return WriteJSON(w, status, answer.Header, answer.Body)
	})
}

// RegisterRaw adds an operation that reads the body and writes the answer by itself; In has no
// Body. An error that it returns before it wrote anything is answered as of Register; after that
// the connection is broken off, so that the answer does not look whole.
func RegisterRaw[In any](a *API, op Operation, fn func(w http.ResponseWriter, r *http.Request, in *In) error) {
	b := newBinder[In](a, &op, nil)
	if b.body != nil {
		panic("api: " + op.ID + ": a raw operation reads its body itself") //nolint:forbidigo // a mistake in the program, found when it starts
	}
	if op.Status == 0 {
		op.Status = http.StatusOK
	}
	doc := a.describe(&op, b)
	if op.Body != nil {
		doc.RequestBody = &RequestBody{Required: true, Content: content(op.Body)}
	}
	success := a.success(&op, content(op.Answers))
	doc.Responses[strconv.Itoa(op.Status)] = success
	if op.Ranges {
		a.describeRanges(doc, success)
	}
	a.openapi.add(doc)
	a.serve(op, func(w http.ResponseWriter, r *http.Request) error {
		in := new(In)
		if err := b.bind(w, r, in); err != nil {
			return err
		}
		return fn(w, r, in)
	})
}

func content(schemas map[string]*jsonschema.Schema) map[string]*MediaType {
	types := make(map[string]*MediaType, len(schemas))
	for name, s := range schemas {
		types[name] = &MediaType{Schema: s}
	}
	return types
}

// SchemaOf returns the schema of a type, for Operation.Answers.
func SchemaOf[T any](a *API) *jsonschema.Schema {
	return a.schemas.Of(reflect.TypeFor[T](), "")
}
