package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// limitCommand is a server that does only what has to be done: it reads the request, and answers like the collector,
// with --records only when Kafka has acknowledged so many records of an event's size. It reads no JSON, verifies
// no token, hashes and encodes nothing.
type limitCommand struct {
	Listen   string          `name:"limit-listen" required:"" help:"Address to listen on."`
	Records  int             `name:"limit-records" help:"Records to write for each request; 0: none."`
	Seed     uint64          `name:"limit-seed" default:"1" help:"What the records are drawn from."`
	Producer producer.Config `embed:""`
	Kafka    kafka.Config    `embed:""`
}

// Run serves until ctx ends.
func (c *limitCommand) Run(ctx context.Context) (err error) {
	handler := func(ctx *fasthttp.RequestCtx) { answerLikeTheCollector(ctx, 1) }
	if c.Records > 0 {
		p, err := startProducer(ctx, c.Producer, c.Kafka)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
		handler = waitForKafka(p, newRecords(c.Seed), c.Records)
	}
	server := &fasthttp.Server{Handler: handler, NoDefaultServerHeader: true, NoDefaultContentType: true, CloseOnShutdown: true}
	done := make(chan error, 1)
	go func() { done <- server.ListenAndServe(c.Listen) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = server.ShutdownWithContext(bounded)
	}
	return err
}

// waitForKafka returns a handler that waits as the collector does, for as long.
func waitForKafka(p *producer.Producer, r *records, n int) fasthttp.RequestHandler {
	const timeout = 5 * time.Second
	parcels := sync.Pool{New: func() any { return r.parcel(n) }}
	return func(ctx *fasthttp.RequestCtx) {
		bounded, cancel := context.WithTimeout(context.Background(), timeout)
		defer cancel()
		own := parcels.Get().(*parcel)
		defer parcels.Put(own)
		if err := p.Write(bounded, own.renew()); err != nil {
			ctx.Error(err.Error(), fasthttp.StatusServiceUnavailable)
			return
		}
		answerLikeTheCollector(ctx, n)
	}
}

// answerLikeTheCollector answers with the same headers and body.
func answerLikeTheCollector(ctx *fasthttp.RequestCtx, events int) {
	ctx.SetStatusCode(fasthttp.StatusAccepted)
	h := &ctx.Response.Header
	h.SetContentType("application/json")
	h.Set("X-Request-Id", "0123456789abcdef0123456789abcdef")
	h.Set(fasthttp.HeaderAccessControlAllowOrigin, "*")
	h.Set(fasthttp.HeaderAccessControlExposeHeaders, "X-Request-Id, Retry-After")
	body := append(make([]byte, 0, 64), `{"accepted":`...)
	body = strconv.AppendInt(body, int64(events), 10)
	ctx.SetBody(append(body, `,"rejected":[]}`+"\n"...))
}

// records makes records of realistic events. It is safe for concurrent use.
type records struct {
	mu       sync.Mutex
	messages *messages
}

func newRecords(seed uint64) *records { return &records{messages: newMessages(seed, nil)} }

// parcel is records that one writer writes again and again, each time with other event ids.
type parcel struct {
	records []producer.Record
	ids     [][]byte // where the event ids stand
}

// parcel returns n records.
func (r *records) parcel(n int) *parcel {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := &parcel{}
	var e event.Event
	for range n {
		r.messages.next(&e)
		e.ReceivedAt = time.Now().UnixMilli()
		e.CreatedAt = e.ReceivedAt - 200
		value := e.Append(nil)
		id := bytes.Index(value, e.EventID[:])
		p.ids = append(p.ids, value[id:id+len(e.EventID)])
		p.records = append(p.records, producer.Record{Topic: event.Topic, Key: bytes.Clone(e.AccessLinkID[:]), Value: value})
	}
	return p
}

// renew returns the records with new ids.
func (p *parcel) renew() []producer.Record {
	for _, at := range p.ids {
		id := newID()
		copy(at, id[:])
	}
	return p.records
}

// startLimit starts a limit's server. records says how many records it writes a request; 0: none.
func (b *Bench) startLimit(ctx context.Context, e *Engines, name string, records int) (*Process, string, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err := b.Start(ctx, name, b.self, e.Environment(), func(ctx context.Context) error { return probe.Listens(ctx, address) },
		"bench", "limit", "--limit-listen="+address, fmt.Sprintf("--limit-records=%d", records), fmt.Sprintf("--limit-seed=%d", b.Seed))
	return p, address, err
}

// startProducer starts the producer of events as the collector has it. Whoever calls it stops it.
func startProducer(ctx context.Context, c producer.Config, k kafka.Config) (*producer.Producer, error) {
	log := newLog(os.Stderr)
	p, err := producer.New(c, producer.Deps{
		Kafka: k.Options(log), Topics: []string{event.Topic}, Log: log, Registerer: prometheus.NewRegistry(),
	})
	if err != nil {
		return nil, err
	}
	return p, p.Start(ctx)
}
