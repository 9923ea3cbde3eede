// Package sizing says what machines a number of events a day needs. Its arithmetic starts from what was measured (cost.go), and a
// simulation checks what arithmetic cannot see: queues of inserts, merges that fall behind, and partitions that get more than their share.
package sizing

import (
	"math"
	"time"

	"lodestone/ingest/consumer"
)

// What an event costs in processor time, measured on two cores of an AMD EPYC with everything on one machine (docs/bench/report.md,
// docs/performance.md). Kafka is Apache Kafka, once; replicas of it cost as much again each.
const (
	collectorCost = 25.2e-6 // seconds an event, one event a request: bench collect, one/512
	batchCost     = 1.84e-6 // in requests of 100 events
	kafkaCost     = 15.2e-6 // bench end-to-end at 20,000 events/s, one broker
	consumerCost  = 6.0e-6  // the same, small blocks
	postgresCost  = 11.5e-6 // counters on 1 million links, without what ClickHouse takes: BenchmarkCount

	eventBytes  = 84.1 // on the disk of ClickHouse with all projections: bench report
	recordBytes = 65.0 // in Kafka, compressed by snappy: docs/record.md

	sessionBytes  = 140.0 // in Postgres, with its index: docs/postgres.md
	sessionEvents = 8     // an assumption
)

// insert is what one insert into ClickHouse costs, until its rows are merged: bench insert.
type insert struct{ rows, seconds float64 }

var measuredInserts = []insert{{100, 23.6e-3}, {1_000, 30.2e-3}, {10_000, 82.5e-3}, {100_000, 338e-3}}

// mergeShare is the part of an insert's cost that is spent after its rows are stored: bench consume, where ch-go stores 1,006,018 rows a
// second, and 679,320 until they are merged.
const mergeShare = 1 - 679_320.0/1_006_018

// insertCost returns the processor time of an insert of so many rows, in seconds. Between what was measured it is linear, and beyond it goes
// on as between the last two.
func insertCost(rows float64) float64 {
	m := measuredInserts
	if rows <= m[0].rows {
		return m[0].seconds
	}
	n := 1
	for n < len(m)-1 && rows > m[n].rows {
		n++
	}
	a, b := m[n-1], m[n]
	return a.seconds + (rows-a.rows)*(b.seconds-a.seconds)/(b.rows-a.rows)
}

// blocks is how the consumer cuts blocks by default.
var blocks = consumer.Config{BlockAge: 500 * time.Millisecond, BlockRows: 100_000}

// blockAge is how old a block of a consumer with so many partitions gets, in seconds.
func blockAge(partitions int) float64 { return blocks.AgeOf(partitions, consumer.InsertTime).Seconds() }

// up rounds a number of machines or cores up, at least to one.
func up(x float64) int { return int(max(1, math.Ceil(x-1e-9))) }
