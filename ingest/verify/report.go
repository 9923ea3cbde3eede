package verify

import (
	"cmp"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/kafka"
)

// Kind is the kind of a difference, from a small fixed set.
type Kind string

// The kinds of differences.
const (
	Lost     Kind = "lost"     // a record of the log is no row, no repeat and no dead letter
	Doubled  Kind = "doubled"  // several rows have the same origin
	Repeated Kind = "repeated" // a repeat within the window is stored beside what it repeats
	Foreign  Kind = "foreign"  // rows have an origin that is not in the log
	Replaced Kind = "replaced" // a row is of another record than the log has at its offset
	Apart    Kind = "apart"    // copies of the events differ
	Counter  Kind = "counter"  // a counter in Postgres is not what ClickHouse's rows say
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Lost, Doubled, Repeated, Foreign, Replaced, Apart, Counter} }

func (k Kind) text() string {
	switch k {
	case Lost:
		return "no row, no repeat of a stored event, and no dead letter"
	case Doubled:
		return "stored more than once"
	case Repeated:
		return "stored although it repeats a stored event"
	case Foreign:
		return "stored, but not in the log"
	case Replaced:
		return "the log holds another record there than the one that is stored"
	case Apart:
		return "copies of the events differ"
	default:
		return "counter differs"
	}
}

// Difference is a deviation from the expected state.
type Difference struct {
	Kind      Kind
	Topic     string    // of the events
	Link      uuid.UUID // of differences of counters
	TopicID   uuid.UUID // of differences of the log
	Partition int32     // the same
	Offsets   kafka.Range
	Count     int64  // of offsets or links
	Text      string // of counters: which, and what it is and should be; of rows that are gone: so
}

// String returns the difference as one line for people.
func (d Difference) String() string {
	if d.Kind == Counter {
		return fmt.Sprintf("%-8s  %s", d.Kind, d.Text)
	}
	return fmt.Sprintf("%-8s  %s partition %d, offsets %d to %d (%d; topic id %s): %s",
		d.Kind, d.Topic, d.Partition, d.Offsets.From, d.Offsets.To-1, d.Count, d.TopicID, cmp.Or(d.Text, d.Kind.text()))
}

// ExpiredRange is a range of offsets that Kafka deleted before they were stored. It is no
// difference: no record is left that could be stored.
type ExpiredRange struct {
	Topic     string
	TopicID   uuid.UUID
	Partition int32
	Offsets   kafka.Range
	FoundAt   time.Time // by a consumer
}

// String returns the range as one line for people.
func (e ExpiredRange) String() string {
	return fmt.Sprintf("expired   %s partition %d, offsets %d to %d (%d; topic id %s), found %s: deleted by Kafka before it was stored",
		e.Topic, e.Partition, e.Offsets.From, e.Offsets.To-1, e.Offsets.To-e.Offsets.From, e.TopicID,
		e.FoundAt.UTC().Format(time.RFC3339))
}

// Partition is the result for one partition.
type Partition struct {
	Topic       string
	Partition   int32
	Offsets     kafka.Range // compared with the log
	Records     int64       // in the log
	Rows        int64
	Repeats     int64
	DeadLetters int64
}

// ComparedCopy says how much of two copies of the events was compared.
type ComparedCopy struct {
	Topic      string
	Own, Other int32
	Rows       uint64
}

// maxDifferences bounds the list; all are counted.
const maxDifferences = 1_000

// Report is the result of a check.
type Report struct {
	Partitions  []Partition
	Links       int64 // whose counters were compared
	Unsettled   int64 // of these, links whose counters changed at every check, so that they could not be judged
	Copies      []ComparedCopy
	Expired     []ExpiredRange
	Differences []Difference
	Counts      map[Kind]int64 // of offsets and links
	Took        time.Duration
}

// Total returns how many offsets and links differ.
func (r *Report) Total() (n int64) {
	for _, c := range r.Counts {
		n += c
	}
	return n
}

func (r *Report) add(d Difference) {
	if r.Counts == nil {
		r.Counts = map[Kind]int64{}
	}
	r.Counts[d.Kind] += d.Count
	if n := len(r.Differences); n > 0 && d.Kind != Counter {
		if last := &r.Differences[n-1]; last.Kind == d.Kind && last.Text == d.Text && last.TopicID == d.TopicID &&
			last.Partition == d.Partition && last.Offsets.To == d.Offsets.From {
			last.Offsets.To = d.Offsets.To
			last.Count += d.Count
			return
		}
	}
	if len(r.Differences) < maxDifferences {
		r.Differences = append(r.Differences, d)
	}
}

// Span is a span of time: of Kafka's timestamps for records, and of received_at for links. A zero
// time means no bound.
type Span struct{ Since, Until time.Time }

func (s Span) unbounded() bool { return s.Since.IsZero() && s.Until.IsZero() }
