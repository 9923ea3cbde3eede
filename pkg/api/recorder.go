package api

import (
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"

	"lodestone/pkg/asset"
)

// minGzip is the size from which an answer is compressed: below, it saves no packet.
const minGzip = 1 << 10

// recorder remembers what was answered, and compresses it for a client that takes that.
type recorder struct {
	http.ResponseWriter
	status  int
	bytes   int64  // as sent
	accepts string // content codings of the client
	head    bool
	packer  packer
	from    *sync.Pool // of the packer
}

// packer is a writer that compresses.
type packer interface {
	io.WriteCloser
	Reset(to io.Writer)
}

func (o *recorder) WriteHeader(status int) {
	if o.status == 0 && status >= 200 {
		o.status = status
		o.compress(status)
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *recorder) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.WriteHeader(http.StatusOK)
	}
	if o.packer != nil {
		return o.packer.Write(b)
	}
	return o.send(b)
}

func (o *recorder) send(b []byte) (int, error) {
	n, err := o.ResponseWriter.Write(b)
	o.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (o *recorder) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// compress decides, when the header is about to be sent, whether what follows is compressed. An
// answer of unknown length may be a stream, and one that is encoded already comes from a proxy. A
// strong ETag stands for these bytes and no others, so it becomes a weak one.
func (o *recorder) compress(status int) {
	h := o.Header()
	length, err := strconv.Atoi(h.Get("Content-Length"))
	if err != nil || length < minGzip || status < 200 || status == http.StatusNoContent ||
		status == http.StatusNotModified ||
		status == http.StatusPartialContent || h.Get("Content-Encoding") != "" || !compressible(h.Get("Content-Type")) {
		return
	}
	h.Add("Vary", "Accept-Encoding")
	coding, from := "gzip", &packers
	if strings.HasPrefix(h.Get("Content-Type"), "text/html") {
		from = &pagePackers
		if asset.Accepts(o.accepts, "br") {
			coding, from = "br", &brotliPackers
		}
	}
	if !asset.Accepts(o.accepts, coding) {
		return
	}
	h.Set("Content-Encoding", coding)
	h.Del("Content-Length")
	if tag := h.Get("ETag"); tag != "" && !strings.HasPrefix(tag, "W/") {
		h.Set("ETag", "W/"+tag)
	}
	if !o.head {
		o.from, o.packer = from, from.Get().(packer)
		o.packer.Reset(sender(o.send))
	}
}

// Of a page of 96 kB, level 8 of gzip makes 5 % less than its default, in 0.75 ms instead of 0.36,
// and level 5 of brotli a further 8 %, in 1.9 ms. Level 7 makes 1 % less than that in a quarter
// more time, which the heaviest screens need.
const (
	pageLevel   = 8
	brotliLevel = 7
)

// Packers are kept for the next answer: one takes most of a megabyte.
var (
	packers     = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}
	pagePackers = sync.Pool{New: func() any {
		w, _ := gzip.NewWriterLevel(io.Discard, pageLevel) // it fails for other levels only
		return w
	}}
	brotliPackers = sync.Pool{New: func() any {
		// a window of 256 kB
		return brotli.NewWriterOptions(io.Discard, brotli.WriterOptions{Quality: brotliLevel, LGWin: 18})
	}}
)

// close ends an answer that is whole.
func (o *recorder) close() {
	if o.packer != nil {
		_ = o.packer.Close() // a client that left needs no answer
		o.packer.Reset(io.Discard)
		o.from.Put(o.packer)
		o.packer, o.from = nil, nil
	}
}

type sender func(b []byte) (int, error)

func (s sender) Write(b []byte) (int, error) { return s(b) }

func compressible(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && (strings.HasPrefix(kind, "text/") && kind != "text/event-stream" ||
		kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
