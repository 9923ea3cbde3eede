// Package deadletter lets operators handle dead letters: records that the consumer could not store
// as rows. They can be listed, inspected, replayed after an upgrade, or discarded.
//
// The dead-letter topic holds both the letters and the actions on them. The key of each record is
// the origin of a letter; a record with the header "state" is a marker, which means that the letter
// was replayed or discarded. So the state is shared and durable, needs no other store, and lives
// exactly as long as the letters. Duplicates of a letter collapse on their key, and the order of
// records does not matter: replayed beats discarded, and any marker beats a letter that was written
// again after a crash.
package deadletter

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// State is the state of a dead letter. A larger one wins.
type State int

// The states.
const (
	Open State = iota
	Discarded
	Replayed
)

// String returns the state's name.
func (s State) String() string {
	switch s {
	case Discarded:
		return "discarded"
	case Replayed:
		return "replayed"
	default:
		return "open"
	}
}

// ParseState returns the state of a name, or false.
func ParseState(name string) (State, bool) {
	for _, s := range []State{Open, Discarded, Replayed} {
		if s.String() == name {
			return s, true
		}
	}
	return Open, false
}

// Origin is the position of a record in the log before it became a dead letter: its identity.
type Origin struct {
	TopicID   uuid.UUID
	Partition int32
	Offset    int64
}

// String returns the origin in the form "topic id/partition/offset".
func (o Origin) String() string {
	return o.TopicID.String() + "/" + strconv.FormatInt(int64(o.Partition), 10) + "/" + strconv.FormatInt(o.Offset, 10)
}

// ParseOrigin parses the result of String.
func ParseOrigin(text string) (Origin, error) {
	bad := fmt.Errorf("%q is not the origin of a dead letter: write topic id/partition/offset, as `lodestone dead-letters list` prints it", text)
	parts := strings.Split(text, "/")
	if len(parts) != 3 {
		return Origin{}, bad
	}
	id, err := uuid.Parse(parts[0])
	partition, err2 := strconv.ParseInt(parts[1], 10, 32)
	offset, err3 := strconv.ParseInt(parts[2], 10, 64)
	if errors.Join(err, err2, err3) != nil || partition < 0 || offset < 0 {
		return Origin{}, bad
	}
	return Origin{id, int32(partition), offset}, nil
}

// Headers of the records in the dead-letter topic.
const (
	headerReason = "reason"
	headerError  = "error"
	headerTopic  = "topic"
	headerState  = "state"
	headerWhy    = "why"
)

// Letter is a dead letter.
type Letter struct {
	Origin Origin
	Topic  string // where it came from
	Reason string // one of a small fixed set
	Error  string
	Bytes  int       // of the record
	At     time.Time // when it became a dead letter first
	State  State
	Why    string    // of a marker: the reason of whoever discarded it, or the result of the replay
	Done   time.Time // when it was replayed or discarded
}

// entry is one record of the dead-letter topic, read.
type entry struct {
	letter Letter
	marker bool
	value  []byte
}

// parse decodes a record of the dead-letter topic; it returns false for records of other programs.
func parse(r *kgo.Record) (entry, bool) {
	origin, err := ParseOrigin(string(r.Key))
	if err != nil {
		return entry{}, false
	}
	e := entry{letter: Letter{Origin: origin, Bytes: len(r.Value), At: r.Timestamp.UTC()}, value: r.Value}
	l := &e.letter
	for _, h := range r.Headers {
		switch h.Key {
		case headerReason:
			l.Reason = string(h.Value)
		case headerError:
			l.Error = string(h.Value)
		case headerTopic:
			l.Topic = string(h.Value)
		case headerWhy:
			l.Why = string(h.Value)
		case headerState:
			state, ok := ParseState(string(h.Value))
			if !ok {
				return entry{}, false // of a later release
			}
			l.State, e.marker = state, true
		}
	}
	return e, true
}

// marker returns the record that marks a letter with its new state.
func marker(l Letter, state State, why string) *kgo.Record {
	return &kgo.Record{
		Topic: event.DeadLetterTopic,
		Key:   []byte(l.Origin.String()),
		Headers: []kgo.RecordHeader{
			{Key: headerState, Value: []byte(state.String())},
			{Key: headerWhy, Value: []byte(why)},
			{Key: headerTopic, Value: []byte(l.Topic)},
		},
	}
}

// merge adds an entry to the known state of its letter.
func (l *Letter) merge(e entry) {
	switch {
	case !e.marker:
		if l.Topic == "" || l.Reason == "" || e.letter.At.Before(l.At) {
			state, why, done := l.State, l.Why, l.Done
			*l = e.letter
			l.State, l.Why, l.Done = state, why, done
		}
	case e.letter.State > l.State:
		l.Origin = e.letter.Origin
		l.State, l.Why, l.Done = e.letter.State, e.letter.Why, e.letter.At
	}
}
