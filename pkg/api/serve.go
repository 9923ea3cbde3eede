package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/tracing"
)

// ServeHTTP implements http.Handler.
func (a *API) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begin := time.Now()
	q := &request{id: requestID(r.Header.Values(RequestIDHeader)), route: "unmatched", url: r.URL.RequestURI(), sent: r}
	ctx, span := a.trace.Request(r.Context(), methodLabel(r.Method), r.Header.Get(tracing.HeaderName), begin)
	q.trace = span.SpanContext()
	r = r.WithContext(context.WithValue(ctx, requestKey{}, q))
	out := &recorder{ResponseWriter: w, accepts: strings.Join(r.Header.Values("Accept-Encoding"), ","),
		head: r.Method == http.MethodHead}
	out.Header().Set(RequestIDHeader, q.id)
	out.Header().Set("X-Content-Type-Options", "nosniff")
	if a.hsts != "" {
		out.Header().Set("Strict-Transport-Security", a.hsts)
	}
	defer func() {
		cause := recover()
		if cause != nil && cause != http.ErrAbortHandler { //nolint:errorlint // a panic's value is compared as net/http does
			a.log.Error("request panicked", "request_id", q.id, "route", q.route, "panic", fmt.Sprint(cause),
				"stack", string(debug.Stack()))
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
	endSpan(trace.SpanFromContext(r.Context()), r.Method, q, status)
	attrs := []slog.Attr{
		slog.String("request_id", q.id), slog.String("method", methodLabel(r.Method)), slog.String("route", q.route),
		slog.Int("status", status), slog.Int64("bytes", out.bytes), slog.Duration("took", took),
	}
	if q.account != uuid.Nil {
		attrs = append(attrs, slog.String("account_id", q.account.String()), slog.String("key_id", q.key.String()))
	}
	if q.session != uuid.Nil {
		attrs = append(attrs, slog.String("session_id", q.session.String()))
	}
	if q.trace.IsSampled() {
		attrs = append(attrs, slog.String("trace_id", q.trace.TraceID().String()))
	}
	level := slog.LevelInfo
	if q.problem != nil {
		attrs = append(attrs, slog.String("code", string(q.problem.Code)))
		if cause := q.problem.Unwrap(); cause != nil && status >= 500 {
			level = slog.LevelError
			attrs = append(attrs, slog.String("error", cause.Error()))
			if r.Context().Err() != nil {
				level = slog.LevelInfo // the client left, and so the work was stopped
			}
		}
	}
	a.log.LogAttrs(r.Context(), level, "request", attrs...)
}

// endSpan ends the span of a request.
func endSpan(span trace.Span, method string, q *request, status int) {
	if span.IsRecording() {
		span.SetName(methodLabel(method) + " " + q.route)
		span.SetAttributes(attribute.String("http.request.method", methodLabel(method)),
			attribute.String("http.route", q.route),
			attribute.Int("http.response.status_code", status), attribute.String("request_id", q.id))
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
}

// everyMethod is the Allow header of the answer to OPTIONS *.
const everyMethod = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// route finds the handler of a request, or the problem that there is none.
func (a *API) route(r *http.Request) (pattern string, p *problem.Problem) {
	if r.URL.Path == "*" && r.Method == http.MethodOptions { // of the server, not of a path
		return "", problem.New(problem.MethodNotAllowed, "").WithHeader("Allow", everyMethod)
	}
	if !strings.HasPrefix(r.URL.Path, "/") || !clean(r.URL.Path) {
		return "", problem.New(problem.NotFound, "There is nothing at this path.")
	}
	handler, pattern := a.mux.Handler(r)
	if pattern != "" {
		return pattern, nil
	}
	// The mux knows whether another method would do: its own answer tells.
	probe := &probe{header: http.Header{}}
	handler.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed {
		allow += ", " + http.MethodOptions
		return "", problem.New(problem.MethodNotAllowed, "This path takes "+allow+".").WithHeader("Allow", allow)
	}
	return "", problem.New(problem.NotFound, "There is nothing at this path.")
}

// clean reports whether the mux would serve the path as it is, rather than redirect.
func clean(p string) bool {
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c == p
}

// probe keeps what a handler answers about itself.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header { return p.header }

func (p *probe) Write(b []byte) (int, error) { return len(b), nil }

func (p *probe) WriteHeader(status int) { p.status = status }

type metrics struct {
	duration *prometheus.HistogramVec
}

func newMetrics(to prometheus.Registerer) *metrics {
	m := &metrics{duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "lodestone_http_request_duration_seconds",
		Help:    "Time from a request's arrival to the end of its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"method", "route", "status"})}
	if to != nil {
		to.MustRegister(m.duration)
	}
	return m
}

func (m *metrics) observe(method, route string, status int, took time.Duration) {
	m.duration.WithLabelValues(methodLabel(method), route, strconv.Itoa(status)).Observe(took.Seconds())
}

// methodLabel keeps a client from inventing values of the label.
func methodLabel(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions:
		return method
	default:
		return "other"
	}
}
