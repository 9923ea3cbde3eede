package collector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/valyala/fasthttp"
)

var gzipReaders = sync.Pool{New: func() any { return new(gzip.Reader) }}

func tooLarge(limit int) refusal {
	return refusal{fasthttp.StatusRequestEntityTooLarge, codeTooLarge, fmt.Sprintf("The body has more than %d bytes.", limit)}
}

// body returns the body of a request that came as raw, unpacked, if its type and size are allowed.
func (b *batch) body(ctx *fasthttp.RequestCtx, raw []byte, limit int) ([]byte, refusal, bool) {
	if no, refused := checkType(ctx.Request.Header.ContentType()); refused {
		return nil, no, true
	}
	encoding := bytes.TrimSpace(ctx.Request.Header.Peek(fasthttp.HeaderContentEncoding))
	switch {
	case len(ctx.Request.Header.PeekAll(fasthttp.HeaderContentEncoding)) > 1:
	case len(encoding) == 0, bytes.EqualFold(encoding, []byte("identity")):
		if len(raw) == 0 {
			return nil, refusal{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is empty."}, true
		}
		return raw, refusal{}, false
	case bytes.EqualFold(encoding, []byte("gzip")), bytes.EqualFold(encoding, []byte("x-gzip")):
		return b.unpack(raw, limit)
	}
	return nil, refusal{fasthttp.StatusUnsupportedMediaType, codeMediaType, "The Content-Encoding is not supported; send gzip or none."}, true
}

// unpack reads a gzip body, and stops as soon as it is larger than allowed.
func (b *batch) unpack(packed []byte, limit int) ([]byte, refusal, bool) {
	no := refusal{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid gzip."}
	r := gzipReaders.Get().(*gzip.Reader)
	defer gzipReaders.Put(r)
	if err := r.Reset(bytes.NewReader(packed)); err != nil {
		return nil, no, true
	}
	out := b.unpacked[:0]
	for {
		if len(out) == cap(out) {
			out = append(out, make([]byte, max(4<<10, cap(out)))...)[:len(out)]
		}
		n, err := r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
		b.unpacked = out
		switch {
		case len(out) > limit:
			return nil, tooLarge(limit), true
		case errors.Is(err, io.EOF):
			return out, refusal{}, false
		case err != nil:
			return nil, no, true
		}
	}
}

// checkType allows application/json and text/plain, which is what a browser's sendBeacon can send
// without asking first. The only charset of JSON is UTF-8, of which ASCII is a part.
func checkType(value []byte) (refusal, bool) {
	if string(value) == "application/json" { // as nearly everybody writes it
		return refusal{}, false
	}
	no := refusal{fasthttp.StatusUnsupportedMediaType, codeMediaType, "The Content-Type is not supported; send application/json or text/plain, in UTF-8."}
	media, params, _ := bytes.Cut(value, []byte{';'})
	media = bytes.TrimSpace(media)
	if !bytes.EqualFold(media, []byte("application/json")) && !bytes.EqualFold(media, []byte("text/plain")) {
		return no, true
	}
	for param := range bytes.SplitSeq(params, []byte{';'}) {
		name, charset, _ := bytes.Cut(bytes.TrimSpace(param), []byte{'='})
		if !bytes.EqualFold(name, []byte("charset")) {
			continue
		}
		charset = bytes.Trim(charset, `"`)
		if !bytes.EqualFold(charset, []byte("utf-8")) && !bytes.EqualFold(charset, []byte("us-ascii")) {
			return no, true
		}
	}
	return refusal{}, false
}
