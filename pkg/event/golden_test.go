package event_test

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"lodestone/pkg/event"
)

var update = flag.Bool("update", false, "rewrite the golden files of records")

func id(n byte) uuid.UUID {
	return uuid.UUID{0x01, 0x95, 0x9f, 0x3c, 0x00, 0x00, 0x70, 0x00, 0x80, 0, 0, 0, 0, 0, 0, n}
}

// goldenEvents are the events whose records are stored in testdata. Never change one: records like
// these lie in Kafka. Add another.
func goldenEvents() map[string]event.Event {
	return map[string]event.Event{
		"typical": {
			AccountID: id(1), LeadMagnetID: id(2), GenericLinkID: id(3), AccessLinkID: id(4), SessionID: id(5), EventID: id(6),
			MagnetVersion: 1, Type: event.PageViewed, Page: 3, DurationMS: 8200,
			Data:      []byte(`{"page":3,"duration_ms":8200}`),
			IPHash:    [16]byte{0xde, 0xad, 0xbe, 0xef, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
			UserAgent: []byte("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"),
			CreatedAt: 1_773_500_966_535, ReceivedAt: 1_773_500_967_000,
		},
		"minimal": {
			AccountID: id(1), LeadMagnetID: id(2), AccessLinkID: id(4), EventID: id(6), Type: event.DownloadStarted,
			Data: []byte("{}"), CreatedAt: 946_684_800_000, ReceivedAt: 946_684_800_000,
		},
		"everything": {
			AccountID: id(1), LeadMagnetID: id(2), GenericLinkID: id(3), AccessLinkID: id(4), SessionID: id(5), EventID: id(6),
			MagnetVersion: 1<<32 - 1, Type: event.DownloadCompleted, Page: event.MaxPage, DurationMS: event.MaxDurationMS,
			Data:      []byte(`{"a":{"b":[{"c":null}]},"page":1000000,"duration_ms":86400000,"text":"é \u0000"}`),
			IPHash:    [16]byte{15: 1},
			UserAgent: []byte("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html) é"),
			Bot:       "crawler:Googlebot",
			CreatedAt: 4_102_444_800_000, ReceivedAt: 4_102_444_800_000, Spooled: true,
		},
		"origin": {
			AccountID: id(1), LeadMagnetID: id(2), AccessLinkID: id(4), EventID: id(6),
			Type: event.PageViewed, Data: []byte("{}"),
			Origin:    event.Origin{Language: event.Language{'g', 's', 'w'}, Country: event.Country{'C', 'H'}},
			CreatedAt: 1_773_500_966_535, ReceivedAt: 1_773_500_967_000,
		},
	}
}

// TestGolden compares the records with testdata: name.bin is the record, name.txt the same for
// people. `go test ./pkg/event -run Golden -update` rewrites them.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, e := range goldenEvents() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got event.Event
			require.NoError(t, got.Decode(golden(t, name, e.Append(nil))))
			requireSame(t, e, got)
		})
	}
}

// TestGoldenLinkView does so for a link view.
func TestGoldenLinkView(t *testing.T) {
	t.Parallel()
	v := event.LinkView{
		AccountID: id(1), LeadMagnetID: id(2), GenericLinkID: id(3), EventID: id(6),
		Referrer:  []byte("https://example.org/é"),
		URL:       []byte("https://example.com/l/guide?utm_source=mail"),
		IPHash:    [16]byte{0xde, 0xad, 0xbe, 0xef, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		UserAgent: []byte("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
		Bot:       "crawler:Googlebot",
		CreatedAt: 1_773_500_966_535, ReceivedAt: 1_773_500_967_000, Spooled: true,
	}
	var got event.LinkView
	require.NoError(t, got.Decode(golden(t, "linkview", v.Append(nil))))
	require.Equal(t, v, got)
	v.Origin = event.Origin{Language: event.Language{'d', 'e'}, Country: event.Country{'A', 'T'}}
	require.NoError(t, got.Decode(golden(t, "linkview_origin", v.Append(nil))))
	require.Equal(t, v, got)
	v.Bot, v.Suspect = "", "network"
	require.NoError(t, got.Decode(golden(t, "linkview_suspect", v.Append(nil))))
	require.Equal(t, v, got)
}

// golden compares a record with the file of the name, and returns what the file holds.
func golden(t *testing.T, name string, record []byte) []byte {
	t.Helper()
	text := describe(t, fieldNames(t), record)
	raw, readable := filepath.Join("testdata", name+".bin"), filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(t, os.WriteFile(raw, record, 0o600))
		require.NoError(t, os.WriteFile(readable, []byte(text), 0o600))
	}
	want, err := os.ReadFile(raw)
	require.NoError(t, err)
	require.Equal(t, hex.Dump(want), hex.Dump(record))
	wantText, err := os.ReadFile(readable)
	require.NoError(t, err)
	require.Equal(t, string(wantText), text)
	return want
}

// fieldNames reads the names of the fields from event.proto, which so is held to the code.
func fieldNames(t *testing.T) map[protowire.Number]string {
	t.Helper()
	schema, err := os.ReadFile("event.proto")
	require.NoError(t, err)
	names := map[protowire.Number]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (\w+ \w+) = (\d+);`).FindAllStringSubmatch(string(schema), -1) {
		var number int32
		_, err := fmt.Sscan(m[2], &number)
		require.NoError(t, err)
		names[protowire.Number(number)] = m[1]
	}
	return names
}

// describe writes one line a field: its bytes, and what they say by event.proto.
func describe(t *testing.T, names map[protowire.Number]string, record []byte) string {
	t.Helper()
	var out strings.Builder
	fmt.Fprintf(&out, "# %d bytes: tag, [length], value in hex, then the field of event.proto and its value\n",
		len(record))
	for b := record; len(b) > 0; {
		number, typ, n := protowire.ConsumeTag(b)
		require.Positive(t, n)
		size := protowire.ConsumeFieldValue(number, typ, b[n:])
		require.Positive(t, size)
		field, found := names[number]
		require.True(t, found, "field %d is not in event.proto", number)
		proto, name, _ := strings.Cut(field, " ")
		tag, value := b[:n], b[n:n+size]
		b = b[n+size:]
		switch typ {
		case protowire.VarintType:
			v, _ := protowire.ConsumeVarint(value)
			fmt.Fprintf(&out, "%x %x\n\t%d %s %s = %d\n", tag, value, number, proto, name, v)
		case protowire.Fixed64Type:
			v, _ := protowire.ConsumeFixed64(value)
			fmt.Fprintf(&out, "%x %x\n\t%d %s %s = %d\n", tag, value, number, proto, name, int64(v))
		case protowire.BytesType:
			v, _ := protowire.ConsumeBytes(value)
			fmt.Fprintf(&out, "%x %x %x\n\t%d %s %s = %s\n", tag, value[:len(value)-len(v)], v, number,
				proto, name, readable(name, v))
		default:
			require.Fail(t, "unexpected type", "%d", typ)
		}
	}
	return out.String()
}

func readable(name string, v []byte) string {
	switch {
	case strings.HasSuffix(name, "_id"):
		return uuid.UUID(v).String()
	case name == "ip_hash":
		return hex.EncodeToString(v)
	default:
		return string(v)
	}
}
