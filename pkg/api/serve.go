package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/requestid"
)

// RequestIDHeader carries the id of a request, in the answer and, if the client set one, before.
const RequestIDHeader = requestid.Header

type requestKey struct{}

// request is what is known about a request while it is answered. It belongs to one goroutine.
type request struct {
	id      string
	route   string
	account uuid.UUID
	key     uuid.UUID
	url     string // path and query as sent, for links to other pages
	problem *problem.Problem
}

func requestOf(ctx context.Context) *request {
	if q, ok := ctx.Value(requestKey{}).(*request); ok {
		return q
	}
	return &request{}
}

// RequestID returns the id of the request that a context belongs to, or "".
func RequestID(ctx context.Context) string { return requestOf(ctx).id }

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	q := &request{id: requestID(r.Header.Values(RequestIDHeader)), route: "unmatched", url: r.URL.RequestURI()}
	r = r.WithContext(context.WithValue(r.Context(), requestKey{}, q))
	out := &recorder{ResponseWriter: w, gzip: acceptsGzip(r.Header), head: r.Method == http.MethodHead}
	out.Header().Set(RequestIDHeader, q.id)
	out.Header().Set("X-Content-Type-Options", "nosniff")
	if a.tls {
		out.Header().Set("Strict-Transport-Security", hstsValue)
	}
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value is compared as net/http does
			a.log.Error("request panicked", "request_id", q.id, "route", q.route, "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
			cause = http.ErrAbortHandler
			if out.status == 0 {
				cause = nil
				a.WriteProblem(out, r, problem.From(errPanicked))
			}
		}
		if cause == nil {
			out.close()
		}
		a.finish(r, q, out, time.Since(begin))
		if cause != nil {
			panic(cause) //nolint:forbidigo // an answer cut short must not look whole: net/http breaks the connection
		}
	}()
	pattern, p := a.route(r)
	if p != nil {
		if err := a.limitKnown(out, r); err != nil {
			a.WriteProblem(out, r, err)
			return
		}
	}
	if p != nil && r.Method == http.MethodOptions && p.Code == problem.MethodNotAllowed {
		a.writeUntouched(out, ratelimit.Requests)
		out.Header().Set("Allow", p.Header().Get("Allow"))
		out.WriteHeader(http.StatusNoContent)
		return
	}
	if p != nil {
		a.WriteProblem(out, r, p)
		return
	}
	q.route = pattern[strings.IndexByte(pattern, ' ')+1:] // some patterns begin with a method, which stands by itself
	a.mux.ServeHTTP(out, r)
}

var errPanicked = errors.New("the handler panicked")

// finish logs and counts a request. The route stands for the path, and the query is left out:
// both may hold secrets and addresses of people.
func (a *API) finish(r *http.Request, q *request, out *recorder, took time.Duration) {
	status := out.status
	if status == 0 {
		status = http.StatusOK
	}
	a.metrics.observe(r.Method, q.route, status, took)
	attrs := []slog.Attr{
		slog.String("request_id", q.id), slog.String("method", methodLabel(r.Method)), slog.String("route", q.route),
		slog.Int("status", status), slog.Int64("bytes", out.bytes), slog.Duration("took", took),
	}
	if q.account != uuid.Nil {
		attrs = append(attrs, slog.String("account_id", q.account.String()), slog.String("key_id", q.key.String()))
	}
	level := slog.LevelInfo
	if q.problem != nil {
		attrs = append(attrs, slog.String("code", string(q.problem.Code)))
		if cause := q.problem.Unwrap(); cause != nil && status >= 500 {
			level = slog.LevelError
			attrs = append(attrs, slog.String("cause", cause.Error()))
			if r.Context().Err() != nil {
				level = slog.LevelInfo // the client left, and so the work was stopped
			}
		}
	}
	a.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// WriteProblem answers with the problem that an error stands for.
func (a *API) WriteProblem(w http.ResponseWriter, r *http.Request, err error) {
	p := problem.From(err, a.unavailable...)
	requestOf(r.Context()).problem = p
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

// requestID returns the client's id if it is one that is safe to log and to send back.
func requestID(sent []string) string {
	if len(sent) == 1 && requestid.Valid(sent[0]) {
		return sent[0]
	}
	return uuid.NewString()
}
