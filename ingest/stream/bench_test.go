package stream

import (
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

// BenchmarkEncode is the encoding of a block of 10,000 rows as ch-go sends it.
func BenchmarkEncode(b *testing.B) {
	const benchRows = 10_000
	account, magnet := uuid.New(), uuid.New()
	s := Events()
	rows, reads := s.Tables.Take(), s.Decoder()
	for i := range benchRows {
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
		_, err := reads.Decode(e.Append(nil))
		require.NoError(b, err)
		reads.Add(rows, Place{Offset: int64(i)})
	}
	w := proto.NewWriter(io.Discard, new(proto.Buffer))
	b.ReportAllocs()
	for b.Loop() {
		input := rows.Input(time.UnixMilli(1_795_000_000_000))
		if err := (proto.Block{Columns: len(input), Rows: benchRows}).WriteBlock(w, proto.Version, input); err != nil {
			b.Fatal(err)
		}
		if _, err := w.Flush(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}
