package collector

import (
	"errors"
	"io"
	"net"
	"sync/atomic"

	"github.com/valyala/fasthttp"
)

// arrivals bounds the memory of large bodies that are still on their way: each takes of it as it
// grows, by what has arrived, not by what was announced. A body that the server has read together
// with its headers takes nothing, so that clients which send slowly keep none of the small ones out.
type arrivals struct {
	most  int64
	bytes atomic.Int64
}

func (a *arrivals) take(n int64) bool {
	if a.bytes.Add(n) > a.most {
		a.bytes.Add(-n)
		return false
	}
	return true
}

// firstBytes is the room that a body has to begin with; it is about what the server reads ahead.
const firstBytes = 16 << 10

var (
	errLargeBody = errors.New("the body is too large")
	errNoRoom    = errors.New("too many bodies are arriving")
)

// receive returns the body of a request as it was sent, or answers the request.
func (c *Collector) receive(ctx *fasthttp.RequestCtx, b *batch) ([]byte, bool) {
	body, err := c.readBody(ctx, b)
	if err == nil {
		return body, true
	}
	var timeout net.Error
	switch {
	case errors.Is(err, errLargeBody):
		refuseWith(ctx, tooLarge(c.config.MaxBodyBytes))
	case errors.Is(err, errNoRoom):
		c.overloaded(ctx, refusedBytes, "")
	case errors.As(err, &timeout) && timeout.Timeout():
		refuseWith(ctx, late)
	default:
		refuseWith(ctx, notHTTP)
	}
	c.endAfter(ctx)
	return nil, false
}

// endAfter closes the connection after the answer, which a client that is still sending can read.
func (c *Collector) endAfter(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if own := c.listener.find(ctx.Conn()); own != nil {
		own.linger.Store(true)
	}
}

func (c *Collector) readBody(ctx *fasthttp.RequestCtx, b *batch) ([]byte, error) {
	limit := c.config.MaxBodyBytes
	if ctx.Request.Header.ContentLength() > limit {
		return nil, errLargeBody
	}
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return ctx.Request.Body(), nil
	}
	taken := int64(0)
	defer func() { c.arriving.bytes.Add(-taken) }()
	if b.raw == nil {
		b.raw = make([]byte, 0, firstBytes)
	}
	body := b.raw
	for {
		if len(body) == cap(body) {
			larger := nextRoom(cap(body))
			if !c.arriving.take(int64(roomSizes[larger]) - taken) {
				return nil, errNoRoom
			}
			taken = int64(roomSizes[larger])
			r := c.rooms.get(larger)
			body = append(r.bytes[:0], body...)
			c.rooms.put(b.room)
			b.room = r
		}
		n, err := stream.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, errLargeBody
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, err
		}
	}
}
