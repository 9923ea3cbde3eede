package event_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
)

// requireSame compares two events; an empty slice is as good as none.
func requireSame(t require.TestingT, want, got event.Event) {
	if len(want.UserAgent) == 0 {
		want.UserAgent = nil
	}
	if len(got.UserAgent) == 0 {
		got.UserAgent = nil
	}
	require.Equal(t, want, got)
}

func drawID(t *rapid.T, name string) uuid.UUID {
	return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16,
		16).Filter(func(b []byte) bool { return uuid.UUID(b) != uuid.Nil }).Draw(t, name))
}

func drawEvent(t *rapid.T) event.Event {
	maybeID := func(name string) uuid.UUID {
		if rapid.Bool().Draw(t, "has "+name) {
			return drawID(t, name)
		}
		return uuid.Nil
	}
	// 2000 to 2100, in milliseconds.
	timestamp := rapid.Int64Range(946_684_800_000, 4_102_444_800_000)
	data, err := json.Marshal(rapid.MapOfN(rapid.StringN(0, 10, 40), rapid.Int(), 0, 20).Draw(t, "data"))
	if err != nil {
		t.Fatal(err)
	}
	return event.Event{
		AccountID:     drawID(t, "account"),
		LeadMagnetID:  drawID(t, "magnet"),
		GenericLinkID: maybeID("generic"),
		AccessLinkID:  drawID(t, "access"),
		SessionID:     maybeID("session"),
		EventID:       drawID(t, "event"),
		MagnetVersion: rapid.Uint32().Draw(t, "version"),
		Type:          rapid.SampledFrom(event.Types()).Draw(t, "type"),
		Page:          rapid.Uint32Range(0, event.MaxPage).Draw(t, "page"),
		DurationMS:    rapid.Uint32Range(0, event.MaxDurationMS).Draw(t, "duration"),
		Data:          data,
		IPHash:        [16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "hash")),
		UserAgent:     []byte(rapid.StringN(0, -1, event.MaxAgentBytes).Draw(t, "agent")),
		Bot:           rapid.StringN(0, -1, event.MaxBotRuleBytes).Draw(t, "bot"),
		Origin:        drawOrigin(t),
		CreatedAt:     timestamp.Draw(t, "created"),
		ReceivedAt:    timestamp.Draw(t, "received"),
		Spooled:       rapid.Bool().Draw(t, "spooled"),
	}
}

func drawOrigin(t *rapid.T) event.Origin {
	language, _ := event.ParseLanguage([]byte(rapid.StringMatching("([a-z]{2,3})?").Draw(t, "language")))
	country, _ := event.ParseCountry(rapid.StringMatching("([A-Z]{2})?").Draw(t, "country"))
	return event.Origin{Language: language, Country: country}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawEvent(t)
		require.NoError(t, want.Validate())
		prefix := []byte("prefix")
		record := want.Append(prefix)
		require.Equal(t, prefix, record[:len(prefix)])
		var got event.Event
		require.NoError(t, got.Decode(record[len(prefix):]))
		requireSame(t, want, got)
	})
}

// A record cut off anywhere is an error or, at the border of a field, an event that lacks
// something.
func TestTruncatedRecords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		record := e.Append(nil)
		var got event.Event
		if err := got.Decode(record[:rapid.IntRange(0, len(record)-1).Draw(t, "length")]); err == nil {
			require.NoError(t, got.Validate())
			got.Spooled = e.Spooled // the last field, and the only one that may be cut off completely
			requireSame(t, e, got)
		}
	})
}

// A field that this version does not know is skipped, whatever its type.
func TestUnknownFieldsAreSkipped(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := drawEvent(t)
		record := want.Append(nil)
		number := protowire.Number(rapid.Int32Range(23, int32(protowire.MaxValidNumber)).Filter(func(n int32) bool {
			return n < int32(protowire.FirstReservedNumber) || n > int32(protowire.LastReservedNumber)
		}).Draw(t, "number"))
		switch rapid.IntRange(0, 4).Draw(t, "type") {
		case 0:
			record = protowire.AppendVarint(protowire.AppendTag(record, number, protowire.VarintType),
				rapid.Uint64().Draw(t, "v"))
		case 1:
			record = protowire.AppendFixed64(protowire.AppendTag(record, number, protowire.Fixed64Type), 7)
		case 2:
			record = protowire.AppendFixed32(protowire.AppendTag(record, number, protowire.Fixed32Type), 7)
		case 3:
			record = protowire.AppendBytes(protowire.AppendTag(record, number, protowire.BytesType),
				rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		case 4:
			record = protowire.AppendTag(record, number, protowire.StartGroupType)
			record = protowire.AppendTag(record, number, protowire.EndGroupType)
		}
		var got event.Event
		require.NoError(t, got.Decode(record))
		requireSame(t, want, got)
	})
}

// The spool marks a record that it stored by appending the field: the last value of a field counts.
func TestSpooledCanBeAppended(t *testing.T) {
	t.Parallel()
	want := goldenEvents()["typical"]
	record := protowire.AppendVarint(protowire.AppendTag(want.Append(nil), 18, protowire.VarintType), 1)
	want.Spooled = true
	require.Equal(t, want.Append(nil), record)
}

func TestDecodeReusesTheEvent(t *testing.T) {
	t.Parallel()
	all := goldenEvents()
	full, minimal := all["everything"], all["minimal"]
	var got event.Event
	require.NoError(t, got.Decode(full.Append(nil)))
	require.NoError(t, got.Decode(minimal.Append(nil)))
	requireSame(t, minimal, got)
}

func TestRefusedRecords(t *testing.T) {
	t.Parallel()
	unknownType := event.Type(len(event.Types()) + 1)
	valid := goldenEvents()["typical"]
	changed := func(change func(*event.Event)) []byte {
		e := valid
		change(&e)
		return e.Append(nil)
	}
	with := func(number protowire.Number, value []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(valid.Append(nil), number, protowire.BytesType), value)
	}
	number := func(number protowire.Number, value uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(valid.Append(nil), number, protowire.VarintType), value)
	}
	for name, c := range map[string]struct {
		record []byte
		want   error
	}{
		"empty":                {nil, event.ErrMalformed},
		"JSON":                 {[]byte(`{"event_type":"page_viewed"}`), event.ErrMalformed},
		"zeros":                {make([]byte, 100), event.ErrMalformed},
		"without version":      {valid.Append(nil)[2:], event.ErrMalformed},
		"a later version":      {append([]byte{8, 2}, valid.Append(nil)[2:]...), event.ErrNewer},
		"a later version, cut": {append([]byte{8, 2}, valid.Append(nil)[2:60]...), event.ErrMalformed},
		"only a later version": {[]byte{8, 2}, event.ErrMalformed},
		"no version at all":    {number(1, 1<<63), event.ErrMalformed},
		"version 0":            {number(1, 0), event.ErrMalformed},
		"no account":           {changed(func(e *event.Event) { e.AccountID = uuid.Nil }), event.ErrInvalid},
		"no lead magnet":       {changed(func(e *event.Event) { e.LeadMagnetID = uuid.Nil }), event.ErrInvalid},
		"no access link":       {changed(func(e *event.Event) { e.AccessLinkID = uuid.Nil }), event.ErrInvalid},
		"no event id":          {changed(func(e *event.Event) { e.EventID = uuid.Nil }), event.ErrInvalid},
		"no type":              {changed(func(e *event.Event) { e.Type = 0 }), event.ErrInvalid},
		"an unknown type":      {changed(func(e *event.Event) { e.Type = unknownType }), event.ErrNewer},
		"an unknown type, broken": {changed(func(e *event.Event) { e.Type, e.EventID = unknownType, uuid.Nil }),
			event.ErrInvalid},
		"a type that wraps": {number(9, 257), event.ErrInvalid},
		"a page too large":  {changed(func(e *event.Event) { e.Page = event.MaxPage + 1 }), event.ErrInvalid},
		"a page that wraps": {number(10, 1<<32+1), event.ErrInvalid},
		"a duration too long": {changed(func(e *event.Event) { e.DurationMS = event.MaxDurationMS + 1 }),
			event.ErrInvalid},
		"a file version wraps":   {number(8, 1<<32), event.ErrInvalid},
		"spooled 2":              {number(18, 2), event.ErrInvalid},
		"no time":                {changed(func(e *event.Event) { e.CreatedAt = 0 }), event.ErrInvalid},
		"received in seconds":    {changed(func(e *event.Event) { e.ReceivedAt /= 1000 }), event.ErrInvalid},
		"created in the future":  {changed(func(e *event.Event) { e.CreatedAt = 1 << 62 }), event.ErrInvalid},
		"created negative":       {changed(func(e *event.Event) { e.CreatedAt = -1 }), event.ErrInvalid},
		"a short id":             {with(2, make([]byte, 15)), event.ErrInvalid},
		"an id as text":          {with(7, []byte(uuid.NewString())), event.ErrInvalid},
		"a long hash":            {with(13, make([]byte, 17)), event.ErrInvalid},
		"data empty":             {with(12, nil), event.ErrInvalid},
		"data an array":          {with(12, []byte("[]")), event.ErrInvalid},
		"data cut off":           {with(12, []byte(`{"a":`)), event.ErrInvalid},
		"data with invalid text": {with(12, []byte("{\"a\":\"\xff\"}")), event.ErrInvalid},
		"data too long":          {with(12, bytes.Repeat([]byte(" "), event.MaxDataBytes+1)), event.ErrInvalid},
		"agent too long":         {with(14, bytes.Repeat([]byte("a"), event.MaxAgentBytes+1)), event.ErrInvalid},
		"agent invalid":          {with(14, []byte("\xff")), event.ErrInvalid},
		"rule too long":          {with(15, bytes.Repeat([]byte("a"), event.MaxBotRuleBytes+1)), event.ErrInvalid},
		"rule invalid":           {with(15, []byte("\xff")), event.ErrInvalid},
		"a language in words":    {with(21, []byte("German")), event.ErrInvalid},
		"a language of a letter": {with(21, []byte("d")), event.ErrInvalid},
		"a language in capitals": {with(21, []byte("DE")), event.ErrInvalid},
		"a language with a gap":  {with(21, []byte("\x00de")), event.ErrInvalid},
		"a country in small":     {with(22, []byte("de")), event.ErrInvalid},
		"a country in words":     {with(22, []byte("DEU")), event.ErrInvalid},
		"a country of zeros":     {with(22, []byte{0, 'D'}), event.ErrInvalid},
		"bytes after it":         {append(valid.Append(nil), 0xff), event.ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e event.Event
			err := e.Decode(c.record)
			require.ErrorIs(t, err, c.want)
			for _, other := range []error{event.ErrMalformed, event.ErrNewer, event.ErrInvalid} {
				require.Equal(t, errors.Is(c.want, other), errors.Is(err, other), "only one kind")
			}
		})
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	for _, typ := range event.Types() {
		got, ok := event.ParseType(typ.String())
		require.True(t, ok)
		require.Equal(t, typ, got)
	}
	_, ok := event.ParseType("type_9")
	require.False(t, ok)
}

// FuzzDecode: any bytes give an error of a known kind, or an event that is valid and whose record
// gives the same event again.
func FuzzDecode(f *testing.F) {
	for _, e := range goldenEvents() {
		f.Add(e.Append(nil))
	}
	f.Add([]byte{8, 2})
	f.Fuzz(func(t *testing.T, record []byte) {
		before := bytes.Clone(record)
		var e event.Event
		err := e.Decode(record)
		require.Equal(t, before, record, "the record was changed")
		if err != nil {
			require.True(t, errors.Is(err, event.ErrMalformed) || errors.Is(err, event.ErrNewer) ||
				errors.Is(err, event.ErrInvalid), err)
			return
		}
		require.NoError(t, e.Validate())
		var again event.Event
		require.NoError(t, again.Decode(e.Append(nil)))
		requireSame(t, e, again)
	})
}
