package api

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"go.opentelemetry.io/otel/trace"

	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/tracing"
)

// RequestIDHeader carries the id of a request, in the answer and, if the client set one, before.
const RequestIDHeader = tracing.RequestIDHeader

type requestKey struct{}

// request is the context of a request while it is answered. It belongs to one goroutine.
type request struct {
	id      string
	route   string
	account uuid.UUID
	key     uuid.UUID
	session uuid.UUID
	url     string // path and query as sent, for links to other pages
	problem *problem.Problem
	sent    *http.Request // as it came in
	trace   trace.SpanContext
}

func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{}
}

// Incoming returns the request that a context belongs to, as it came in, for calls of the API on
// its behalf (client.Transport).
func Incoming(ctx context.Context) *http.Request { return requestOf(ctx).sent }

// RequestID returns the id of the request that a context belongs to, or "".
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// WriteProblem answers with the problem that an error stands for.
func (a *API) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.From(err, a.unavailable...)
	requestOf(r.Context()).problem = p
	if a.problemPage != nil && wantsPage(r) {
		maps.Copy(w.Header(), p.Header())
		a.problemPage(w, r, p)
		return
	}
	body, marshalErr := json.Marshal(p)
	if marshalErr != nil { // its fields are strings and one number
		a.log.Error("cannot write a problem", "request_id", RequestID(r.Context()), "error", marshalErr)
	}
	h := w.Header()
	a.writeUntouched(w, ratelimit.Requests)
	maps.Copy(h, p.Header())
	h.Del("ETag")
	h.Del("Last-Modified")
	h.Set("Content-Type", problem.ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // a client that left needs no answer
}

// ShowProblems has browsers get problems as pages that fn writes; other clients get JSON. A browser
// is a client that names text/html as what it takes, and names no JSON before it.
func (a *API) ShowProblems(fn func(w http.ResponseWriter, r *http.Request, p *problem.Problem)) {
	a.problemPage = fn
}

func wantsPage(r *http.Request) bool {
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, parameters, _ := strings.Cut(strings.ToLower(part), ";")
		switch strings.TrimSpace(kind) {
		case "text/html":
			return strings.ReplaceAll(parameters, " ", "") != "q=0"
		case "application/json", problem.ContentType:
			return false
		}
	}
	return false
}

// requestID returns the client's id if it is one that is safe to log and to send back.
func requestID(sent []string) string {
	if len(sent) == 1 && tracing.ValidRequestID(sent[0]) {
		return sent[0]
	}
	return uuid.NewString()
}

// writeUntouched tells the limit in an answer that counts for no one.
func (a *API) writeUntouched(w http.ResponseWriter, name ratelimit.Name) {
	if a.limits != nil && w.Header().Get("RateLimit") == "" {
		a.limits.Untouched(name).WriteHeader(w.Header(), time.Now())
	}
}

// WriteJSON answers with a body in JSON, for operations of RegisterRaw.
func WriteJSON(w http.ResponseWriter, status int, header http.Header, body any) error {
	h := w.Header()
	var text []byte
	if _, empty := body.(Empty); !empty {
		var err error
		if text, err = encode(body); err != nil {
			return err
		}
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(text)))
	}
	maps.Copy(h, header)
	if h.Get("Cache-Control") == "" {
		h.Set("Cache-Control", "no-store") // answers are one account's
	}
	w.WriteHeader(status)
	_, _ = w.Write(text) // a client that left needs no answer
	return nil
}

// encode returns a body in JSON. The members of a map are in the order of their names, so that the
// same answer has the same tag. What is no UTF-8 in a text is replaced by U+FFFD: one value costs
// no one the whole answer.
func encode(body any) ([]byte, error) {
	text, err := json.Marshal(body, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return text, nil
}

func send(w http.ResponseWriter, status int, body []byte) {
	if status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body) // a client that left needs no answer
}
