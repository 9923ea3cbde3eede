package event

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"
)

func plainExamples() []Event {
	id := func(n byte) uuid.UUID { return uuid.UUID{15: n, 0: 7} }
	one := Event{
		AccountID: id(1), LeadMagnetID: id(2), GenericLinkID: id(3), AccessLinkID: id(4), SessionID: id(5), EventID: id(6),
		MagnetVersion: 300, Type: PageViewed, Page: 3, DurationMS: 8200,
		Data: []byte(`{"page":3,"duration_ms":8200}`), IPHash: [16]byte{1},
		UserAgent: []byte("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 and then some more of it"),
		CreatedAt: 1_773_500_966_535, ReceivedAt: 1_773_500_967_000,
	}
	bot := one
	bot.Bot, bot.Spooled, bot.Data = "crawler:Googlebot", true, emptyObject
	return []Event{one, bot, {
		AccountID: id(1), LeadMagnetID: id(2), AccessLinkID: id(4), EventID: id(6), Type: DownloadStarted, Data: emptyObject,
		CreatedAt: minUnixMilli, ReceivedAt: minUnixMilli,
	}}
}

// requireAlike fails if the short way recognises a record that the long way reads otherwise.
func requireAlike(t require.TestingT, record []byte) (recognised bool) {
	short, long := Event{Data: emptyObject}, Event{Data: emptyObject}
	if !short.decodePlain(record) {
		return false
	}
	require.NoError(t, scan(record, &long))
	require.Equal(t, long, short)
	return true
}

func TestPlainRecordsAreReadAlike(t *testing.T) {
	t.Parallel()
	for _, e := range plainExamples() {
		require.True(t, requireAlike(t, e.Append(nil)), "what we write is recognised")
		link, id := PeekIdentity(e.Append(nil))
		require.Equal(t, []uuid.UUID{e.AccessLinkID, e.EventID}, []uuid.UUID{link, id})
	}
	rapid.Check(t, func(t *rapid.T) { // and changed a little
		e := rapid.SampledFrom(plainExamples()).Draw(t, "event")
		b := e.Append(nil)
		for range rapid.IntRange(1, 3).Draw(t, "changes") {
			at := rapid.IntRange(0, len(b)-1).Draw(t, "at")
			switch rapid.IntRange(0, 2).Draw(t, "change") {
			case 0:
				b[at] = rapid.Byte().Draw(t, "byte")
			case 1:
				b = append(b[:at], b[at+1:]...)
			default:
				field := protowire.Number(rapid.IntRange(1, 21).Draw(t, "field"))
				b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), rapid.Uint64().Draw(t, "number"))
			}
			if len(b) == 0 {
				return
			}
		}
		requireAlike(t, b)
	})
}

func TestPlainObjects(t *testing.T) {
	t.Parallel()
	for _, plain := range []string{
		`{}`, `{"page":3,"duration_ms":8200}`, `{"a":0}`, `{"a":"b c","d":true,"e":false,"f":null}`, `{"":1}`,
	} {
		require.True(t, isPlainObject([]byte(plain)), plain)
		require.True(t, json.Valid([]byte(plain)), plain)
	}
	for _, other := range []string{
		``, `{`, `{}}`, `[]`, `{"a"}`, `{"a":}`, `{"a":01}`, `{"a":-1}`, `{"a":1.5}`, `{"a":1e5}`, `{"a":1,}`, `{,}`,
		`{"a":1 }`, `{ }`, `{"a":[1]}`, `{"a":{}}`,
		`{"a":"\n"}`, "{\"a\":\"\n\"}", `{"a":"é"}`, "{\"a\":\"\xff\"}", `{"a":tru}`, `{"a":nulll}`, `{"a":true`, `{"a":1`,
		`{"a":"b`, `{"a":"b"`, `{a:1}`, `{"a":0x1}`, `{"a":"b""c":1}`,
	} {
		require.False(t, isPlainObject([]byte(other)), other)
	}
}

// FuzzPlain: whatever the short ways recognise, the long ones read alike.
func FuzzPlain(f *testing.F) {
	for _, e := range plainExamples() {
		f.Add(e.Append(nil))
		f.Add(e.Data)
	}
	f.Add([]byte(`{"a":"b","c":null,"d":10}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		requireAlike(t, b)
		if isPlainObject(b) {
			require.True(t, json.Valid(b) && utf8.Valid(b))
		}
	})
}

// BenchmarkDecode is the reading of one record as the consumer does it.
func BenchmarkDecode(b *testing.B) {
	example := plainExamples()[0]
	record := example.Append(nil)
	long := protowire.AppendVarint(protowire.AppendTag(append([]byte(nil), record...), fieldSpooled, protowire.VarintType),
		0)
	for name, record := range map[string][]byte{"plain": record, "any": long} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(record)))
			var e Event
			for b.Loop() {
				if err := e.Decode(record); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
