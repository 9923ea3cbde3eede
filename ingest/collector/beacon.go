package collector

import (
	"bytes"

	"github.com/valyala/fasthttp"
)

// beaconMaxAge lets a browser use the script again without asking for an hour, so that a new
// release is everywhere within one; and for a day while it asks.
const beaconMaxAge = "public, max-age=3600, stale-while-revalidate=86400"

// serveBeacon answers with the script that counts views of others' pages.
func (c *Collector) serveBeacon(ctx *fasthttp.RequestCtx) {
	const allowed = "GET, HEAD"
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Response.Header.Set(fasthttp.HeaderAllow, allowed)
		answerProblem(ctx, &requestProblem{fasthttp.StatusMethodNotAllowed, codeMethod, "The script is loaded with GET."})
		return
	}
	script := c.deps.Beacon
	if script == nil {
		answerProblem(ctx, &requestProblem{fasthttp.StatusNotFound, codeNotFound,
			"This program was built without the script: its operator has to run `make web` and build it again."})
		return
	}
	h := &ctx.Response.Header
	h.Set(fasthttp.HeaderCacheControl, beaconMaxAge)
	h.Set(fasthttp.HeaderETag, script.ETag)
	h.Set(fasthttp.HeaderVary, fasthttp.HeaderAcceptEncoding)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages that isolate themselves load it, too
	if bytes.Contains(ctx.Request.Header.Peek(fasthttp.HeaderIfNoneMatch), []byte(script.ETag)) {
		ctx.SetStatusCode(fasthttp.StatusNotModified)
		return
	}
	h.SetContentType(script.Type)
	h.Set(fasthttp.HeaderXContentTypeOptions, "nosniff")
	ctx.SetStatusCode(fasthttp.StatusOK)
	body, coding := script.Encode(string(ctx.Request.Header.Peek(fasthttp.HeaderAcceptEncoding)))
	if coding != "" {
		h.SetContentEncoding(coding)
	}
	ctx.Response.SetBodyRaw(body)
}
