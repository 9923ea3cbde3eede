package collector

import (
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/collector/bot"
)

// Paths that the collector serves.
const (
	eventsPath = "/v1/events"
	viewsPath  = "/v1/link-views"
	pixelPath  = "/v1/pixel.gif"
	beaconPath = "/v1/beacon.js"
)

// serve answers one request. It is the server's handler.
func (c *Collector) serve(ctx *fasthttp.RequestCtx) {
	c.metrics.inFlight.Inc()
	defer func() { c.finish(ctx, recover()) }()
	setCommonHeaders(ctx)
	path := string(ctx.URI().PathOriginal()) // as it was sent: nothing else is a door
	switch path {
	case eventsPath, viewsPath, pixelPath:
	case beaconPath: // it waits for nothing, so no limit of the load is about it
		c.serveBeacon(ctx)
		return
	default:
		if explainProblem(ctx, path) {
			return
		}
		refuseWith(ctx, refusal{fasthttp.StatusNotFound, codeNotFound, "There is nothing under this path; events go to POST " + eventsPath + "."})
		return
	}
	switch path {
	case eventsPath:
		c.serveDoor(ctx, &eventsDoor)
	case viewsPath:
		c.serveDoor(ctx, &viewsDoor)
	default:
		t, admitted := c.admit(ctx, path, 0)
		if admitted {
			defer t.leave()
			c.servePixel(ctx)
		}
	}
}

// finish counts the answer, and makes one of a panic: the server itself recovers from none.
func (c *Collector) finish(ctx *fasthttp.RequestCtx, p any) {
	if p != nil {
		// Neither the value nor the request is logged: both may hold what a visitor sent.
		c.deps.Log.Error("panic in the collector", "request_id", string(ctx.Response.Header.Peek(headerRequestID)),
			"type", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
		refuseWith(ctx, refusal{fasthttp.StatusInternalServerError, codeInternal, "Something went wrong on our side; try again."})
		ctx.SetConnectionClose()
	}
	if c.base.Err() != nil {
		ctx.SetConnectionClose()
	}
	c.logRefused(ctx)
	c.metrics.answered(ctx.Response.StatusCode())
	c.metrics.inFlight.Dec()
}

func (c *Collector) serveDoor(ctx *fasthttp.RequestCtx, d *door) {
	const allowed = "POST, OPTIONS"
	switch {
	case ctx.IsPost():
		c.post(ctx, d)
	case ctx.IsOptions():
		preflight(ctx, allowed)
	default:
		ctx.Response.Header.Set(fasthttp.HeaderAllow, allowed)
		refuseWith(ctx, refusal{fasthttp.StatusMethodNotAllowed, codeMethod, "Send it with POST."})
	}
}

func (c *Collector) post(ctx *fasthttp.RequestCtx, d *door) {
	b := c.begin(ctx.Request.Header.ContentLength())
	defer c.end(b)
	raw, received := c.receive(ctx, b)
	if !received {
		return
	}
	b.arrived = time.Now()
	t, admitted := c.admit(ctx, "", len(raw))
	if !admitted {
		return
	}
	defer t.leave()
	body, no, refused := b.body(ctx, raw, c.config.MaxBodyBytes)
	if refused {
		refuseWith(ctx, no)
		return
	}
	if !t.grow(int64(len(b.unpacked) + len(body))) { // what is unpacked, and the records made of it
		c.overloaded(ctx, refusedBytes, "")
		return
	}
	s, v := c.sender(ctx)
	if d.views {
		v.from = c.limited(ctx)
	}
	if no, refused = b.read(c, d, body, &s, &v); refused {
		c.countRejected(b)
		if no.code == codeRateLimited {
			c.metrics.refused[refusedViews].Inc()
			setRetryAfter(ctx, b.wait)
		}
		refuseWithList(ctx, no, b.rejected)
		return
	}
	c.leaveSpace(b)
	if err := c.write(b); err != nil {
		c.logFailure(ctx, b, err)
		ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, retryAfter)
		refuseWith(ctx, refusal{fasthttp.StatusServiceUnavailable, codeUnavailable,
			"The events could not be stored in time. Send all of them again; events with an event_id are not counted twice."})
		return
	}
	c.countRejected(b)
	c.countAccepted(b)
	accept(ctx, len(b.records), b.rejected)
}

func (c *Collector) countAccepted(b *batch) {
	c.metrics.accepted.Add(float64(len(b.records)))
	c.metrics.bots.Add(float64(b.bots))
	c.metrics.unhashed.Add(float64(b.unhashed))
}

func (c *Collector) logFailure(ctx *fasthttp.RequestCtx, b *batch, err error) {
	c.deps.Log.Warn("events not accepted", "request_id", string(ctx.Response.Header.Peek(headerRequestID)), "events", len(b.records), "error", err)
}

// write makes the records durable, or fails when the time for the request is over, which began when
// it had arrived.
func (c *Collector) write(b *batch) error {
	begin := time.Now()
	err := c.deps.Sink.Write(c.deadlines.At(b.arrived.Add(c.config.AckTimeout)), b.records)
	c.metrics.ack.Observe(time.Since(begin).Seconds())
	return err
}

func (c *Collector) countRejected(b *batch) {
	for i := range b.rejected {
		c.metrics.rejected[b.rejected[i].code].Inc()
	}
}

// sender returns what the events of a request have in common, and the visitor.
func (c *Collector) sender(ctx *fasthttp.RequestCtx) (sender, visitor) {
	h := &ctx.Request.Header
	agent := h.UserAgent()
	s := sender{receivedAt: c.deps.Now(), bot: c.deps.Bots.Classify(bot.Request{
		UserAgent: agent, Head: ctx.IsHead(), SecPurpose: h.PeekCanonical(headerSecPurpose), Purpose: purpose(h), XMoz: h.PeekCanonical(headerXMoz),
	})}
	if c.honour && objects(h) {
		s.private = true
		return s, visitor{}
	}
	s.userAgent = userAgent(agent)
	if withheld(h) {
		return s, visitor{}
	}
	addr := clientOf(ctx, c.addresses)
	return s, visitor{addr: addr, keep: addr.IsValid()}
}

func purpose(h *fasthttp.RequestHeader) []byte {
	if value := h.PeekCanonical(headerPurpose); len(value) > 0 {
		return value
	}
	return h.PeekCanonical(headerXPurpose)
}

// newID returns an id for an event that came without.
func (c *Collector) newID() uuid.UUID { return uuid.Must(uuid.NewV7()) } // crypto/rand never fails

var (
	late    = refusal{fasthttp.StatusRequestTimeout, codeUnavailable, "The request did not arrive in time."}
	notHTTP = refusal{fasthttp.StatusBadRequest, codeInvalidParameter, "The request is not valid HTTP."}
)

// refuse answers a request that the server could not read. The connection is closed after it.
func (c *Collector) refuse(ctx *fasthttp.RequestCtx, err error) {
	setCommonHeaders(ctx)
	c.endAfter(ctx)
	var (
		small   *fasthttp.ErrSmallBuffer
		timeout net.Error
	)
	switch {
	case errors.Is(err, fasthttp.ErrBodyTooLarge):
		refuseWith(ctx, tooLarge(c.config.MaxBodyBytes))
	case errors.As(err, &small):
		refuseWith(ctx, refusal{fasthttp.StatusRequestHeaderFieldsTooLarge, codeTooLarge,
			fmt.Sprintf("The request line and the headers have more than %d bytes.", c.config.MaxHeaderBytes)})
	case errors.As(err, &timeout) && timeout.Timeout():
		refuseWith(ctx, late)
	default:
		refuseWith(ctx, notHTTP)
	}
	c.logRefused(ctx)
	c.metrics.answered(ctx.Response.StatusCode())
}
