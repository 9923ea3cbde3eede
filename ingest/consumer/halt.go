package consumer

import (
	"errors"
	"fmt"
)

// Reasons for which a partition stands still until an operator acts.
const (
	haltedLog   = "log"   // the log is not the one that was stored
	haltedNewer = "newer" // what comes next is for a newer release
)

// recreate is the remedy for a log that is not the one that was stored.
const recreate = `; recreate the topic: see "The log lost its end" in docs/operations.md`

// newerError says that what stands at the offset is for a newer release. The partition waits for a
// consumer of that release: to go on would make a wrong dead letter of a good record, or build an
// announced block differently.
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
	return fmt.Sprintf("offset %d is stored, but the log %s: Kafka lost records that it had acknowledged, and new records have their offsets, or will"+
		recreate, e.offset, what)
}

// rangeError says that a committed offset lies beyond the log's end: the log lost its end. Going on
// would take new records for those that are stored, so the partition stands still.
type rangeError struct {
	topic             string
	partition         int32
	next, start, past int64
}

func (e *rangeError) Error() string {
	return fmt.Sprintf("%s partition %d goes on at offset %d, but the log holds %d to %d: Kafka lost records that it had acknowledged"+
		recreate, e.topic, e.partition, e.next, e.start, e.past-1)
}

// epochError says that the log has fewer records of a leader's epoch than are done: it lost its
// end, and may have grown past that again under another leader.
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
		"acknowledged"+recreate, e.topic, e.partition, e.next, e.epoch, what)
}

// haltReason returns the reason of a partition that stands still: one of a small fixed set.
func haltReason(why error) string {
	if _, newer := errors.AsType[*newerError](why); newer {
		return haltedNewer
	}
	return haltedLog
}
