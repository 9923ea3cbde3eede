package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// limitCommand is a server that does the least: it reads the request, and answers like the collector,
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
	const patience = 5 * time.Second
	parcels := sync.Pool{New: func() any { return r.parcel(n) }}
	return func(ctx *fasthttp.RequestCtx) {
		bounded, cancel := context.WithTimeout(context.Background(), patience)
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

// records makes records of realistic events, each with an id of its own. It is safe for concurrent use.
type records struct {
	templates []template
	next      atomic.Uint64
}

type template struct {
	record []byte // key and value
	id     int    // where the event id stands
}

const templates = 4096

func newRecords(seed uint64) *records {
	m := &messages{generator: traffic.New(traffic.Year(seed, worldEvents))}
	r := &records{}
	var e event.Event
	for range templates {
		m.next(&e)
		at := time.Now().UnixMilli()
		e.CreatedAt, e.ReceivedAt = at-200, at
		record := e.Append(append([]byte{}, e.AccessLinkID[:]...))
		r.templates = append(r.templates, template{record, bytes.Index(record, e.EventID[:])})
	}
	return r
}

// parcel is records that one writer writes again and again, each time with other event ids.
type parcel struct {
	records []producer.Record
	ids     [][]byte // where the event ids stand
	source  idSource
}

// parcel returns the next n records, in memory of their own.
func (r *records) parcel(n int) *parcel {
	first := r.next.Add(uint64(n)) - uint64(n)
	p := &parcel{source: idSource{state: rand.Uint64()}}
	for i := range n {
		t := &r.templates[(first+uint64(i))%templates]
		own := bytes.Clone(t.record)
		p.ids = append(p.ids, own[t.id:t.id+len(uuid.UUID{})])
		p.records = append(p.records, producer.Record{Topic: event.Topic, Key: own[:len(uuid.UUID{})], Value: own[len(uuid.UUID{}):]})
	}
	return p
}

// renew returns the records with new ids.
func (p *parcel) renew() []producer.Record {
	for _, id := range p.ids {
		p.source.fill((*[16]byte)(id))
	}
	return p.records
}

// startLimit starts a limit's server. records says how many records it writes a request; 0: none.
func (b *Bench) startLimit(ctx context.Context, e *Engines, name string, records int) (*Process, string, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, "", err
	}
	p, err := b.Start(ctx, name, b.self, e.Environment(), func(ctx context.Context) error { return listens(ctx, address) },
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
