package collector

import (
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
		answerProblem(ctx, &requestProblem{fasthttp.StatusNotFound, codeNotFound,
			"There is nothing under this path; events go to POST " + eventsPath + "."})
	}
}

// finish counts the answer, and makes one of a panic: the server itself recovers from none.
func (c *Collector) finish(ctx *fasthttp.RequestCtx, p any) {
	if p != nil {
		// Neither the value nor the request is logged: both may hold what a client sent.
		c.deps.Log.Error("panic in the collector", "request_id", string(ctx.Response.Header.Peek(headerRequestID)),
			"type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		answerProblem(ctx, &requestProblem{fasthttp.StatusInternalServerError, codeInternal,
			"Something went wrong on our side; try again."})
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

// post takes the elements of a request: it reads the body, decodes it into records, waits until
// they are durable, and answers.
func (c *Collector) post(ctx *fasthttp.RequestCtx, e *endpoint) {
	s := c.newScratch(ctx.Request.Header.ContentLength())
	defer c.release(s)
	body, p := c.receive(ctx, s)
	if p == nil {
		from := c.sender(ctx, e.views)
		p = c.decode(s, e, body, &from)
	}
	if p == nil {
		p = c.write(ctx, s)
	}
	c.answer(ctx, s, p)
}

// answer answers with what was accepted and rejected, or with the problem of the whole request.
func (c *Collector) answer(ctx *fasthttp.RequestCtx, s *scratch, p *requestProblem) {
	if p != notStored { // else all of it is sent again
		c.countRejected(s)
	}
	if p == nil {
		accept(ctx, len(s.records), s.rejected)
		return
	}
	if p.code == codeRateLimited {
		c.metrics.refused[refusedViews].Inc()
		setRetryAfter(ctx, s.wait)
	}
	answerProblemWithList(ctx, p, s.rejected)
}

// setRetryAfter sets after how many seconds the client may send again.
func setRetryAfter(ctx *fasthttp.RequestCtx, wait time.Duration) {
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.Itoa(int(wait/time.Second)+1))
}

// write makes the records durable and counts them. It returns notStored when the time for the
// request, which began when the request had arrived, is over.
func (c *Collector) write(ctx *fasthttp.RequestCtx, s *scratch) *requestProblem {
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
		c.deps.Log.Warn("events not accepted", "request_id", string(ctx.Response.Header.Peek(headerRequestID)), "events",
			len(s.records), "error", err)
		return notStored
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
	_, span := c.deps.Trace.Request(c.base, string(ctx.Method())+" "+string(ctx.Path()),
		string(ctx.Request.Header.Peek(tracing.HeaderName)), s.arrived)
	if header := tracing.Header(span); header != "" {
		span.SetAttributes(attribute.Int("events", len(s.records)),
			attribute.String("request_id", string(ctx.Response.Header.Peek(headerRequestID))))
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
