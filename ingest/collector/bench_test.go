package collector

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
)

func benchEvent(token string) string {
	return `{"token":"` + token + `","event_type":"page_viewed","event_data":{"page":3,"duration_ms":8200},` +
		`"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","session_id":"01890a5d-ac96-774b-bcce-b302099a8058",` +
		`"created_at":"2026-03-14T15:09:26.535Z","sent_at":"2026-03-14T15:09:27Z"}`
}

// benchBody is a body of n events.
func benchBody(one string, n int) []byte {
	if n == 1 {
		return []byte(one)
	}
	return []byte("[" + strings.Repeat(one+",", n-1) + one + "]")
}

const benchAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// BenchmarkRead is the way from a body to records: JSON, token, rules, encoding.
func BenchmarkRead(b *testing.B) {
	c, token := newBare(b, sinkFunc(func([]producer.Record) {}))
	one := benchEvent(token)
	for _, n := range []int{1, 10, 500} {
		body := benchBody(one, n)
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			from := sender{receivedAt: c.deps.Now(), userAgent: []byte(benchAgent)}
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				s := c.newScratch(len(body))
				if p := c.decode(s, &eventsEndpoint, body, &from); p != nil || len(s.records) != n {
					b.Fatal(p)
				}
				c.release(s)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

// benchRequest is a request as the server hands it to the handler.
func benchRequest(body []byte) *fasthttp.RequestCtx {
	ctx := &fasthttp.RequestCtx{}
	ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(203, 0, 113, 1), Port: 1}, nil)
	ctx.Request.Header.SetMethod(fasthttp.MethodPost)
	ctx.Request.SetRequestURI(eventsPath)
	ctx.Request.Header.SetContentType("text/plain;charset=UTF-8")
	ctx.Request.Header.SetUserAgent(benchAgent)
	ctx.Request.Header.Set(fasthttp.HeaderAcceptLanguage, "de-DE,de;q=0.9,en;q=0.8")
	ctx.Request.Header.SetContentLength(len(body))
	ctx.Request.SetBody(body)
	return ctx
}

// BenchmarkHandler is a whole request of one event but for the network and Kafka.
func BenchmarkHandler(b *testing.B) {
	c, token := newBare(b, sinkFunc(func([]producer.Record) {}))
	ctx := benchRequest([]byte(benchEvent(token)))
	b.ReportAllocs()
	for b.Loop() {
		ctx.Response.Reset()
		c.serve(ctx)
		if ctx.Response.StatusCode() != fasthttp.StatusAccepted {
			b.Fatal(string(ctx.Response.Body()))
		}
	}
}

// BenchmarkJSON compares ways to read one event.
func BenchmarkJSON(b *testing.B) {
	_, token := newBare(b, sinkFunc(func([]producer.Record) {}))
	body := []byte(benchEvent(token))
	b.Run("jsontext", func(b *testing.B) {
		source := bytes.NewBuffer(body)
		dec := jsontext.NewDecoder(source, jsontext.AllowDuplicateNames(true))
		var e element
		b.ReportAllocs()
		for b.Loop() {
			*source = *bytes.NewBuffer(body)
			dec.Reset(source, jsontext.AllowDuplicateNames(true))
			if err := e.read(dec, &eventsEndpoint); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var e map[string]json.RawMessage
			if err := json.Unmarshal(body, &e); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// crowd is a sink that lets its callers wait for one another, as Kafka's round trip does: so a
// request's memory has left the processor's caches when it goes on.
type crowd struct {
	mu      sync.Mutex
	waiting []chan struct{}
}

func (s *crowd) Write(context.Context, []producer.Record) error {
	done := make(chan struct{})
	s.mu.Lock()
	s.waiting = append(s.waiting, done)
	s.mu.Unlock()
	<-done
	return nil
}

func (s *crowd) release(stop <-chan struct{}) {
	for {
		select {
		case <-stop:
			return
		default:
		}
		s.mu.Lock()
		all := s.waiting
		s.waiting = nil
		s.mu.Unlock()
		for _, done := range all {
			close(done)
		}
		runtime.Gosched()
	}
}

// BenchmarkCrowd is BenchmarkHandler with 512 requests under way at a time.
func BenchmarkCrowd(b *testing.B) {
	sink := &crowd{}
	c, token := newBare(b, sink)
	c.admission.maxRequests = 4096
	stop := make(chan struct{})
	defer close(stop)
	go sink.release(stop)
	b.SetParallelism(512 / runtime.GOMAXPROCS(0))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := benchRequest([]byte(benchEvent(token)))
		for pb.Next() {
			ctx.Response.Reset()
			c.serve(ctx)
			if ctx.Response.StatusCode() != fasthttp.StatusAccepted {
				b.Error(string(ctx.Response.Body()))
				return
			}
		}
	})
}
