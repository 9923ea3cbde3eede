package live

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// Position is a place in the stream: a vector of positions in the log, one for each partition, and the time up to which all
// that was stored is behind it. An event is behind the position if its offset and its stored_at are. A position does not
// change.
type Position struct {
	stored time.Time // whole milliseconds
	// since is the time of the position from which the events on the way to that time are read. Some of those that were
	// stored in between may not be behind the position, by their offsets. It is the same time if all are.
	since time.Time
	next  []reach // by topic and partition
	// late is the last event that filled a gap, of those stored at that time: later ones of the same time are not behind
	// the position. nil: all are.
	late *reach
}

// reach is how far a partition was read. A partition without one has no events that were stored in the last
// scope.ClockSlack before since.
type reach struct {
	topic     uuid.UUID
	partition int32
	next      int64 // the first offset that was not read; of a late event: its offset
}

func (r reach) compare(other reach) int {
	return cmp.Or(bytes.Compare(r.topic[:], other.topic[:]), cmp.Compare(r.partition, other.partition))
}

// passed returns the position at a later time, behind an event of the log.
func (p Position) passed(until time.Time, topic uuid.UUID, partition int32, offset int64) Position {
	r := reach{topic, partition, offset + 1}
	at, found := slices.BinarySearchFunc(p.next, r, reach.compare)
	next := slices.Clone(p.next)
	if found {
		next[at].next = max(next[at].next, r.next)
	} else {
		next = slices.Insert(next, at, r)
	}
	return Position{stored: until, since: p.since, next: next}
}

// after returns the position behind an event of a window that ends at a time.
func (p Position) after(e *Event, until time.Time) Position {
	at := e.Position
	if e.late {
		return Position{stored: e.StoredAt, since: p.since, next: p.next, late: &reach{at.TopicID, at.Partition, at.Offset}}
	}
	return p.passed(until, at.TopicID, at.Partition, at.Offset)
}

// until returns the position at a later time, if everything stored until then was read.
func (p Position) until(t time.Time) Position { return Position{stored: t, since: t, next: p.next} }

// window returns what is between the position and a time, as far as the partitions were read at the other one.
func (p Position) window(until time.Time, to []reach) scope.Window {
	w := scope.Window{Since: p.since, After: p.stored, Until: until, From: offsets(p.next), To: offsets(to)}
	if p.late != nil {
		w.Partition, w.Offset = scope.Partition(p.late.topic, p.late.partition), p.late.next
	}
	return w
}

func offsets(list []reach) map[string]int64 {
	by := make(map[string]int64, len(list))
	for _, r := range list {
		by[scope.Partition(r.topic, r.partition)] = r.next
	}
	return by
}

// isBehind reports whether everything behind the position is also behind the other one.
func (p Position) isBehind(other Position) bool {
	return !p.stored.After(other.stored) && len(p.beyond(other)) == 0
}

// beyond returns the last event behind the position of each partition that was read further than at the other one.
func (p Position) beyond(other Position) (list []scope.News) {
	for _, r := range p.next {
		if at, found := slices.BinarySearchFunc(other.next, r, reach.compare); found && other.next[at].next < r.next {
			list = append(list, scope.News{TopicID: r.topic, Partition: r.partition, Last: r.next - 1})
		}
	}
	return list
}

// Limits of the text of a position.
const (
	positionVersion = 1
	maxReaches      = 1000
	maxTime         = 1 << 42 // milliseconds: the year 2109
)

// String returns the position as a short text of letters, digits, - and _.
func (p Position) String() string {
	b := make([]byte, 0, 32+24*len(p.next))
	b = append(b, positionVersion)
	b = binary.AppendUvarint(b, uint64(p.stored.UnixMilli()))
	b = binary.AppendUvarint(b, uint64(p.stored.Sub(p.since).Milliseconds()))
	if p.late == nil {
		b = append(b, 0)
	} else {
		b = p.late.append(append(append(b, 1), p.late.topic[:]...))
	}
	for i := 0; i < len(p.next); {
		of := i
		for i < len(p.next) && p.next[i].topic == p.next[of].topic {
			i++
		}
		b = binary.AppendUvarint(append(b, p.next[of].topic[:]...), uint64(i-of))
		for _, r := range p.next[of:i] {
			b = r.append(b)
		}
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

func (r reach) append(b []byte) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(r.partition)), uint64(r.next))
}

var errPosition = errors.New("is not an id that this stream sent")

// ParsePosition reads the text of a position. What it returns came from outside: it is well-formed, and no more than a
// place in the stream of whoever asks.
func ParsePosition(text string) (Position, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(raw) == 0 || raw[0] != positionVersion {
		return Position{}, errPosition
	}
	r := positionReader{rest: raw[1:]}
	stored := r.number(maxTime)
	p := Position{stored: time.UnixMilli(stored).UTC(), since: time.UnixMilli(stored - r.number(uint64(stored))).UTC()}
	if r.number(1) == 1 {
		topic := r.topic()
		p.late = new(r.reach(topic))
	}
	for len(r.rest) > 0 && !r.failed {
		topic := r.topic()
		for range r.number(maxReaches) {
			p.next = append(p.next, r.reach(topic))
		}
	}
	sorted := slices.SortedFunc(slices.Values(p.next), reach.compare)
	sorted = slices.CompactFunc(sorted, func(a, b reach) bool { return a.compare(b) == 0 })
	// Nothing but what String writes, so that there is one text of each position.
	if r.failed || len(p.next) > maxReaches || !slices.Equal(sorted, p.next) || p.String() != text {
		return Position{}, errPosition
	}
	return p, nil
}

// positionReader reads the bytes of a position. After a failure it returns zeros.
type positionReader struct {
	rest   []byte
	failed bool
}

func (r *positionReader) number(limit uint64) int64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 || n > limit {
		r.rest, r.failed = nil, true
		return 0
	}
	r.rest = r.rest[size:]
	return int64(n)
}

func (r *positionReader) topic() (id uuid.UUID) {
	if len(r.rest) < len(id) {
		r.rest, r.failed = nil, true
		return id
	}
	r.rest = r.rest[copy(id[:], r.rest):]
	return id
}

func (r *positionReader) reach(topic uuid.UUID) reach {
	return reach{topic, int32(r.number(1<<31 - 1)), r.number(1<<63 - 1)}
}
