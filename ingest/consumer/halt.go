package consumer

import (
	"context"
	"errors"
	"fmt"

	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

// Reasons for which a partition stands still until an operator acts.
const (
	haltedLog   = "log"   // the log is not the one that was stored
	haltedNewer = "newer" // what comes next is for a newer release
)

// newerError says that what stands at the offset is for a newer release. The partition waits for a consumer of that
// release: to go on would make a wrong dead letter of a good record, or build an announced block differently.
type newerError struct {
	offset int64
	cause  error
}

func (e *newerError) Error() string {
	return fmt.Sprintf("offset %d is for a newer release (%v): upgrade the consumers, and the partition goes on when one of them takes it", e.offset, e.cause)
}

// differsError says that the log does not hold what was stored of it.
type differsError struct {
	offset int64 // at which they differ
	end    int64 // of the log
}

func (e *differsError) Error() string {
	what := "holds another record there"
	if e.offset >= e.end {
		what = fmt.Sprintf("ends at %d", e.end)
	}
	return fmt.Sprintf("offset %d is stored, but the log %s: Kafka lost records that it had acknowledged, and new records have their offsets, or will; "+
		"see \"The log lost its end\" in docs/operations.md", e.offset, what)
}

// rangeError says that a committed offset lies beyond the log's end: the log lost its end. Going on would take new
// records for those that are stored, so the partition stands still.
type rangeError struct {
	topic             string
	partition         int32
	next, start, past int64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("%s partition %d goes on at offset %d, but the log holds %d to %d: Kafka lost records that it had acknowledged; "+
		"see \"The log lost its end\" in docs/operations.md",
		e.topic, e.partition, e.next, e.start, e.past-1)
}

// epochError says that the log has fewer records of a leader's epoch than are done: it lost its end, and may have grown
// past that again under another leader.
type epochError struct {
	topic     string
	partition int32
	next      int64
	epoch     int32
	past      int64 // where the epoch ends; -1: the log has no record of this epoch or a later one
}

func (e *epochError) Error() string {
	what := fmt.Sprintf("ends at %d", e.past)
	if e.past < 0 {
		what = "is not in the log any more"
	}
	return fmt.Sprintf("%s partition %d goes on at offset %d, which was read in the leader epoch %d, but that %s: Kafka lost records that it had "+
		"acknowledged; see \"The log lost its end\" in docs/operations.md", e.topic, e.partition, e.next, e.epoch, what)
}

// haltReason returns the reason of a partition that stands still: one of a small fixed set.
func haltReason(why error) string {
	if _, newer := errors.AsType[*newerError](why); newer {
		return haltedNewer
	}
	return haltedLog
}

// recordExpired records which offsets Kafka deleted before they were stored, and commits the log's start: nothing
// brings those records back, and Kafka would go on deleting while the partition waited. It may be repeated at any
// point, also by another consumer. It reports whether the worker may go on.
func (w *worker) recordExpired(ctx context.Context, e *expired) bool {
	if e.intent != stream.NoIntent && service.Sleep(ctx, w.cfg.InsertTimeout) != nil {
		// The announced block cannot be built again, so its token does not stop an insert that is still on its way.
		// After this time the server refuses that.
		return false
	}
	var lost []kafka.Range
	ok := w.retry(ctx, "find out which deleted records were stored", func() error {
		if err := w.store.EndInserts(ctx); err != nil {
			return err
		}
		var err error
		lost, err = w.lost(ctx, e.committed)
		return err
	})
	if !ok {
		return false
	}
	ok = w.retry(ctx, "record which records are lost", func() error {
		return w.logbook.AddLosses(ctx, w.at.TopicID, w.stream.Topic, w.at.Partition, lost)
	})
	if !ok {
		return false
	}
	for _, r := range lost {
		w.log.Error("Kafka deleted records before they were stored: see `lodestone losses list`", "first_offset", r.From, "last_offset", r.To-1, "records", r.To-r.From)
	}
	return w.commit(ctx, w.next, stream.NoIntent)
}

// lost returns the offsets from the committed one to where the log begins that are not stored. Without a commit
// nothing is known of what lies below the last stored offset, where repeats and dead letters have no rows either.
func (w *worker) lost(ctx context.Context, committed int64) ([]kafka.Range, error) {
	last, err := w.store.Last(ctx, max(committed, 0))
	if err != nil {
		return nil, err
	}
	from := committed
	if from == noCommit {
		from = last + 1
	}
	var lost []kafka.Range
	add := func(r kafka.Range) {
		switch n := len(lost); {
		case r.Empty():
		case n > 0 && lost[n-1].To == r.From:
			lost[n-1].To = r.To
		default:
			lost = append(lost, r)
		}
	}
	for past := min(last+1, w.next); from < past; {
		to := min(from+aheadOffsets, past)
		stored, err := w.store.Stored(ctx, from, to-1)
		if err != nil {
			return nil, err
		}
		for ; from < to; from++ {
			if !stored.Has(from) {
				add(kafka.Range{From: from, To: from + 1})
			}
		}
	}
	add(kafka.Range{From: from, To: w.next})
	return lost, nil
}
