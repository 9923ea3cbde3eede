package event

import (
	"bytes"
	"encoding/binary"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
)

// Records written by our own collectors take a fast path: their fields come in one order, each at
// most once, and event data is usually a flat object of a few numbers. It takes a third of the time
// (BenchmarkDecode): without it and the prefetch of the window, the consumer takes 8 % fewer events
// a second, and misses its target (bench consume). The path accepts only what it recognises and
// leaves everything else to the general readers of records and JSON; what it accepts, they read
// alike (TestPlainRecordsAreReadAlike, FuzzPlain).

const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	twoBytes    = 0x80 // set in the first byte of a number that has another one
)

// plain is the unread rest of a record.
type plain []byte

// decodePlain fills an event that is zero but for its data, and reports whether it recognised the
// record.
func (e *Event) decodePlain(record []byte) bool {
	p := plain(record)
	if len(p) < 2 || p[0] != fieldVersion<<3|wireVarint || p[1] != SchemaVersion {
		return false
	}
	p = p[2:]
	p.id(fieldAccountID, &e.AccountID)
	p.id(fieldLeadMagnetID, &e.LeadMagnetID)
	p.id(fieldGenericLinkID, &e.GenericLinkID)
	p.id(fieldAccessLinkID, &e.AccessLinkID)
	p.id(fieldSessionID, &e.SessionID)
	p.id(fieldEventID, &e.EventID)
	p.number(fieldMagnetVersion, &e.MagnetVersion)
	kind := uint32(0)
	p.number(fieldType, &kind)
	if kind > 1<<8-1 {
		return false
	}
	e.Type = Type(kind)
	p.number(fieldPage, &e.Page)
	p.number(fieldDurationMS, &e.DurationMS)
	if data := p.text(fieldData); len(data) > 0 {
		e.Data = data
	}
	if hash := p.text(fieldIPHash); len(hash) == ipHashBytes {
		e.IPHash = [ipHashBytes]byte(hash)
	} else if len(hash) > 0 {
		return false
	}
	e.UserAgent = p.text(fieldUserAgent)
	if bot := p.text(fieldBot); len(bot) > 0 {
		e.Bot = string(bot)
	}
	if !p.origin(&e.Origin) {
		return false
	}
	p.time(fieldCreatedAt, &e.CreatedAt)
	p.time(fieldReceivedAt, &e.ReceivedAt)
	if len(p) == 3 && p[0] == tagLow(fieldSpooled, wireVarint) && p[1] == tagHigh(fieldSpooled) && p[2] == 1 {
		e.Spooled = true
		p = p[3:]
	}
	return len(p) == 0
}

// PeekIdentity returns the access link and the id of an event as our own collectors write it,
// without looking any further, and anything of another record: a guess of what Decode is going to
// find.
func PeekIdentity(record []byte) (accessLink, id uuid.UUID) {
	p := plain(record)
	if len(p) < 2 {
		return uuid.Nil, uuid.Nil
	}
	p = p[2:]
	var other uuid.UUID
	p.id(fieldAccountID, &other)
	p.id(fieldLeadMagnetID, &other)
	p.id(fieldGenericLinkID, &other)
	p.id(fieldAccessLinkID, &accessLink)
	p.id(fieldSessionID, &other)
	p.id(fieldEventID, &id)
	return accessLink, id
}

// tagLow and tagHigh are the bytes of a tag that has two of them.
func tagLow(field, wire byte) byte { return field<<3 | wire | twoBytes }
func tagHigh(field byte) byte      { return field >> 4 }

// Each of these takes its field off if it comes next, in the form that Append gives it.

func (p *plain) id(field byte, id *uuid.UUID) {
	b := *p
	if len(b) >= 2+len(id) && b[0] == field<<3|wireBytes && int(b[1]) == len(id) {
		*id = uuid.UUID(b[2:])
		*p = b[2+len(id):]
	}
}

func (p *plain) number(field byte, v *uint32) {
	b := *p
	if len(b) < 2 || b[0] != field<<3|wireVarint {
		return
	}
	n, size := binary.Uvarint(b[1:])
	if size > 0 && n <= 1<<32-1 {
		*v = uint32(n)
		*p = b[1+size:]
	}
}

// text returns nil as well if the field is longer than any of ours.
func (p *plain) text(field byte) []byte {
	b := *p
	if len(b) < 2 || b[0] != field<<3|wireBytes {
		return nil
	}
	length, b := int(b[1]), b[2:]
	if length >= twoBytes {
		if len(b) == 0 || b[0] >= twoBytes {
			return nil
		}
		length, b = length&^twoBytes|int(b[0])<<7, b[1:]
	}
	if length == 0 || length > len(b) {
		return nil
	}
	*p = b[length:]
	return b[:length:length]
}

// origin reports whether what it took off can be the language and the country.
func (p *plain) origin(o *Origin) bool {
	for _, field := range [...]byte{fieldLanguage, fieldCountry} {
		b := *p
		if len(b) < 3 || b[0] != tagLow(field, wireBytes) || b[1] != tagHigh(field) {
			continue
		}
		length := int(b[2])
		if length > len(b)-3 || o.set(protowire.Number(field), b[3:3+length]) != nil {
			return false
		}
		*p = b[3+length:]
	}
	return true
}

func (p *plain) time(field byte, v *int64) {
	b := *p
	if len(b) >= 10 && b[0] == tagLow(field, wireFixed64) && b[1] == tagHigh(field) {
		*v = int64(binary.LittleEndian.Uint64(b[2:]))
		*p = b[10:]
	}
}

// isPlainObject reports whether b is certainly a JSON object: ASCII without blanks, whose values
// are integers, literals, or strings without escapes.
func isPlainObject(b []byte) bool {
	if len(b) < 2 || b[0] != '{' {
		return false
	}
	if b[1] == '}' {
		return len(b) == 2
	}
	for i := 1; ; i++ {
		if i = pastText(b, i); i == 0 || i >= len(b) || b[i] != ':' {
			return false
		}
		i = pastValue(b, i+1)
		switch {
		case i == 0 || i >= len(b):
			return false
		case b[i] == '}':
			return i+1 == len(b)
		case b[i] != ',':
			return false
		}
	}
}

// pastValue returns where the plain value that begins at b[i] is over, or 0.
func pastValue(b []byte, i int) int {
	if i >= len(b) {
		return 0
	}
	switch c := b[i]; {
	case c == '"':
		return pastText(b, i)
	case '1' <= c && c <= '9':
		for i++; i < len(b) && '0' <= b[i] && b[i] <= '9'; i++ {
		}
		return i
	case c == '0':
		return i + 1
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if bytes.HasPrefix(b[i:], []byte(literal)) {
			return i + len(literal)
		}
	}
	return 0
}

// pastText returns where the text that begins at b[i] is over, or 0.
func pastText(b []byte, i int) int {
	if i >= len(b) || b[i] != '"' {
		return 0
	}
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ' || c == '\\' || c >= 0x80:
			return 0
		}
	}
	return 0
}
