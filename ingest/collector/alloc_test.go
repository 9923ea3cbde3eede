//go:build !race

// Under the race detector a sync.Pool drops at random what it is given.

package collector

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
)

func TestNothingIsAllocatedToReadEvents(t *testing.T) {
	c, token := newBare(t, sinkFunc(func([]producer.Record) {}))
	for _, n := range []int{1, 3, 6, 10, 20, 40, 100, 500} {
		t.Run(fmt.Sprintf("events=%d", n), func(t *testing.T) {
			body := benchBody(benchEvent(token), n)
			from := sender{receivedAt: c.deps.Now(), userAgent: []byte(benchAgent)}
			require.Zero(t, testing.AllocsPerRun(100, func() {
				s := c.newScratch(len(body))
				if p := c.decode(s, &eventsEndpoint, body, &from); p != nil || len(s.records) != n {
					t.Error(p)
				}
				c.release(s)
			}))
		})
	}
}

// The network and Kafka are left out.
func TestNothingIsAllocatedToAnswerARequest(t *testing.T) {
	c, token := newBare(t, sinkFunc(func([]producer.Record) {}))
	for _, n := range []int{1, 10, 100} {
		t.Run(fmt.Sprintf("events=%d", n), func(t *testing.T) {
			body := benchBody(benchEvent(token), n)
			ctx, stream := benchRequest(body), bytes.NewReader(body)
			require.Zero(t, testing.AllocsPerRun(100, func() {
				ctx.Response.Reset()
				stream.Reset(body)
				ctx.Request.SetBodyStream(stream, len(body)) // as the server does, also with what it has read already
				c.serve(ctx)
				if ctx.Response.StatusCode() != fasthttp.StatusAccepted {
					t.Error(string(ctx.Response.Body()))
				}
			}))
		})
	}
}
