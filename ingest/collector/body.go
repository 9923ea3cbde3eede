package collector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
)

// scratch holds what one request takes until it is answered: its body, the decoder of it, and its
// records. It is pooled.
type scratch struct {
	class    int    // whose pool it belongs to
	held     permit // of the limits on what is worked on
	raw      []byte // the body as it was sent, if the server has not read it
	unpacked []byte // the body, if it was compressed
	source   bytes.Buffer
	decoder  *jsontext.Decoder

	arrived  time.Time // when the request was complete
	records  []producer.Record
	arena    []byte // the records' keys and values
	ends     []int  // where each record's key and value end in the arena
	rejected []rejection
	bots     int
	unhashed int
	wait     time.Duration // until what was rejected for a limit may be sent again
}

// scratchClasses are the pools, by the size that a body is announced to have, with the memory that
// each buffer of a scratch keeps for its next request: so large buffers stay with few. Small ones
// are by the thousand. No class keeps more than what its requests take anyway while they wait for
// Kafka.
var scratchClasses = [...]struct{ body, keep int }{
	{2 << 10, 4 << 10},     // one event, or some
	{firstBytes, 24 << 10}, // tens
	{math.MaxInt, 256 << 10},
}

// newScratch returns a scratch for a body that is announced to be so many bytes long, or -1.
func (c *Collector) newScratch(announced int) *scratch {
	class := 0
	if announced < 0 {
		announced = firstBytes
	}
	for announced > scratchClasses[class].body {
		class++
	}
	s := c.scratches[class].Get().(*scratch)
	s.class = class
	return s
}

// trim lets go of a buffer of the body that is too large to be reused: the records do not refer to
// it. A request may wait for Kafka for seconds, and is charged for less.
func (s *scratch) trim() {
	limit := min(scratchClasses[s.class].keep, 4*firstBytes)
	if cap(s.raw) <= limit && cap(s.unpacked) <= limit {
		return
	}
	s.raw, s.unpacked = reuse(s.raw, limit), reuse(s.unpacked, limit)
	s.open(nil) // the decoder refers to the body until it reads another one
}

// release gives a scratch back when the request is answered.
func (c *Collector) release(s *scratch) {
	s.held.release()
	s.trim()
	clear(s.records)
	clear(s.rejected)
	pool := &c.scratches[s.class]
	*s = scratch{
		raw: s.raw[:0], unpacked: s.unpacked[:0], decoder: s.decoder, records: s.records[:0],
		arena: reuse(s.arena, scratchClasses[s.class].keep), ends: s.ends[:0], rejected: s.rejected[:0],
	}
	pool.Put(s)
}

// reuse returns a buffer for its next use, or nil if it is larger than the limit.
func reuse(b []byte, limit int) []byte {
	if cap(b) > limit {
		return nil
	}
	return b[:0]
}

// firstBytes is the most memory that a body has to begin with; it is about what the server reads
// ahead.
const firstBytes = 16 << 10

// receive admits a request and returns its body, decompressed and without a byte order mark. The
// scratch holds what the request takes of the limits.
func (c *Collector) receive(ctx *fasthttp.RequestCtx, s *scratch) ([]byte, *requestProblem) {
	sent, p := c.readBody(ctx, s)
	if p != nil {
		c.endAfter(ctx)
		return nil, p
	}
	s.arrived = time.Now()
	if p := c.admit(s, len(sent)); p != nil {
		return nil, p
	}
	body, p := s.unpack(&ctx.Request.Header, sent, c.config.MaxBodyBytes)
	if p != nil {
		return nil, p
	}
	if !s.held.grow(int64(len(s.unpacked) + len(body))) { // the unpacked body, and its records
		c.metrics.refused[refusedBytes].Inc()
		return nil, overloaded
	}
	return bytes.TrimPrefix(body, []byte("\ufeff")), nil // which RFC 8259 lets a reader pass over
}

// readBody returns the body of a request as it was sent, which it reads if the server has not.
func (c *Collector) readBody(ctx *fasthttp.RequestCtx, s *scratch) ([]byte, *requestProblem) {
	limit, announced := c.config.MaxBodyBytes, ctx.Request.Header.ContentLength()
	if announced > limit {
		return nil, tooLarge(limit)
	}
	stream := ctx.RequestBodyStream()
	if stream == nil {
		return ctx.Request.Body(), nil
	}
	size := firstBytes
	if announced >= 0 {
		size = min(size, announced+1) // one more, to see the end
	}
	body, taken := slices.Grow(s.raw[:0], size), int64(0)
	defer func() {
		s.raw = body
		c.bodies.used.Add(-taken)
	}()
	for {
		if len(body) == size {
			size = min(4*size, limit+1)
			if !c.bodies.take(int64(size) - taken) {
				c.metrics.refused[refusedBytes].Inc()
				return nil, overloaded
			}
			taken = int64(size)
			body = slices.Grow(body, size-len(body))
		}
		n, err := stream.Read(body[len(body):size])
		body = body[:len(body)+n]
		switch {
		case len(body) > limit:
			return nil, tooLarge(limit)
		case errors.Is(err, io.EOF):
			return body, nil
		case err != nil:
			return nil, unreadable(err)
		}
	}
}

// unpack returns the body of a request, decompressed, if its type and size are allowed.
func (s *scratch) unpack(h *fasthttp.RequestHeader, sent []byte, limit int) ([]byte, *requestProblem) {
	if !isJSON(h.ContentType()) {
		return nil, &requestProblem{fasthttp.StatusUnsupportedMediaType, codeMediaType,
			"The Content-Type is not supported; send application/json or text/plain, in UTF-8."}
	}
	// several lines are one list
	encoding := bytes.TrimSpace(bytes.Join(h.PeekAll(fasthttp.HeaderContentEncoding), []byte{','}))
	switch {
	case len(encoding) == 0, bytes.EqualFold(encoding, []byte("identity")):
		if len(sent) == 0 {
			return nil, &requestProblem{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is empty."}
		}
		return sent, nil
	case bytes.EqualFold(encoding, []byte("gzip")), bytes.EqualFold(encoding, []byte("x-gzip")):
		return s.gunzip(sent, limit)
	}
	return nil, &requestProblem{fasthttp.StatusUnsupportedMediaType, codeMediaType,
		"The Content-Encoding is not supported; send gzip or none."}
}

// isJSON allows application/json and text/plain, which a browser's sendBeacon can send without a
// preflight. The only charset of JSON is UTF-8, which includes ASCII.
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
		if bytes.EqualFold(name, []byte("charset")) && !bytes.EqualFold(charset, []byte("utf-8")) &&
			!bytes.EqualFold(charset, []byte("us-ascii")) {
			return false
		}
	}
	return true
}

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

// gunzip decompresses a body, and stops as soon as it is larger than allowed.
func (s *scratch) gunzip(packed []byte, limit int) ([]byte, *requestProblem) {
	invalid := &requestProblem{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid gzip."}
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(packed)); err != nil {
		return nil, invalid
	}
	out := s.unpacked[:0]
	for {
		out = slices.Grow(out, max(1, 4<<10-len(out)))
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		s.unpacked = out
		switch {
		case len(out) > limit:
			return nil, tooLarge(limit)
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, invalid
		}
	}
}

// endAfter closes the connection after the answer, which a client that is still sending can read.
func (c *Collector) endAfter(ctx *fasthttp.RequestCtx) {
	ctx.SetConnectionClose()
	if own, ok := ctx.Conn().(*conn); ok {
		own.linger.Store(true)
	}
}

func tooLarge(limit int) *requestProblem {
	return &requestProblem{fasthttp.StatusRequestEntityTooLarge, codeTooLarge,
		fmt.Sprintf("The body has more than %d bytes.", limit)}
}

// unreadable returns the problem of a request that could not be read.
func unreadable(err error) *requestProblem {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return &requestProblem{fasthttp.StatusRequestTimeout, codeUnavailable, "The request did not arrive in time."}
	}
	return &requestProblem{fasthttp.StatusBadRequest, codeInvalidParameter, "The request is not valid HTTP."}
}
