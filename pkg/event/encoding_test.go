package event_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// The encodings that were considered for the record; docs/record.md has the table. Reproduce it
// with: go test ./pkg/event -run xxx -bench Encoding
type encoding struct {
	name   string
	append func(b []byte, e *event.Event) []byte
	decode func(e *event.Event, record []byte) error
}

func encodings() []encoding {
	return []encoding{
		{"record", func(b []byte, e *event.Event) []byte { return e.Append(b) },
			func(e *event.Event, record []byte) error { return e.Decode(record) }},
		{"fixed", appendFixed, decodeFixed},
		{"json", appendJSON, decodeJSON},
	}
}

// traffic is a batch as one partition sees it: one account, 40 readers turning pages.
func traffic(n int) []event.Event {
	r := rand.New(rand.NewPCG(1, 2))
	agents := []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:143.0) Gecko/20100101 Firefox/143.0",
		"Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
	}
	random := func() (id uuid.UUID) {
		for i := range id {
			id[i] = byte(r.Uint32())
		}
		return id
	}
	account, magnet, link := random(), random(), random()
	readers := make([]event.Event, 40)
	for i := range readers {
		readers[i] = event.Event{
			AccountID: account, LeadMagnetID: magnet, GenericLinkID: link, AccessLinkID: random(), SessionID: random(),
			MagnetVersion: 1, Type: event.PageViewed, IPHash: [16]byte(random()), UserAgent: []byte(agents[r.IntN(len(agents))]),
		}
	}
	list := make([]event.Event, n)
	for i := range list {
		e := readers[r.IntN(len(readers))]
		e.EventID = random()
		e.Page, e.DurationMS = uint32(1+r.IntN(30)), uint32(r.IntN(30_000))
		e.Data = fmt.Appendf(nil, `{"page":%d,"duration_ms":%d}`, e.Page, e.DurationMS)
		e.ReceivedAt = 1_773_500_967_000 + int64(i)
		e.CreatedAt = e.ReceivedAt - int64(r.IntN(5000))
		list[i] = e
	}
	return list
}

func TestEncodingsCarryTheWholeEvent(t *testing.T) {
	t.Parallel()
	for _, c := range encodings() {
		for _, want := range append(traffic(10), goldenEvents()["everything"], goldenEvents()["minimal"]) {
			var got event.Event
			require.NoError(t, c.decode(&got, c.append(nil, &want)), c.name)
			requireSame(t, want, got)
		}
	}
}

func TestNothingIsAllocatedToEncode(t *testing.T) { // not beside others: what they allocate would count
	events := append(traffic(10), goldenEvents()["everything"])
	buf := make([]byte, 0, 64<<10)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		for i := range events {
			buf = events[i].Append(buf[:0])
		}
	}))
}

func BenchmarkEncoding(b *testing.B) {
	events := traffic(500)
	for _, c := range encodings() {
		var batch []byte
		records := make([][]byte, len(events))
		for i := range events {
			records[i] = c.append(nil, &events[i])
			batch = append(batch, records[i]...)
		}
		b.Run("encode/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for i := 0; b.Loop(); i++ {
				buf = c.append(buf[:0], &events[i%len(events)])
			}
		})
		b.Run("decode/"+c.name, func(b *testing.B) {
			b.ReportAllocs()
			var e event.Event
			for i := 0; b.Loop(); i++ {
				if err := c.decode(&e, records[i%len(records)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("size/"+c.name, func(b *testing.B) {
			for b.Loop() {
				continue
			}
			per := func(n int) float64 { return float64(n) / float64(len(events)) }
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(per(len(batch)), "B/event")
			for name, codec := range map[string]kgo.CompressionCodec{"snappy": kgo.SnappyCompression(),
				"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()} {
				compressor, err := kgo.DefaultCompressor(codec)
				if err != nil {
					b.Fatal(err)
				}
				packed, _ := compressor.Compress(new(bytes.Buffer), batch)
				b.ReportMetric(per(len(packed)), name+"-B/event")
			}
		})
	}
}

// BenchmarkCheckData is the part of decoding that any encoding needs: whether event_data is JSON.
func BenchmarkCheckData(b *testing.B) {
	events := traffic(500)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if data := events[i%len(events)].Data; !utf8.Valid(data) || !json.Valid(data) {
			b.Fatal("invalid")
		}
	}
}

// fixed: every field at its place, variable ones with their length before them.
func appendFixed(b []byte, e *event.Event) []byte {
	b = append(b, 1, byte(e.Type))
	for _, id := range [...]*uuid.UUID{&e.AccountID, &e.LeadMagnetID, &e.GenericLinkID,
		&e.AccessLinkID, &e.SessionID, &e.EventID} {
		b = append(b, id[:]...)
	}
	b = binary.LittleEndian.AppendUint32(b, e.MagnetVersion)
	b = binary.LittleEndian.AppendUint32(b, e.Page)
	b = binary.LittleEndian.AppendUint32(b, e.DurationMS)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.CreatedAt))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.ReceivedAt))
	b = append(b, e.IPHash[:]...)
	if e.Spooled {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	for _, v := range [...][]byte{e.Data, e.UserAgent, []byte(e.Bot)} {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(v)))
		b = append(b, v...)
	}
	return b
}

var errFixed = errors.New("malformed")

func decodeFixed(e *event.Event, b []byte) error {
	const header = 2 + 6*16 + 3*4 + 2*8 + 16 + 1
	if len(b) < header || b[0] != 1 {
		return errFixed
	}
	*e = event.Event{Type: event.Type(b[1])}
	at := 2
	for _, id := range [...]*uuid.UUID{&e.AccountID, &e.LeadMagnetID, &e.GenericLinkID,
		&e.AccessLinkID, &e.SessionID, &e.EventID} {
		at += copy(id[:], b[at:])
	}
	e.MagnetVersion = binary.LittleEndian.Uint32(b[at:])
	e.Page = binary.LittleEndian.Uint32(b[at+4:])
	e.DurationMS = binary.LittleEndian.Uint32(b[at+8:])
	e.CreatedAt = int64(binary.LittleEndian.Uint64(b[at+12:]))
	e.ReceivedAt = int64(binary.LittleEndian.Uint64(b[at+20:]))
	copy(e.IPHash[:], b[at+28:])
	e.Spooled = b[at+44] == 1
	b = b[at+45:]
	var parts [3][]byte
	for i := range parts {
		if len(b) < 2 || len(b) < 2+int(binary.LittleEndian.Uint16(b)) {
			return errFixed
		}
		n := 2 + int(binary.LittleEndian.Uint16(b))
		parts[i], b = b[2:n], b[n:]
	}
	e.Data, e.UserAgent, e.Bot = parts[0], parts[1], string(parts[2])
	return check(e)
}

// check makes the checks of Decode beyond the encoding.
func check(e *event.Event) error {
	if err := e.Validate(); err != nil {
		return err
	}
	if !utf8.Valid(e.UserAgent) || !utf8.ValidString(e.Bot) || !utf8.Valid(e.Data) || !json.Valid(e.Data) {
		return errFixed
	}
	return nil
}

type jsonEvent struct {
	V    int             `json:"v"`
	Acc  uuid.UUID       `json:"account_id"`
	Mag  uuid.UUID       `json:"lead_magnet_id"`
	Gen  uuid.UUID       `json:"generic_link_id"`
	Link uuid.UUID       `json:"access_link_id"`
	Ses  uuid.UUID       `json:"session_id"`
	ID   uuid.UUID       `json:"event_id"`
	Ver  uint32          `json:"magnet_version"`
	Type event.Type      `json:"event_type"`
	Page uint32          `json:"page,omitempty"`
	Dur  uint32          `json:"duration_ms,omitempty"`
	Data json.RawMessage `json:"event_data"`
	Hash []byte          `json:"ip_hash"`
	UA   string          `json:"user_agent,omitempty"`
	Bot  string          `json:"bot,omitempty"`
	At   int64           `json:"created_at"`
	Rec  int64           `json:"received_at"`
	Sp   bool            `json:"spooled,omitempty"`
}

func appendJSON(b []byte, e *event.Event) []byte {
	text, err := json.Marshal(jsonEvent{
		1, e.AccountID, e.LeadMagnetID, e.GenericLinkID, e.AccessLinkID, e.SessionID, e.EventID,
		e.MagnetVersion, e.Type, e.Page,
		e.DurationMS, e.Data, e.IPHash[:], string(e.UserAgent), e.Bot, e.CreatedAt, e.ReceivedAt, e.Spooled,
	})
	if err != nil {
		return nil
	}
	return append(b, text...)
}

func decodeJSON(e *event.Event, record []byte) error {
	var j jsonEvent
	if err := json.Unmarshal(record, &j); err != nil {
		return err
	}
	if len(j.Hash) != 16 {
		return errFixed
	}
	*e = event.Event{
		AccountID: j.Acc, LeadMagnetID: j.Mag, GenericLinkID: j.Gen, AccessLinkID: j.Link, SessionID: j.Ses, EventID: j.ID,
		MagnetVersion: j.Ver, Type: j.Type, Page: j.Page, DurationMS: j.Dur, Data: j.Data, IPHash: [16]byte(j.Hash),
		UserAgent: []byte(j.UA), Bot: j.Bot, CreatedAt: j.At, ReceivedAt: j.Rec, Spooled: j.Sp,
	}
	return check(e)
}
