// Package consumer moves events from Kafka to ClickHouse, each of them exactly once.
//
// Every partition that this member of the consumer group owns has a worker. The worker cuts the
// partition's log into blocks, announces each block with the commit of the one before, and inserts
// it; ARCHITECTURE.md explains why nothing is lost and nothing counted twice, whatever breaks.
package consumer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/ingest/stream"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/placement"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/tracing"
)

// Consumer is a member of the consumer group. It is a service.Service.
type Consumer struct {
	*service.Loop
	cfg        Config
	kafka      kafka.Config
	hooks      []kgo.Hook
	trace      *tracing.Tracer
	shards     *clickhouse.Topology
	placements *placement.Ledger
	postgres   *postgres.Pool
	ledger     kafka.Ledger
	log        *slog.Logger
	metrics    *metrics
	streams    map[string]stream.Stream
	buffer     *buffer
	pool       recordPool
	slots      chan *slot // those that no block has

	routes map[uint16]route // to shards that have partitions; under mu
	looks  chan struct{}    // has an element for each look that runs

	health     *stream.Health
	leaveAfter time.Duration // without an answer of ClickHouse

	leave   context.CancelCauseFunc // ends the present membership, with the reason
	commits *committer              // of the present membership

	owned atomic.Int32 // number of workers
	pace  pace

	mu      sync.Mutex
	workers map[assignment]*worker
	ends    map[assignment]int64 // the log's end, as last seen
	halted  map[assignment]error // partitions that stand still, and why
	joined  bool                 // a member of the group
	away    error                // why Kafka does not answer
}

// sharedConnections is how many connections to a shard of ClickHouse all partitions of a consumer
// share. Hundreds of partitions that are taken over would otherwise send hundreds of queries at a
// time. Looks for events from a spool are the only slow ones, and each keeps all of the server's
// processors busy: few run at a time, so that inserts get a connection.
const (
	sharedConnections = 24
	sharedLooks       = 8
)

type assignment struct {
	topic     string
	partition int32
}

// Deps is what the service works with; all of it is required, but for what may be nil.
type Deps struct {
	Kafka      kafka.Config
	Hooks      []kgo.Hook      // see what the client of the consumer group does; nil: none
	Trace      *tracing.Tracer // nil: no traces
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Erased     stream.Erased // people whose events are blanked; nil: no one
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns a consumer of events and link views. It connects when it is started. The pool is for
// what is on record about the topics' logs.
func New(c Config, d Deps) (*Consumer, error) {
	shards, err := clickhouse.NewTopology(d.ClickHouse)
	if err != nil {
		return nil, err
	}
	consumer := &Consumer{
		cfg: c, kafka: d.Kafka, hooks: d.Hooks, trace: d.Trace, shards: shards, placements: placement.New(d.Postgres, shards), routes: map[uint16]route{},
		postgres: d.Postgres, ledger: kafka.Ledger{Pool: d.Postgres}, log: d.Log,
		streams: map[string]stream.Stream{},
		buffer:  &buffer{max: int64(c.BufferBytes)},
		health:  &stream.Health{},
		workers: map[assignment]*worker{},
		ends:    map[assignment]int64{},
		halted:  map[assignment]error{},

		looks: make(chan struct{}, sharedLooks),

		leaveAfter: leaveAfter,
	}
	for _, s := range stream.All() {
		consumer.streams[s.Topic] = s.Blanking(d.Erased)
	}
	consumer.slots = newSlots(consumer.shards.Compresses(), d.Log, consumer.health)
	consumer.metrics = newMetrics(d.Registerer, consumer.status)
	consumer.Loop = service.NewLoop("consumer", consumer.run)
	return consumer, nil
}
