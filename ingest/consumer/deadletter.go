package consumer

import (
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// deadLetter is a record that cannot become a row, with the reason.
type deadLetter struct {
	record *kgo.Record
	reason string // one of a small fixed set
	err    error
}

func newDeadLetter(r *kgo.Record, err error) deadLetter {
	return deadLetter{record: r, reason: stream.Reason(err), err: err}
}

// message returns the record for the dead-letter topic. Its key is its origin: when a range
// is read again after a crash, its dead letters are sent again and collapse on that key.
func (d deadLetter) message(at stream.Place) *kgo.Record {
	offset := strconv.FormatInt(d.record.Offset, 10)
	partition := strconv.FormatInt(int64(at.Partition), 10)
	return &kgo.Record{
		Topic: event.DeadLetterTopic,
		Key:   []byte(at.TopicID.String() + "/" + partition + "/" + offset),
		Value: d.record.Value,
		Headers: []kgo.RecordHeader{
			{Key: "reason", Value: []byte(d.reason)},
			{Key: "error", Value: []byte(d.err.Error())},
			{Key: "topic", Value: []byte(d.record.Topic)},
			{Key: "topic_id", Value: []byte(at.TopicID.String())},
			{Key: "partition", Value: []byte(partition)},
			{Key: "offset", Value: []byte(offset)},
		},
	}
}
