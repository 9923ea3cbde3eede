package collector

import (
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"lodestone/pkg/problem"
)

// refusedAs is where a request keeps the code of its refusal.
const refusedAs = "code"

// refusedLogged is how many refusals a second are logged: an attack or an overload must not fill the disk. All are counted.
const refusedLogged = 20

// logBudget lets so many lines a second into the log. The zero value is ready; it is safe for concurrent use.
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
	switch path {
	case eventsPath, viewsPath, pixelPath, beaconPath:
	default:
		path = "unmatched"
	}
	code, _ := ctx.UserValue(refusedAs).(problem.Code)
	c.deps.Log.LogAttrs(ctx, slog.LevelInfo, "request refused", slog.String("request_id", string(ctx.Response.Header.Peek(headerRequestID))),
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
