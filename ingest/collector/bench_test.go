package collector

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
)

func benchEvent(token string) string {
	return `{"token":"` + token + `","event_type":"page_viewed","event_data":{"page":3,"duration_ms":8200},` +
		`"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","session_id":"01890a5d-ac96-774b-bcce-b302099a8058",` +
		`"created_at":"2026-03-14T15:09:26.535Z","sent_at":"2026-03-14T15:09:27Z"}`
}

const benchAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"

// BenchmarkRead is the way from a body to records: JSON, token, rules, encoding.
func BenchmarkRead(b *testing.B) {
	c, token := newBare(b, sinkFunc(func([]producer.Record) {}))
	one := benchEvent(token)
	for _, n := range []int{1, 10, 500} {
		body := []byte(one)
		if n > 1 {
			body = []byte("[" + strings.Repeat(one+",", n-1) + one + "]")
		}
		b.Run(fmt.Sprintf("events=%d", n), func(b *testing.B) {
			s, v := sender{receivedAt: c.deps.Now(), userAgent: []byte(benchAgent)}, visitor{}
			work := new(batch)
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if no, refused := work.read(c, body, &s, &v); refused || len(work.records) != n {
					b.Fatal(no)
				}
				work.reset()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/event")
		})
	}
}

// BenchmarkHandler is a whole request of one event but for the network and Kafka.
func BenchmarkHandler(b *testing.B) {
	c, token := newBare(b, sinkFunc(func([]producer.Record) {}))
	ctx := &fasthttp.RequestCtx{}
	ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(203, 0, 113, 1), Port: 1}, nil)
	ctx.Request.Header.SetMethod(fasthttp.MethodPost)
	ctx.Request.SetRequestURI(eventsPath)
	ctx.Request.Header.SetContentType("text/plain;charset=UTF-8")
	ctx.Request.Header.SetUserAgent(benchAgent)
	ctx.Request.SetBodyString(benchEvent(token))
	b.ReportAllocs()
	for b.Loop() {
		ctx.Response.Reset()
		c.serve(ctx)
		if ctx.Response.StatusCode() != fasthttp.StatusAccepted {
			b.Fatal(string(ctx.Response.Body()))
		}
	}
}
