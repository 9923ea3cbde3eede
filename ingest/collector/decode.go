package collector

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

// fieldError is why an element was refused.
type fieldError struct {
	code    Code
	message string
}

// endpoint is one of the two kinds of elements that are sent. Both take one element or an array,
// and answer in the same form.
type endpoint struct {
	views  bool   // link views, else events
	topic  string // of the records
	fields uint16 // bit set of the fields that an element may have
	known  string // those fields, in words
	noun   string
	one    string // with its article
}

var (
	eventsEndpoint = endpoint{
		topic: event.Topic, noun: "event", one: "an event",
		fields: 1<<fieldToken | 1<<fieldEventType | 1<<fieldEventData | 1<<fieldEventID |
			1<<fieldSessionID | 1<<fieldCreatedAt | 1<<fieldSentAt,
		known: "token, event_type, event_data, event_id, session_id, created_at and sent_at",
	}
	viewsEndpoint = endpoint{
		views: true, topic: event.LinkViewTopic, noun: "link view", one: "a link view",
		fields: 1<<fieldToken | 1<<fieldEventID | 1<<fieldReferrer | 1<<fieldURL,
		known:  "token, event_id, referrer and url",
	}
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

var fieldNames = [fieldCount]string{"token", "event_type", "event_data", "event_id", "session_id", "created_at",
	"sent_at", "referrer", "url"}

// element is one event or link view as it stands in a request: the values are still JSON and alias
// the body.
type element struct {
	values   [fieldCount]jsontext.Value // nil: absent, or null
	repeated uint16                     // bit set of fields that occur twice
	unknown  jsontext.Value             // name of the first member that is no field
	kind     jsontext.Kind              // '{' unless the element is no object
}

// read reads the next value of the body. Its error is one of JSON syntax.
func (e *element) read(dec *jsontext.Decoder, to *endpoint) error {
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
		if !known || to.fields&(1<<f) == 0 {
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
func (e *element) unknownMessage(to *endpoint) string {
	const maxName = 64
	text, _ := unquote(e.unknown)
	if len(text) > maxName {
		cut := maxName
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
	}
	return fmt.Sprintf("%s is not a field of %s; allowed are %s", strconv.Quote(string(text)), to.one, to.known)
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

func (c *Collector) claims(e *element, d *endpoint) (*token.Claims, *fieldError) {
	if e.twice(fieldToken) {
		return nil, &fieldError{InvalidToken, "token is given twice"}
	}
	value := e.values[fieldToken]
	if value == nil {
		return nil, &fieldError{InvalidToken, "token is missing; give the tracking_token of the link"}
	}
	text, ok := unquote(value)
	if !ok {
		return nil, &fieldError{InvalidToken, "token is not a string; give the tracking_token of the link"}
	}
	claims, err := c.tokens.Verify(text)
	if err != nil {
		return nil, &fieldError{InvalidToken, "token does not verify; give the tracking_token of the link, unchanged"}
	}
	if d.views {
		if claims.GenericLinkID == uuid.Nil {
			return nil, &fieldError{InvalidToken,
				"token belongs to an access link without a landing page; give the tracking_token of a generic link"}
		}
	} else if claims.AccessLinkID == uuid.Nil {
		return nil, &fieldError{InvalidToken,
			"token belongs to a landing page, which has link views only; give the tracking_token of an access link"}
	}
	return claims, nil
}

func parseID(e *element, f field, code Code) (uuid.UUID, *fieldError) {
	wrong := func(what string) (uuid.UUID, *fieldError) {
		return uuid.Nil, &fieldError{code,
			fmt.Sprintf("%s %s; give a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057, or leave it out", fieldNames[f], what)}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return uuid.Nil, nil
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	const canonical = 36 // the library also reads other forms, of other lengths
	id, err := uuid.ParseBytes(text)
	if err != nil || len(text) != canonical {
		return wrong("is not a UUID in its canonical form")
	}
	if id == uuid.Nil {
		return wrong("is the nil UUID")
	}
	return id, nil
}

// open makes the decoder read a body.
func (s *scratch) open(body []byte) {
	s.source = *bytes.NewBuffer(body)
	// What is wrong in one element refuses that one only: names that occur twice, and escapes that
	// stand for no character (half of a pair), which is all that is not UTF-8 here.
	options := []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}
	if s.decoder == nil {
		s.decoder = jsontext.NewDecoder(&s.source, options...)
	} else {
		s.decoder.Reset(&s.source, options...)
	}
}

// tail checks that nothing follows the value.
func (s *scratch) tail() error {
	_, err := s.decoder.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return errors.New("something follows the value")
	default:
		return err
	}
}

// syntax returns what is wrong with a body, without repeating the body.
func syntax(err error) string {
	var s *jsontext.SyntacticError
	switch {
	case errors.As(err, &s) && s.Err != nil:
		return fmt.Sprintf("%v at byte %d", s.Err, s.ByteOffset)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends too early"
	default:
		return err.Error()
	}
}

// spaced reports whether a JSON value may have insignificant whitespace.
func spaced(value []byte) bool {
	for _, c := range value {
		if c <= ' ' { // other control characters are not in JSON
			return true
		}
	}
	return false
}

// soundNumber reports whether a JSON number is within the range of a double, as most readers need
// it.
func soundNumber(text []byte) bool {
	const safe = 300 // digits
	if len(text) < safe && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, 'E') < 0 {
		return true
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}

// newID returns an id for an event that came without.
func newID() uuid.UUID { return uuid.Must(uuid.NewV7()) } // crypto/rand never fails
