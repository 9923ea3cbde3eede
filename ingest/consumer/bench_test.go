package consumer

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// benchRecords are records of readers with some browsers, of offsets from 0 on.
func benchRecords(n int) []*kgo.Record {
	account, magnet := uuid.New(), uuid.New()
	records := make([]*kgo.Record, n)
	for i := range records {
		e := event.Event{
			AccountID: account, LeadMagnetID: magnet, AccessLinkID: uuid.New(), SessionID: uuid.New(), EventID: uuid.New(),
			MagnetVersion: 1, Type: event.PageViewed, Page: uint32(i%20 + 1), DurationMS: uint32(i % 30_000),
			IPHash: [16]byte{byte(i), byte(i >> 8)},
			UserAgent: fmt.Appendf(nil,
				"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36",
				100+i%60),
			CreatedAt: 1_795_000_000_000 + int64(i), ReceivedAt: 1_795_000_000_500 + int64(i),
		}
		e.Data = fmt.Appendf(nil, `{"page":%d,"duration_ms":%d}`, e.Page, e.DurationMS)
		records[i] = &kgo.Record{Topic: event.Topic, Offset: int64(i), Value: e.Append(nil)}
	}
	return records
}

const benchRows = 10_000

// BenchmarkFill makes a record a row of a batch: it decodes it, looks it up in the window, and adds
// it to the columns.
func BenchmarkFill(b *testing.B) {
	records := benchRecords(benchRows)
	p := plannedPartition(0, 0, stream.RepeatWindow)
	into := newBatch(p.tables)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%benchRows == 0 && i > 0 {
			into.release(nil)
			into = newBatch(p.tables)
		}
		r := records[i%benchRows]
		r.Offset = int64(i)
		p.add(into, r)
	}
}
