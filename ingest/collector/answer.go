package collector

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"lodestone/pkg/problem"
	"lodestone/pkg/requestid"
)

const (
	headerRequestID = requestid.Header
	retryAfter      = "2" // seconds
	exposedHeaders  = headerRequestID + ", " + fasthttp.HeaderRetryAfter
)

// setCommonHeaders sets what every answer carries: the request's id, and the permission for pages
// of any origin to read it. There are no credentials, so the permission gives nothing away.
func setCommonHeaders(ctx *fasthttp.RequestCtx) {
	h := &ctx.Response.Header
	var made [requestIDBytes]byte
	h.SetCanonical(keyRequestID, requestID(&made, ctx.Request.Header.PeekCanonical(keyRequestID)))
	h.SetCanonical(keyAllowOrigin, valueAnyOrigin)
	h.SetCanonical(keyExposeHeaders, valueExposed)
}

// requestID keeps the id that the client or a proxy gave, if it is safe to repeat and to log.
func requestID(made *[requestIDBytes]byte, given []byte) []byte {
	if requestid.Valid(given) {
		return given
	}
	var id [requestIDBytes / 2]byte
	binary.LittleEndian.PutUint64(id[:], rand.Uint64()) // to tell requests apart, not to be secret
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	hex.Encode(made[:], id[:])
	return made[:]
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

// refuseWith answers with a problem (RFC 9457).
func refuseWith(ctx *fasthttp.RequestCtx, no refusal) {
	writeProblem(ctx, no, nil, false)
}

// refuseWithList answers with a problem that names the rejected elements if that is why.
func refuseWithList(ctx *fasthttp.RequestCtx, no refusal, rejected []rejection) {
	writeProblem(ctx, no, rejected, no.status == fasthttp.StatusUnprocessableEntity)
}

func writeProblem(ctx *fasthttp.RequestCtx, no refusal, rejected []rejection, list bool) {
	ctx.SetUserValue(refusedAs, no.code) // for the log
	ctx.SetStatusCode(no.status)
	ctx.Response.Header.SetContentType("application/problem+json")
	ctx.Response.SetBodyRaw(appendProblem(make([]byte, 0, 256), no, rejected, list))
}

func appendProblem(out []byte, no refusal, rejected []rejection, list bool) []byte {
	out = append(out, `{"type":"`+problem.TypePath...)
	out = append(out, no.code...)
	out = append(out, `","title":`...)
	out = appendQuoted(out, no.code.Title())
	out = append(out, `,"status":`...)
	out = strconv.AppendInt(out, int64(no.status), 10)
	out = append(out, `,"detail":`...)
	out = appendQuoted(out, no.detail)
	out = append(out, `,"code":`...)
	out = appendQuoted(out, string(no.code))
	if list {
		out = appendRejected(out, rejected)
	}
	return append(out, '}', '\n')
}

func appendRejected(out []byte, rejected []rejection) []byte {
	out = append(out, `,"rejected":[`...)
	for i, r := range rejected {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, `{"index":`...)
		out = strconv.AppendInt(out, int64(r.index), 10)
		out = append(out, `,"code":`...)
		out = appendQuoted(out, string(r.code))
		out = append(out, `,"message":`...)
		out = appendQuoted(out, r.message)
		out = append(out, '}')
	}
	return append(out, ']')
}

func appendQuoted(out []byte, text string) []byte {
	// The error is about invalid UTF-8, which is replaced all the same.
	out, _ = jsontext.AppendQuote(out, text)
	return out
}
