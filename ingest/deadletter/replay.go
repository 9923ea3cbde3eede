package deadletter

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"lodestone/ingest/erasure"
	"lodestone/ingest/producer"
	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
)

// Limits of what is written at once.
const (
	batchLetters = 1_000
	batchBytes   = 16 << 20
)

// Writer is the part of producer.Producer that a replay needs.
type Writer interface {
	Write(ctx context.Context, records []producer.Record) error
}

// Replayer writes the records of dead letters to their topics again.
type Replayer struct {
	Box    *Box
	Writer Writer
	Pool   *postgres.Pool
	Log    *slog.Logger
}

// Result counts the letters of a replay.
type Result struct {
	Written   int // to their topic again
	Undecoded int // still cannot become rows, and stay open
	Unknown   int // come from a topic that this build does not store: stay open
}

// batch is the letters that are written at once.
type batch struct {
	letters []Letter
	records []producer.Record
	bytes   int
}

// Replay writes the letters of the filter that this build can decode to their topics again, and
// then marks them as replayed. Discarded letters are replayed as well, unless the filter excludes
// them. The records are marked as spooled, so the consumer drops those whose event is stored: a
// replay may be killed and started again, and several may run at once. Events of erased people are
// blanked.
func (r *Replayer) Replay(ctx context.Context, f Filter) (Result, error) {
	var result Result
	waiting, where, err := r.choose(ctx, f)
	if err != nil || len(waiting) == 0 {
		return result, err
	}
	var erased erasure.Set
	if err := erased.Load(ctx, r.Pool); err != nil {
		return result, err
	}
	var next batch
	replay := func(e entry) error {
		l, ok := waiting[e.letter.Origin]
		if !ok || e.marker {
			return nil
		}
		delete(waiting, l.Origin) // doubles collapse
		s, known := stream.Of(l.Topic)
		if !known {
			result.Unknown++
			return nil
		}
		record, err := s.Decoder().Decode(e.value)
		if err != nil {
			result.Undecoded++
			r.Log.Info("dead letter cannot be decoded", "origin", l.Origin, "error", err)
			return nil
		}
		value := event.MarkSpooled(s.Blank(slices.Clone(e.value), &erased))
		next.letters = append(next.letters, l)
		next.records = append(next.records, producer.Record{Topic: l.Topic, Key: record.Link[:], Value: value})
		next.bytes += len(value)
		if len(next.letters) == batchLetters || next.bytes >= batchBytes {
			return r.write(ctx, &next, &result)
		}
		return nil
	}
	if err := r.Box.each(ctx, where, replay); err != nil {
		return result, err
	}
	// The dead-letter topic may have had fewer partitions when a letter was written, as in List.
	if len(waiting) > 0 {
		if err := r.Box.each(ctx, scope{}, replay); err != nil {
			return result, err
		}
	}
	return result, r.write(ctx, &next, &result)
}

// choose returns the letters of the filter that are not replayed yet, and the part of the topic
// that should have their records: List does not keep these.
func (r *Replayer) choose(ctx context.Context, f Filter) (map[Origin]Letter, scope, error) {
	where := scope{origins: f.Origins}
	letters, err := r.Box.List(ctx, f)
	if err != nil {
		return nil, where, err
	}
	if err := requireAll(letters, f.Origins); err != nil {
		return nil, where, err
	}
	chosen := make(map[Origin]Letter, len(letters))
	for _, l := range letters { // oldest first
		if l.State != Replayed {
			if len(chosen) == 0 {
				where.since = l.At
			}
			chosen[l.Origin] = l
		}
	}
	return chosen, where, nil
}

// write writes and marks the letters of a batch, which may have none, and empties it. The order
// matters: a letter that is marked before its record is written would be lost by a kill in between.
func (r *Replayer) write(ctx context.Context, b *batch, result *Result) error {
	if err := r.Writer.Write(ctx, b.records); err != nil {
		return fmt.Errorf("write the records of dead letters again: %w", err)
	}
	if err := r.Box.mark(ctx, b.letters, Replayed, "written to its topic again"); err != nil {
		return err
	}
	result.Written += len(b.letters)
	*b = batch{}
	return nil
}
