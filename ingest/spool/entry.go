package spool

import (
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"lodestone/ingest/producer"
)

// mark is the field spooled, true, of the records in event.proto. If a field occurs twice the last
// one counts, so appending it marks a record.
var mark = protowire.AppendVarint(protowire.AppendTag(nil, 18, protowire.VarintType), 1)

var errPayload = errors.New("the payload of an entry is not what this release writes")

// appendPayload appends the records of one request: the time, and of each record topic, key and
// value, which the suffix given marks.
func appendPayload(b []byte, at time.Time, records []producer.Record, suffix []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(at.UnixMilli()))
	for _, r := range records {
		b = protowire.AppendString(b, r.Topic)
		b = protowire.AppendBytes(b, r.Key)
		b = protowire.AppendVarint(b, uint64(len(r.Value)+len(suffix)))
		b = append(append(b, r.Value...), suffix...)
	}
	return b
}

func payloadSize(records []producer.Record) int {
	size := 8
	for i := range records {
		r := &records[i]
		size += protowire.SizeBytes(len(r.Topic)) + protowire.SizeBytes(len(r.Key)) +
			protowire.SizeBytes(len(r.Value)+len(mark))
	}
	return size
}

// payloadTime returns when a payload was spooled, in Unix milliseconds, or 0.
func payloadTime(p []byte) int64 {
	if len(p) < 8 {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(p))
}

// readPayload appends the records of a payload to list. They alias it.
func readPayload(list []producer.Record, p []byte) ([]producer.Record, error) {
	if len(p) < 8 {
		return list, errPayload
	}
	for p = p[8:]; len(p) > 0; {
		var parts [3][]byte
		for i := range parts {
			v, n := protowire.ConsumeBytes(p)
			if n < 0 {
				return list, errPayload
			}
			parts[i], p = slices.Clip(v), p[n:]
		}
		list = append(list, producer.Record{Topic: string(parts[0]), Key: parts[1], Value: parts[2]})
	}
	return list, nil
}
