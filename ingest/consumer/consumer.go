// Package consumer moves events from Kafka to ClickHouse, each of them exactly once.
//
// The partitions of a topic that this member of the consumer group owns have a batcher for each
// shard. It reads them into batches, announces each batch with the commit of the one before, and
// inserts it; exactlyonce.go says why nothing is lost and nothing counted twice, whatever breaks.
package consumer

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
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
	placements *stream.Placements
	postgres   *postgres.Pool
	ledger     kafka.Ledger
	log        *slog.Logger
	metrics    *metrics
	streams    map[string]stream.Stream
	buffer     *buffer
	pool       recordPool

	health     *stream.Health
	leaveAfter time.Duration // without an answer of ClickHouse

	// Of the present membership.
	leave   context.CancelCauseFunc // ends it, with the reason
	taking  sync.WaitGroup
	storing sync.WaitGroup

	owned atomic.Int32 // number of partitions

	mu         sync.Mutex
	partitions map[assignment]*partition
	batchers   map[batcherKey]*batcher // of the present membership
	ends       map[assignment]int64    // the log's end, as last seen
	halted     map[assignment]error    // partitions that stand still, and why
	joined     bool                    // a member of the group
	away       error                   // why Kafka does not answer
}

type assignment struct {
	topic     string
	partition int32
}

// Deps are the dependencies of the service; all are required, but for those that may be nil.
type Deps struct {
	Kafka      kafka.Config
	Hooks      []kgo.Hook      // see what the client of the consumer group does; nil: none
	Trace      *tracing.Tracer // nil: no traces
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Erased     stream.ErasedIDs // people whose events are blanked; nil: no one
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
		cfg: c, kafka: d.Kafka, hooks: d.Hooks, trace: d.Trace, shards: shards,
		placements: stream.NewPlacements(d.Postgres, shards),
		postgres:   d.Postgres, ledger: kafka.Ledger{Pool: d.Postgres}, log: d.Log,
		streams:    map[string]stream.Stream{},
		buffer:     &buffer{max: int64(c.BufferBytes)},
		health:     &stream.Health{},
		partitions: map[assignment]*partition{},
		ends:       map[assignment]int64{},
		halted:     map[assignment]error{},

		leaveAfter: leaveAfter,
	}
	for _, s := range stream.All() {
		consumer.streams[s.Topic] = s.Blanking(d.Erased)
	}
	consumer.metrics = newMetrics(d.Registerer, consumer.status)
	consumer.Loop = service.NewLoop("consumer", consumer.run)
	return consumer, nil
}
