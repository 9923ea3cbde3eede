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

	"github.com/ClickHouse/ch-go"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/logbook"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

// Consumer is a member of the consumer group. It is a service.Service.
type Consumer struct {
	*service.Loop
	cfg        Config
	kafka      kafka.Config
	clickhouse ch.Options
	logbook    *logbook.Book
	log        *slog.Logger
	metrics    *metrics
	streams    map[string]stream.Stream
	buffer     *buffer
	pool       recordPool
	slots      chan *slot // those that no block has

	health     *stream.Health
	leaveAfter time.Duration // without an answer of ClickHouse

	leave   context.CancelCauseFunc // ends the present membership, with the reason
	commits *committer              // of the present membership

	owned atomic.Int32 // number of workers

	mu      sync.Mutex
	workers map[assignment]*worker
	ends    map[assignment]int64 // the log's end, as last seen
	halted  map[assignment]error // partitions that stand still, and why
	joined  bool                 // a member of the group
}

type assignment struct {
	topic     string
	partition int32
}

// Deps is what the service works with; all of it is required.
type Deps struct {
	Kafka      kafka.Config
	ClickHouse clickhouse.Config
	Postgres   *postgres.Pool
	Erased     stream.Erased // people whose events are blanked; nil: no one
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// New returns a consumer of events and link views. It connects when it is started. The pool is for what is on record
// about the topics' logs.
func New(c Config, d Deps) (*Consumer, error) {
	options, err := d.ClickHouse.BlockOptions()
	if err != nil {
		return nil, err
	}
	consumer := &Consumer{
		cfg: c, kafka: d.Kafka, clickhouse: options, logbook: logbook.New(d.Postgres), log: d.Log,
		streams: map[string]stream.Stream{},
		buffer:  &buffer{max: int64(c.BufferBytes)},
		health:  &stream.Health{},
		workers: map[assignment]*worker{},
		ends:    map[assignment]int64{},
		halted:  map[assignment]error{},

		leaveAfter: leaveAfter,
	}
	for _, s := range stream.All() {
		consumer.streams[s.Topic] = s.Blanking(d.Erased)
	}
	consumer.slots = newSlots(options, d.Log, consumer.health)
	consumer.metrics = newMetrics(d.Registerer, consumer.status)
	consumer.Loop = service.NewLoop("consumer", consumer.run)
	return consumer, nil
}
