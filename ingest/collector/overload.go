package collector

import (
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"
)

// requestOverhead is what a request takes beside its body, roughly.
const requestOverhead = 4 << 10

// admit lets a request in, or answers it. It looks at nothing that takes time: under overload this
// is all that most requests get.
func (c *Collector) admit(ctx *fasthttp.RequestCtx, path string, bytes int) (ticket, bool) {
	t, ok := c.admission.enter(int64(bytes) + requestOverhead)
	if !ok {
		reason := refusedBytes
		if c.admission.requests.Load() >= c.admission.maxRequests {
			reason = refusedRequests
		}
		c.overloaded(ctx, reason, path)
		return ticket{}, false
	}
	if c.limit.each > 0 && !ctx.IsOptions() {
		if wait, ok := c.limit.take(clientOf(ctx, c.addresses), uuid.Nil, time.Now()); !ok {
			t.leave()
			c.metrics.refused[refusedAddress].Inc()
			setRetryAfter(ctx, wait)
			refuseWith(ctx, refusal{fasthttp.StatusTooManyRequests, codeRateLimited, "There were too many requests from this address; nothing of this one was accepted."})
			return ticket{}, false
		}
	}
	return t, true
}

// overloaded answers 503. A browser that wants the image gets it all the same.
func (c *Collector) overloaded(ctx *fasthttp.RequestCtx, reason refusalReason, path string) {
	c.metrics.refused[reason].Inc()
	if path == pixelPath {
		unavailablePixel(ctx)
		return
	}
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, retryAfter)
	refuseWith(ctx, refusal{fasthttp.StatusServiceUnavailable, codeUnavailable,
		"There are too many requests at the moment (--collector-max-requests, --collector-max-in-flight-bytes). Nothing was accepted: send all of it again."})
}

// setRetryAfter says after how long to send again, in whole seconds.
func setRetryAfter(ctx *fasthttp.RequestCtx, wait time.Duration) {
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, strconv.Itoa(int(wait/time.Second)+1))
}
