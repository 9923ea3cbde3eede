package collector

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// field is one member of an element of a request.
type field uint8

const (
	fieldToken field = iota
	fieldEventType
	fieldEventData
	fieldEventID
	fieldSessionID
	fieldCreatedAt
	fieldSentAt
	fieldReferrer
	fieldURL
	fieldCount
)

var fieldNames = [fieldCount]string{"token", "event_type", "event_data", "event_id", "session_id", "created_at", "sent_at", "referrer", "url"}

// element is one event or link view as it stands in a request: the values are still JSON and alias the body.
type element struct {
	values   [fieldCount]jsontext.Value // nil: absent, or null
	repeated uint16                     // bit set of fields that occur twice
	unknown  jsontext.Value             // name of the first member that is no field
	kind     jsontext.Kind              // '{' unless the element is no object
}

// read reads the next value of the body. Its error is one of JSON syntax.
func (e *element) read(dec *jsontext.Decoder, d *door) error {
	*e = element{kind: dec.PeekKind()}
	if e.kind != '{' {
		return dec.SkipValue()
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	seen := uint16(0)
	for dec.PeekKind() == '"' {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		value, err := dec.ReadValue()
		if err != nil {
			return err
		}
		f, known := fieldOf(name)
		if !known || d.fields&(1<<f) == 0 {
			if e.unknown == nil {
				e.unknown = name
			}
			continue
		}
		e.repeated |= seen & (1 << f)
		seen |= 1 << f
		if value[0] != 'n' { // null is the same as absent
			e.values[f] = value
		}
	}
	_, err := dec.ReadToken() // the closing brace, or the error that ended the loop
	return err
}

func fieldOf(name jsontext.Value) (field, bool) {
	text, ok := unquote(name)
	if !ok {
		return 0, false
	}
	switch string(text) {
	case "token":
		return fieldToken, true
	case "event_type":
		return fieldEventType, true
	case "event_data":
		return fieldEventData, true
	case "event_id":
		return fieldEventID, true
	case "session_id":
		return fieldSessionID, true
	case "created_at":
		return fieldCreatedAt, true
	case "sent_at":
		return fieldSentAt, true
	case "referrer":
		return fieldReferrer, true
	case "url":
		return fieldURL, true
	default:
		return 0, false
	}
}

// unquote returns the text of a JSON string, or false if the value is none. The text aliases the
// value if nothing in it is escaped.
func unquote(v jsontext.Value) ([]byte, bool) {
	if len(v) < 2 || v[0] != '"' {
		return nil, false
	}
	if bytes.IndexByte(v, '\\') >= 0 {
		text, err := jsontext.AppendUnquote([]byte(nil), v)
		return text, err == nil
	}
	return v[1 : len(v)-1], true
}

// twice reports whether a field occurs more than once. Which one counts would depend on the
// reader, so it is refused under the field's own code.
func (e *element) twice(f field) bool { return e.repeated&(1<<f) != 0 }

// unknownMessage names the member that is no field, cut to a sane length.
func (e *element) unknownMessage(d *door) string {
	const maxName = 64
	text, _ := unquote(e.unknown)
	if len(text) > maxName {
		cut := maxName
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return fmt.Sprintf("%s is not a field of %s; allowed are %s", strconv.Quote(string(text)), d.one, d.known)
}

// kindName names what an element is instead of an object.
func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	default:
		return "an array"
	}
}
