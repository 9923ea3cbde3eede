package collector

import (
	"encoding/binary"
	"encoding/hex"
	"log/slog"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"lodestone/pkg/problem"
	"lodestone/pkg/tracing"
)

// Code says why one element of a request was refused.
type Code string

// The codes of elements. When several apply, the first of this list is given.
const (
	InvalidToken     Code = "invalid_token"
	UnknownField     Code = "unknown_field"
	InvalidEventType Code = "invalid_event_type"
	InvalidEventData Code = "invalid_event_data"
	InvalidEventID   Code = "invalid_event_id"
	InvalidSessionID Code = "invalid_session_id"
	InvalidTimestamp Code = "invalid_timestamp"
	LimitReached     Code = "limit_reached" // the account has used up its plan's events of the month
	RateLimited      Code = "rate_limited"  // too many views from one address
)

var codes = [...]Code{InvalidToken, UnknownField, InvalidEventType, InvalidEventData, InvalidEventID, InvalidSessionID,
	InvalidTimestamp, LimitReached, RateLimited}

// rejection is one element that was refused, as the answer lists it.
type rejection struct {
	index   int // from 0, in the order of the request
	code    Code
	message string
}

// requestProblem is why all of a request was refused.
type requestProblem struct {
	status int
	code   problem.Code
	detail string
}

// Codes of refused requests.
const (
	codeInvalidJSON      = problem.InvalidJSON
	codeInvalidParameter = problem.InvalidParameter
	codeValidation       = problem.ValidationError
	codeNotFound         = problem.NotFound
	codeMethod           = problem.MethodNotAllowed
	codeTooLarge         = problem.PayloadTooLarge
	codeMediaType        = problem.UnsupportedMediaType
	codeUnavailable      = problem.Unavailable
	codeInternal         = problem.Internal
	codeRateLimited      = problem.RateLimited
	codeLimitReached     = problem.LimitReached
)

// overloaded is the answer to a request that is not let in.
var overloaded = &requestProblem{fasthttp.StatusServiceUnavailable, codeUnavailable,
	"There are too many requests at the moment. Nothing was accepted: send all of it again."}

// notStored is the answer to a request whose records did not become durable in time.
var notStored = &requestProblem{fasthttp.StatusServiceUnavailable, codeUnavailable,
	"The events could not be stored in time. Send all of them again; events with an event_id are not counted twice."}

// refusedAs is where a request keeps the code of its requestProblem.
const refusedAs = "code"

// refusedLogged is how many refusals a second are logged: an attack or an overload must not fill
// the disk. All are counted.
const refusedLogged = 20

// logBudget lets so many lines a second into the log. The zero value is ready; it is safe for
// concurrent use.
type logBudget struct {
	second, lines atomic.Int64
}

func (b *logBudget) allow(now time.Time) bool {
	if second := now.Unix(); b.second.Swap(second) != second {
		b.lines.Store(0)
	}
	return b.lines.Add(1) <= refusedLogged
}

// logRefused logs a request that was refused under its id. What the sender sent is not logged.
func (c *Collector) logRefused(ctx *fasthttp.RequestCtx) {
	status := ctx.Response.StatusCode()
	if status < fasthttp.StatusBadRequest || !c.refusals.allow(time.Now()) {
		return
	}
	path := string(ctx.URI().PathOriginal())
	if _, found := c.routes[path]; !found {
		path = "unmatched"
	}
	code, _ := ctx.UserValue(refusedAs).(problem.Code)
	c.deps.Log.LogAttrs(ctx, slog.LevelInfo, "request refused",
		slog.String("request_id", string(ctx.Response.Header.Peek(headerRequestID))),
		slog.String("path", path), slog.Int("status", status), slog.String("code", string(code)))
}

// explainProblem answers where the type of a problem leads, as the API does.
func explainProblem(ctx *fasthttp.RequestCtx, path string) bool {
	name, found := strings.CutPrefix(path, problem.TypePath)
	if !found || !ctx.IsGet() && !ctx.IsHead() {
		return false
	}
	for _, code := range problem.Codes() {
		if string(code) == name {
			ctx.SetContentType("text/plain; charset=utf-8")
			ctx.SetBodyString(code.Title() + ".\n")
			return true
		}
	}
	return false
}

// answerProblem answers with a problem (RFC 9457).
func answerProblem(ctx *fasthttp.RequestCtx, p *requestProblem) {
	writeProblem(ctx, p, nil, false)
}

// answerProblemWithList answers with a problem that names the rejected elements if that is why.
func answerProblemWithList(ctx *fasthttp.RequestCtx, p *requestProblem, rejected []rejection) {
	writeProblem(ctx, p, rejected, p.status == fasthttp.StatusUnprocessableEntity)
}

func writeProblem(ctx *fasthttp.RequestCtx, p *requestProblem, rejected []rejection, list bool) {
	ctx.SetUserValue(refusedAs, p.code) // for the log
	ctx.SetStatusCode(p.status)
	if p.status == fasthttp.StatusServiceUnavailable {
		ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, retryAfter)
	}
	ctx.Response.Header.SetContentType("application/problem+json")
	ctx.Response.SetBodyRaw(appendProblem(make([]byte, 0, 256), p, rejected, list))
}

func appendProblem(out []byte, p *requestProblem, rejected []rejection, list bool) []byte {
	out = append(out, `{"type":"`+problem.TypePath...)
	out = append(out, p.code...)
	out = append(out, `","title":`...)
	out = appendQuoted(out, p.code.Title())
	out = append(out, `,"status":`...)
	out = strconv.AppendInt(out, int64(p.status), 10)
	out = append(out, `,"detail":`...)
	out = appendQuoted(out, p.detail)
	out = append(out, `,"code":`...)
	out = appendQuoted(out, string(p.code))
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

const (
	headerRequestID = tracing.RequestIDHeader
	requestIDBytes  = 32
	retryAfter      = "2" // seconds
	exposedHeaders  = headerRequestID + ", " + fasthttp.HeaderRetryAfter
)

// requestID returns the id that the client or a proxy gave, if it is safe to repeat and to log, or
// a new one, which it writes to fresh.
func requestID(fresh *[requestIDBytes]byte, given []byte) []byte {
	if tracing.ValidRequestID(given) {
		return given
	}
	var id [requestIDBytes / 2]byte
	binary.LittleEndian.PutUint64(id[:], rand.Uint64()) // to tell requests apart, not to be secret
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	hex.Encode(fresh[:], id[:])
	return fresh[:]
}
