// Package problem describes errors of Lodestone's HTTP interfaces: problem details as in RFC 9457,
// with a stable code and the fields at fault.
package problem

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ContentType is the media type of a problem's body.
const ContentType = "application/problem+json"

// TypePath begins the URI reference in a problem's type; the code ends it.
const TypePath = "/api/v1/problems/"

// Field is the error of one parameter or one field of a body.
type Field struct {
	Field   string `json:"field" doc:"Name of the parameter, or path of the field in the body, such as emails[3]."`
	Message string `json:"message" doc:"What is wrong, and what is allowed."`
}

// Problem is an error that may be shown to whoever sent the request, and the body that shows it.
// It does not change once it was handed out.
type Problem struct {
	Type   string  `json:"type" doc:"URI reference that identifies the kind of problem."`
	Title  string  `json:"title" doc:"Summary of the kind of problem, the same for every occurrence."`
	Status int     `json:"status" doc:"The HTTP status."`
	Detail string  `json:"detail" doc:"What went wrong in this case, and the remedy."`
	Code   Code    `json:"code" doc:"Stable name of the kind of problem, for programs."`
	Errors []Field `json:"errors,omitempty" nullable:"false" doc:"The fields with errors."`

	header http.Header
	cause  error
}

// New returns a problem of a kind. The detail is shown to the sender of the request.
func New(code Code, detail string, fields ...Field) *Problem {
	k := code.kind()
	return &Problem{Type: TypePath + string(k.code), Title: k.title, Status: k.status, Detail: detail,
		Code: k.code, Errors: fields}
}

// Invalid returns a validation_error (422) about fields of a body.
func Invalid(fields ...Field) *Problem { return New(ValidationError, summary(fields), fields...) }

// Parameter returns an invalid_parameter (400) about query parameters.
func Parameter(fields ...Field) *Problem { return New(InvalidParameter, summary(fields), fields...) }

// Missing returns a not_found (404) that names the kind of thing.
func Missing(what string) *Problem {
	return New(NotFound, "There is no "+what+" with this id.")
}

func summary(fields []Field) string {
	switch len(fields) {
	case 0:
		return "Some values are not valid."
	case 1:
		return fields[0].Field + " " + fields[0].Message + "."
	default:
		names := make([]string, len(fields))
		for i, f := range fields {
			names[i] = f.Field
		}
		return fmt.Sprintf("%d values are not valid: %s. See errors.", len(fields), strings.Join(names, ", "))
	}
}

// Because returns a copy that keeps the cause, which is logged and never shown.
func (p *Problem) Because(cause error) *Problem {
	q := *p
	q.cause = cause
	return &q
}

// WithHeader returns a copy whose answer carries one more header.
func (p *Problem) WithHeader(name, value string) *Problem {
	q := *p
	q.header = p.header.Clone()
	if q.header == nil {
		q.header = http.Header{}
	}
	q.header.Set(name, value)
	return &q
}

// RetryAfter returns a copy whose answer has the header Retry-After, rounded up to seconds, at
// least one.
func (p *Problem) RetryAfter(d time.Duration) *Problem {
	seconds := max(1, int64((d+time.Second-1)/time.Second))
	return p.WithHeader("Retry-After", strconv.FormatInt(seconds, 10))
}

// Header returns the headers that belong to the answer, or nil. It must not be changed.
func (p *Problem) Header() http.Header { return p.header }

// Error implements error. It holds the cause, so it is for logs only.
func (p *Problem) Error() string {
	if p.cause != nil {
		return string(p.Code) + ": " + p.cause.Error()
	}
	return string(p.Code) + ": " + p.Detail
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.cause }

// Is reports whether an error is, or wraps, a problem of the code.
func Is(err error, code Code) bool {
	var p *Problem
	return errors.As(err, &p) && p.Code == code
}

// From returns the answer to an error. This is the one place that decides it:
//   - a problem in the chain is the answer itself;
//   - a body over the limit set by http.MaxBytesReader is payload_too_large;
//   - a deadline that passed, or what one of the predicates knows as unavailable, is unavailable;
//   - anything else is internal, and shows nothing of the error.
func From(err error, unavailable ...func(error) bool) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return New(PayloadTooLarge, fmt.Sprintf("The body may have at most %d bytes.", tooLarge.Limit)).Because(err)
	}
	away := errors.Is(err, context.DeadlineExceeded)
	for _, is := range unavailable {
		away = away || is(err)
	}
	if away {
		return New(Unavailable,
			"A part that is needed to answer is not available. Try again.").Because(err).RetryAfter(time.Second)
	}
	return New(Internal, "Something went wrong on our side. The request id leads us to the cause.").Because(err)
}
