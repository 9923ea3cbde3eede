package spool

import (
	"testing"
	"time"

	"lodestone/ingest/producer"
)

// BenchmarkDrain reads what was spooled, in the pieces that are sent on, and gives its room free; sending is the
// producer's. An operation is one record.
func BenchmarkDrain(b *testing.B) {
	records := make([]producer.Record, 10) // a request of ten events
	for i := range records {
		records[i] = producer.Record{Topic: "lodestone.events", Key: make([]byte, 16), Value: make([]byte, 300)}
	}
	payload := appendPayload(nil, time.UnixMilli(1_795_000_000_000), records, mark)
	q := open(b, b.TempDir(), &brokenDisk{fast: true}, 1<<40, 64<<20)
	for n := 0; n < b.N; n += len(records) {
		if err := q.append(background, payload, len(records)); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(payload) / len(records)))
	b.ReportAllocs()
	b.ResetTimer()
	var list []producer.Record
	for {
		piece, err := q.read(4<<20, 20_000)
		if err != nil {
			b.Fatal(err)
		}
		if len(piece.payloads) == 0 {
			break
		}
		list = list[:0]
		for _, p := range piece.payloads {
			if list, err = readPayload(list, p); err != nil {
				b.Fatal(err)
			}
		}
		if err := q.ack(piece.end, piece.records); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := q.close(); err != nil {
		b.Fatal(err)
	}
}
