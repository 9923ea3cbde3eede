// Package verify compares Kafka, ClickHouse and Postgres: every record of the log must be stored
// exactly once, or be a repeat, or a dead letter, and the counters of links must equal the counts
// of the rows. It judges each record with the consumer's own code.
package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/deadletter"
	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Verifier compares. Its methods may be called by one goroutine at a time.
type Verifier struct {
	Client  *kgo.Client
	Options []kgo.Opt // the options of Client: the log is read by separate clients
	Conn    driver.Conn
	Pool    *postgres.Pool
	Copy    int32         // of the events: what is in Conn
	Group   string        // of the consumers that fill it
	Settle  time.Duration // time after which a counter that differs is checked again
	Log     *slog.Logger

	dead      map[deadletter.Origin]struct{} // nil: not read yet
	deadSince time.Time                      // from when on
}

// Run compares everything in the span. It leaves out records that the consumers have not committed
// yet, and those that Kafka no longer holds; of the rows of the latter it checks only whether an
// origin occurs twice. Its memory is bounded by the number of dead letters.
func (v *Verifier) Run(ctx context.Context, span Span) (*Report, error) {
	begin := time.Now()
	report := &Report{}
	v.dead = nil
	for _, s := range stream.All() {
		parts, err := v.partitions(ctx, s)
		if err != nil {
			return report, err
		}
		for i := range parts {
			p := &parts[i]
			if p.judged, err = v.limit(ctx, p, span); err != nil {
				return report, err
			}
			if err := v.compareLog(ctx, p, p.judged, max(p.log.From, p.judged.From-stream.RepeatWindow), report); err != nil {
				return report, err
			}
		}
		if span.unbounded() {
			if err := v.compareRest(ctx, s, parts, report); err != nil {
				return report, err
			}
		}
	}
	if err := v.readExpired(ctx, span, report); err != nil {
		return report, err
	}
	// Counters go by one copy of the events. Another one may be behind what they have.
	counts, err := store.New(v.Pool.Unscoped()).CountingCopy(ctx)
	if err != nil {
		return report, fmt.Errorf("read which copy of the events counts: %w", err)
	}
	if counts == v.Copy {
		err = v.compareCounters(ctx, span, report)
	}
	report.Took = time.Since(begin)
	return report, err
}

// part is a partition that is compared.
type part struct {
	stream    stream.Stream
	topicID   uuid.UUID
	number    int32
	log       kafka.Range // what the log holds
	committed int64       // every offset below is done
	judged    kafka.Range
	unused    bool // keys are distributed over other partitions
}

// partitions returns the partitions of a stream that have a committed offset, in order.
func (v *Verifier) partitions(ctx context.Context, s stream.Stream) ([]part, error) {
	id, present, err := kafka.Topic(ctx, v.Client, s.Topic)
	if errors.Is(err, kafka.ErrNoTopic) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// Commits are read before the log's range: every committed record is in it, unless it expired
	// since.
	done, err := stream.Committed(ctx, v.Client, v.Group, s.Topic, id)
	if err != nil {
		return nil, err
	}
	ranges, err := kafka.Ranges(ctx, v.Client, s.Topic)
	if err != nil {
		return nil, err
	}
	used, err := kafka.Ledger{Pool: v.Pool}.Partitions(ctx, id, s.Topic, present)
	if err != nil {
		return nil, err
	}
	var parts []part
	for number, r := range ranges {
		p := part{stream: s, topicID: id, number: number, log: r, committed: r.From, unused: int(number) >= used}
		if next, ok := done[number]; ok {
			p.committed = min(max(next, r.From), r.To)
		}
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b part) int { return int(a.number - b.number) })
	return parts, nil
}

// limit returns the offsets of the span that are committed.
func (v *Verifier) limit(ctx context.Context, p *part, s Span) (kafka.Range, error) {
	r := kafka.Range{From: p.log.From, To: p.committed}
	at := func(t time.Time) (int64, error) {
		offsets, err := kadm.NewClient(v.Client).ListOffsetsAfterMilli(ctx, t.UnixMilli(), p.stream.Topic)
		if err == nil {
			err = offsets.Error()
		}
		if err != nil {
			return 0, fmt.Errorf("find the offsets of a time in %s: %w", p.stream.Topic, err)
		}
		o, _ := offsets.Lookup(p.stream.Topic, p.number)
		return o.Offset, nil
	}
	if !s.Since.IsZero() {
		first, err := at(s.Since)
		if err != nil {
			return r, err
		}
		r.From = max(r.From, first)
	}
	if !s.Until.IsZero() {
		past, err := at(s.Until)
		if err != nil {
			return r, err
		}
		r.To = min(r.To, past)
	}
	r.To = max(r.To, r.From)
	return r, nil
}

// readExpired adds the ranges that consumers recorded as deleted before they were stored, and found
// in the span.
func (v *Verifier) readExpired(ctx context.Context, span Span, report *Report) error {
	lost, err := store.New(v.Pool.Unscoped()).LostRanges(ctx, v.Copy)
	if err != nil {
		return fmt.Errorf("read lost offsets: %w", err)
	}
	for _, l := range lost {
		if l.FoundAt.Before(span.Since) || !span.Until.IsZero() && l.FoundAt.After(span.Until) {
			continue
		}
		report.Expired = append(report.Expired, ExpiredRange{
			Topic: l.Topic, TopicID: l.TopicID, Partition: l.Partition,
			Offsets: kafka.Range{From: l.FirstOffset, To: l.PastOffset}, FoundAt: l.FoundAt,
		})
	}
	return nil
}
