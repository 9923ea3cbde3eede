package collector

import (
	"bytes"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"lodestone/pkg/tracing"
)

// Paths that the collector serves.
const (
	eventsPath = "/v1/events"
	viewsPath  = "/v1/link-views"
	pixelPath  = "/v1/pixel.gif"
	beaconPath = "/v1/beacon.js"
	scriptPath = "/v1/lodestone.js" // the same; lists of content blockers have the other name
)

// serve answers one request. It is the server's handler.
func (c *Collector) serve(ctx *fasthttp.RequestCtx) {
	c.metrics.inFlight.Inc()
	defer func() { c.finish(ctx, recover()) }()
	c.setCommonHeaders(ctx)
	if p := checkFraming(&ctx.Request.Header); p != nil {
		answerProblem(ctx, p)
		c.endAfter(ctx)
		return
	}
	path := ctx.URI().PathOriginal() // as it was sent: nothing else is a route
	if route, found := c.routes[string(path)]; found {
		route(ctx)
		return
	}
	if !explainProblem(ctx, string(path)) {
		answerProblem(ctx, &requestProblem{fasthttp.StatusNotFound, codeNotFound, "There is nothing under this path; events go to POST " + eventsPath + "."})
	}
}

// finish counts the answer, and makes one of a panic: the server itself recovers from none.
func (c *Collector) finish(ctx *fasthttp.RequestCtx, p any) {
	if p != nil {
		// Neither the value nor the request is logged: both may hold what a client sent.
		c.deps.Log.Error("panic in the collector", "request_id", string(ctx.Response.Header.Peek(headerRequestID)),
			"type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		answerProblem(ctx, &requestProblem{fasthttp.StatusInternalServerError, codeInternal, "Something went wrong on our side; try again."})
		ctx.SetConnectionClose()
	}
	if c.leaving.Load() || c.base.Err() != nil {
		ctx.SetConnectionClose()
	}
	c.logRefused(ctx)
	c.metrics.answered(ctx.Response.StatusCode())
	c.metrics.inFlight.Dec()
}

// endpoint returns the route of an endpoint that takes elements.
func (c *Collector) endpoint(e *endpoint) fasthttp.RequestHandler {
	const allowed = "POST, OPTIONS"
	return func(ctx *fasthttp.RequestCtx) {
		switch {
		case ctx.IsPost():
			c.post(ctx, e)
		case ctx.IsOptions():
			preflight(ctx, allowed)
		default:
			ctx.Response.Header.Set(fasthttp.HeaderAllow, allowed)
			answerProblem(ctx, &requestProblem{fasthttp.StatusMethodNotAllowed, codeMethod, "Send it with POST."})
		}
	}
}

// post turns a body into records, waits until they are durable, and answers.
func (c *Collector) post(ctx *fasthttp.RequestCtx, e *endpoint) {
	s := c.newScratch(ctx.Request.Header.ContentLength())
	defer c.release(s)
	sent, p := c.receive(ctx, s)
	if p != nil {
		if p.status == fasthttp.StatusServiceUnavailable {
			c.metrics.refused[refusedBytes].Inc()
		}
		answerProblem(ctx, p)
		c.endAfter(ctx)
		return
	}
	s.arrived = time.Now()
	held, admitted := c.admit(ctx, len(sent), answerOverloaded)
	if !admitted {
		return
	}
	defer held.release()
	body, p := s.unpack(&ctx.Request.Header, sent, c.config.MaxBodyBytes)
	if p != nil {
		answerProblem(ctx, p)
		return
	}
	if !held.grow(int64(len(s.unpacked) + len(body))) { // the unpacked body, and its records
		c.metrics.refused[refusedBytes].Inc()
		answerOverloaded(ctx)
		return
	}
	from := c.sender(ctx)
	if e.views {
		from.limited = c.limited(ctx)
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // RFC 8259 lets a reader pass over a byte order mark
	if p = c.read(s, e, body, &from); p != nil {
		c.countRejected(s)
		if p.code == codeRateLimited {
			c.metrics.refused[refusedViews].Inc()
			setRetryAfter(ctx, s.wait)
		}
		answerProblemWithList(ctx, p, s.rejected)
		return
	}
	s.trim()
	if err := c.write(ctx, s); err != nil {
		answerProblem(ctx, &requestProblem{fasthttp.StatusServiceUnavailable, codeUnavailable,
			"The events could not be stored in time. Send all of them again; events with an event_id are not counted twice."})
		return
	}
	c.countRejected(s)
	accept(ctx, len(s.records), s.rejected)
}

// requestOverhead is what a request takes beside its body, roughly.
const requestOverhead = 4 << 10

// admit lets a request in, or answers it. It looks at nothing that takes time: under overload most
// requests get no further.
func (c *Collector) admit(ctx *fasthttp.RequestCtx, bytes int, overloaded func(*fasthttp.RequestCtx)) (permit, bool) {
	held, ok := c.admission.acquire(int64(bytes) + requestOverhead)
	if !ok {
		reason := refusedBytes
		if c.admission.requests.Load() >= c.admission.maxRequests {
			reason = refusedRequests
		}
		c.metrics.refused[reason].Inc()
		overloaded(ctx)
		return permit{}, false
	}
	return held, true
}

func answerOverloaded(ctx *fasthttp.RequestCtx) { answerProblem(ctx, overloaded) }

// setRetryAfter sets after how many seconds the client may send again.
func setRetryAfter(ctx *fasthttp.RequestCtx, wait time.Duration) {
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.Itoa(int(wait/time.Second)+1))
}

// write makes the records durable and counts them, or fails when the time for the request is over,
// which began when the request had arrived.
func (c *Collector) write(ctx *fasthttp.RequestCtx, s *scratch) error {
	begin := time.Now()
	span := c.traced(ctx, s)
	until := c.deadlines.At(s.arrived.Add(c.config.AckTimeout))
	if span.IsRecording() {
		until = trace.ContextWithSpan(until, span)
	}
	err := c.deps.Sink.Write(until, s.records)
	c.metrics.ack.Observe(time.Since(begin).Seconds())
	tracing.End(span, err)
	if err != nil {
		c.deps.Log.Warn("events not accepted", "request_id", string(ctx.Response.Header.Peek(headerRequestID)), "events", len(s.records), "error", err)
		return err
	}
	c.metrics.accepted.Add(float64(len(s.records)))
	c.metrics.bots.Add(float64(s.bots))
	c.metrics.unhashed.Add(float64(s.unhashed))
	return nil
}

// traced begins the span of a request, from its arrival, and has its records carry the trace if it
// is recorded.
func (c *Collector) traced(ctx *fasthttp.RequestCtx, s *scratch) trace.Span {
	if c.deps.Trace == nil {
		return trace.SpanFromContext(c.base) // records nothing
	}
	_, span := c.deps.Trace.Request(c.base, string(ctx.Method())+" "+string(ctx.Path()), string(ctx.Request.Header.Peek(tracing.HeaderName)), s.arrived)
	if header := tracing.Header(span); header != "" {
		span.SetAttributes(attribute.Int("events", len(s.records)), attribute.String("request_id", string(ctx.Response.Header.Peek(headerRequestID))))
		for i := range s.records {
			s.records[i].Trace = header
		}
	}
	return span
}

func (c *Collector) countRejected(s *scratch) {
	for i := range s.rejected {
		c.metrics.rejected[s.rejected[i].code].Inc()
	}
}

// unpack returns the body of a request, decompressed, if its type and size are allowed.
func (s *scratch) unpack(h *fasthttp.RequestHeader, sent []byte, limit int) ([]byte, *requestProblem) {
	if !isJSON(h.ContentType()) {
		return nil, &requestProblem{fasthttp.StatusUnsupportedMediaType, codeMediaType, "The Content-Type is not supported; send application/json or text/plain, in UTF-8."}
	}
	encoding := bytes.TrimSpace(bytes.Join(h.PeekAll(fasthttp.HeaderContentEncoding), []byte{','})) // several lines are one list
	switch {
	case len(encoding) == 0, bytes.EqualFold(encoding, []byte("identity")):
		if len(sent) == 0 {
			return nil, &requestProblem{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is empty."}
		}
		return sent, nil
	case bytes.EqualFold(encoding, []byte("gzip")), bytes.EqualFold(encoding, []byte("x-gzip")):
		return s.gunzip(sent, limit)
	}
	return nil, &requestProblem{fasthttp.StatusUnsupportedMediaType, codeMediaType, "The Content-Encoding is not supported; send gzip or none."}
}

// isJSON allows application/json and text/plain, which is what a browser's sendBeacon can send
// without asking first. The only charset of JSON is UTF-8, of which ASCII is a part.
func isJSON(contentType []byte) bool {
	switch string(contentType) {
	case "application/json", "text/plain;charset=UTF-8": // as nearly all send it
		return true
	}
	media, params, _ := bytes.Cut(contentType, []byte{';'})
	media = bytes.TrimSpace(media)
	if !bytes.EqualFold(media, []byte("application/json")) && !bytes.EqualFold(media, []byte("text/plain")) {
		return false
	}
	for param := range bytes.SplitSeq(params, []byte{';'}) {
		name, charset, _ := bytes.Cut(bytes.TrimSpace(param), []byte{'='})
		charset = bytes.Trim(charset, `"`)
		if bytes.EqualFold(name, []byte("charset")) && !bytes.EqualFold(charset, []byte("utf-8")) && !bytes.EqualFold(charset, []byte("us-ascii")) {
			return false
		}
	}
	return true
}

// Names and values of headers in the server's canonical form, which spares spelling them again for
// each request.
var (
	keyRequestID       = []byte(headerRequestID)
	keyAllowOrigin     = []byte("Access-Control-Allow-Origin")
	keyExposeHeaders   = []byte("Access-Control-Expose-Headers")
	keyStrictTransport = []byte("Strict-Transport-Security")
	valueAnyOrigin     = []byte("*")
	valueExposed       = []byte(exposedHeaders)
)

// setCommonHeaders sets what every answer carries: the request's id, the permission for pages of
// any origin to read it, and that the public address is to be reached over TLS only. There are no
// credentials, so the permission gives nothing away.
func (c *Collector) setCommonHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	var id [requestIDBytes]byte
	h.SetCanonical(keyRequestID, requestID(&id, ctx.Request.Header.PeekCanonical(keyRequestID)))
	h.SetCanonical(keyAllowOrigin, valueAnyOrigin)
	h.SetCanonical(keyExposeHeaders, valueExposed)
	if c.strictTransport != nil {
		h.SetCanonical(keyStrictTransport, c.strictTransport)
	}
}

// preflight answers a browser that asks whether a page of another origin may send.
func preflight(ctx *fasthttp.RequestCtx, allowed string) {
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderAllow, allowed)
	h.Set(fasthttp.HeaderAccessControlAllowMethods, allowed)
	h.Set(fasthttp.HeaderAccessControlAllowHeaders, "content-type, content-encoding, x-request-id")
	h.Set(fasthttp.HeaderAccessControlMaxAge, "86400")
	ctx.SetStatusCode(fasthttp.StatusNoContent)
}

// accept answers 202.
func accept(ctx *fasthttp.RequestCtx, accepted int, rejected []rejection) {
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	ctx.Response.Header.SetContentType("application/json")
	out := append(make([]byte, 0, 64), `{"accepted":`...)
	out = strconv.AppendInt(out, int64(accepted), 10)
	out = appendRejected(out, rejected)
	ctx.Response.SetBody(append(out, '}', '\n')) // which copies, so that out stays on the stack
}

// refuse answers a request that the server could not read. The connection is closed after it.
func (c *Collector) refuse(ctx *fasthttp.RequestCtx, err error) {
	c.setCommonHeaders(ctx)
	c.endAfter(ctx)
	var small *fasthttp.ErrSmallBuffer
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		answerProblem(ctx, tooLarge(c.config.MaxBodyBytes))
	case errors.As(err, &small):
		answerProblem(ctx, &requestProblem{fasthttp.StatusRequestHeaderFieldsTooLarge, codeTooLarge,
			fmt.Sprintf("The request line and the headers have more than %d bytes.", c.config.MaxHeaderBytes)})
	default:
		answerProblem(ctx, unreadable(err))
	}
	c.logRefused(ctx)
	c.metrics.answered(ctx.Response.StatusCode())
}
