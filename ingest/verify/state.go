package verify

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// state is passed from one round to the next, which another process may run.
type state struct {
	Next   map[string]int64       // by partition: the offset to go on with
	Newest map[string]tally       // by partition: of the newest offsets that are compared
	Bad    []badRange             // of the log, with differences: to be looked at again until they are gone
	Odd    map[string][]uuid.UUID // by topic: links whose counters differ
	Counts map[Kind]int64         // of differences
	Behind int64                  // offsets that are not compared yet
}

// tally is a range of a partition, and the number of offsets with rows in it.
type tally struct {
	kafka.Range
	Offsets int64
}

// badRange is a range of a partition with differences.
type badRange struct {
	TopicID   uuid.UUID
	Partition int32
	From, To  int64
}

func (r badRange) place() string { return placeKey(r.TopicID, r.Partition) }

func placeKey(topicID uuid.UUID, partition int32) string {
	return fmt.Sprintf("%s/%d", topicID, partition)
}

func (p *part) key() string { return placeKey(p.topicID, p.number) }

// keep stores the differences of a round.
func (s *state) keep(report *Report) {
	s.Counts, s.Odd = report.Counts, map[string][]uuid.UUID{}
	for _, d := range report.Differences {
		switch {
		case d.Kind == Counter && len(s.Odd[d.Topic]) < watchedRanges:
			s.Odd[d.Topic] = append(s.Odd[d.Topic], d.Link)
		case d.Kind == Doubled || d.Text != "": // every round looks for them
		case d.Kind != Counter && len(s.Bad) < watchedRanges:
			s.Bad = append(s.Bad, badRange{d.TopicID, d.Partition, d.Offsets.From, d.Offsets.To})
		}
	}
}

// compareNewest counts the newest offsets that the last round compared again. Nothing but a loss
// makes them fewer: a ClickHouse that was restored from a backup lacks them.
func (v *Verifier) compareNewest(ctx context.Context, p *part, before tally, report *Report) error {
	if before.To <= p.log.From {
		return nil
	}
	now, err := v.offsets(ctx, p, before.Range)
	if err == nil && now < before.Offsets {
		report.add(Difference{
			Kind: Lost, Topic: p.stream.Topic, TopicID: p.topicID, Partition: p.number, Offsets: before.Range,
			Count: before.Offsets - now, Text: "rows that were there are gone",
		})
	}
	return err
}

// offsets returns how many offsets of a range have rows.
func (v *Verifier) offsets(ctx context.Context, p *part, r kafka.Range) (int64, error) {
	var n uint64
	err := v.Conn.QueryRow(parameters(ctx, p.topicID, p.number, r),
		"SELECT uniqExact(kafka_offset) FROM lodestone."+p.stream.Table+where).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count stored offsets: %w", err)
	}
	return int64(n), nil
}

// name is that of the check's rounds: each copy of the events has a check of its own.
func (w *Watch) name() string { return w.store.Group("verify") }

// readState reads the last round's state, sets the metrics, and reports whether another round is
// due.
func (w *Watch) readState(ctx context.Context, tx pgx.Tx, pause time.Duration) (due bool, err error) {
	last, err := store.New(tx).RunningCheck(ctx, w.name())
	if errors.Is(err, pgx.ErrNoRows) {
		w.state = state{}
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the last running check: %w", err)
	}
	w.state = state{}
	if err := json.Unmarshal(last.State, &w.state); err != nil {
		return true, nil //nolint:nilerr // of another release: this round writes its own
	}
	w.show(last.FinishedAt)
	return last.Age < 0 || last.Age >= pause.Seconds(), nil
}

// writeState stores the state for the next round. The transaction began with the round.
func (w *Watch) writeState(ctx context.Context, tx pgx.Tx) error {
	text, err := json.Marshal(w.state)
	if err != nil {
		return fmt.Errorf("encode the running check's state: %w", err)
	}
	if err := store.New(tx).SetRunningCheck(ctx, store.SetRunningCheckParams{Service: w.name(), State: text}); err != nil {
		return fmt.Errorf("record the running check: %w", err)
	}
	return nil
}

// union returns the ranges in order, merged where they overlap or are close to each other: each is
// read with the window before it.
func union(ranges []kafka.Range) (all []kafka.Range) {
	slices.SortFunc(ranges, func(a, b kafka.Range) int { return cmp.Compare(a.From, b.From) })
	for _, r := range ranges {
		if r.Empty() {
			continue
		}
		if n := len(all); n > 0 && r.From-all[n-1].To < stream.RepeatWindow/2 {
			all[n-1].To = max(all[n-1].To, r.To)
			continue
		}
		all = append(all, r)
	}
	return all
}

// without returns the rest of a range without others, which are in order.
func without(r kafka.Range, others []kafka.Range) (left []kafka.Range) {
	for _, o := range others {
		if gap := (kafka.Range{From: r.From, To: min(o.From, r.To)}); !gap.Empty() {
			left = append(left, gap)
		}
		r.From = max(r.From, o.To)
	}
	if !r.Empty() {
		left = append(left, r)
	}
	return left
}

// show sets the metrics that are the same in all processes.
func (w *Watch) show(finished time.Time) {
	for _, kind := range Kinds() {
		w.differences.WithLabelValues(string(kind)).Set(float64(w.state.Counts[kind]))
	}
	w.behind.Set(float64(w.state.Behind))
	w.success.Set(float64(finished.UnixMilli()) / 1000)
}
