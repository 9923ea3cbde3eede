package collector

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/source"
)

var errTooMany = errors.New("too many elements")

// decode turns a body into records and rejections, or returns why all of it is refused.
func (c *Collector) decode(s *scratch, e *endpoint, body []byte, from *sender) *requestProblem {
	if !utf8.Valid(body) {
		return &requestProblem{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid JSON: it is not UTF-8."}
	}
	s.open(body)
	if size := arenaSize(body, from); cap(s.arena) < size {
		s.arena = make([]byte, 0, size+size/4) // the next body may be a little larger
	}
	count, err := c.elements(s, e, from)
	if err == nil {
		err = s.tail()
	}
	switch {
	case errors.Is(err, errTooMany):
		return &requestProblem{fasthttp.StatusRequestEntityTooLarge, codeTooLarge,
			fmt.Sprintf("The request has more than %d %ss.", MaxElements, e.noun)}
	case err != nil:
		return &requestProblem{fasthttp.StatusBadRequest, codeInvalidJSON, "The body is not valid JSON: " + syntax(err) + "."}
	case count == 0:
		return &requestProblem{fasthttp.StatusUnprocessableEntity, codeValidation,
			"The array is empty; send at least one " + e.noun + "."}
	case len(s.ends) == 0:
		return s.noneAccepted(e)
	}
	start := 0
	for _, end := range s.ends {
		value := start + len(uuid.UUID{})
		s.records = append(s.records, producer.Record{Topic: e.topic, Key: s.arena[start:value:value],
			Value: s.arena[value:end:end]})
		start = end
	}
	s.trim()
	return nil
}

// arenaSize is about what the records of a body take: a record has no token, no names of fields and
// no text of ids, but has the user agent and the ids of the token. What has a large event_data
// takes more, and grows.
func arenaSize(body []byte, from *sender) int {
	const ids = 256
	if len(body) > 0 && body[0] == '[' {
		return len(body) + ids
	}
	return ids + len(from.userAgent) + len(body)/4
}

// elements reads one element or an array of them, and returns their number.
func (c *Collector) elements(s *scratch, e *endpoint, from *sender) (count int, err error) {
	if s.decoder.PeekKind() != '[' {
		return 1, c.next(s, e, 0, from)
	}
	if _, err := s.decoder.ReadToken(); err != nil {
		return 0, err
	}
	for ; ; count++ {
		switch s.decoder.PeekKind() {
		case ']', jsontext.KindInvalid:
			_, err := s.decoder.ReadToken()
			return count, err
		}
		if count == MaxElements {
			return count, errTooMany
		}
		if err := c.next(s, e, count, from); err != nil {
			return count, err
		}
	}
}

// next reads one element into a record or a rejection.
func (c *Collector) next(s *scratch, e *endpoint, index int, from *sender) error {
	var one element
	if err := one.read(s.decoder, e); err != nil {
		return err
	}
	var f *fieldError
	if e.views {
		f = c.nextView(s, &one, from)
	} else {
		f = c.nextEvent(s, &one, from)
	}
	if f != nil {
		s.rejected = append(s.rejected, rejection{index, f.code, f.message})
		return nil
	}
	if from.bot != "" {
		s.bots++
	}
	s.ends = append(s.ends, len(s.arena))
	return nil
}

// nextEvent makes the element a record. The key is the link, so that repeats of one id meet in one
// partition.
func (c *Collector) nextEvent(s *scratch, e *element, from *sender) *fieldError {
	var ev event.Event
	if f := c.parse(&ev, e, from); f != nil {
		return f
	}
	if message := c.exceeded(ev.AccountID, from.receivedAt); message != "" {
		return &fieldError{LimitReached, message}
	}
	ev.IPHash = c.hash(s, ev.AccountID, from)
	s.arena = append(s.arena, ev.AccessLinkID[:]...)
	s.arena = ev.Append(s.arena)
	return nil
}

// nextView makes the element a record, whose key is the link as well.
func (c *Collector) nextView(s *scratch, e *element, from *sender) *fieldError {
	var view event.LinkView
	if f := c.parseView(&view, e, from); f != nil {
		return f
	}
	wait, f := c.takeView(from.limited, view.GenericLinkID, s.arrived)
	if f != nil {
		s.wait = max(s.wait, wait)
		return f
	}
	view.IPHash = c.hash(s, view.AccountID, from)
	s.arena = append(s.arena, view.GenericLinkID[:]...)
	s.arena = view.Append(s.arena)
	return nil
}

// hash returns the hash of the sender's address, or counts that there is none.
func (c *Collector) hash(s *scratch, account uuid.UUID, from *sender) [16]byte {
	hash, ok := from.hashFor(account, c.deps.Addresses)
	if !ok {
		s.unhashed++
	}
	return hash
}

// noneAccepted returns the problem of a request whose elements were all rejected. If one limit
// rejected them all, the problem names it.
func (s *scratch) noneAccepted(e *endpoint) *requestProblem {
	same := s.rejected[0]
	for _, r := range s.rejected {
		if r.code != same.code {
			same = rejection{}
			break
		}
	}
	switch same.code {
	case LimitReached:
		return &requestProblem{fasthttp.StatusForbidden, codeLimitReached, "Nothing was accepted: " + same.message + "."}
	case RateLimited:
		return &requestProblem{fasthttp.StatusTooManyRequests, codeRateLimited, "Nothing was accepted: " + same.message + "."}
	default:
		return &requestProblem{fasthttp.StatusUnprocessableEntity, codeValidation,
			"No " + e.noun + " was accepted; see rejected."}
	}
}

// parse fills ev from an element. Its rules, in the order in which they are checked:
//
//   - The element is an object with a valid token of an access link; invalid_token otherwise.
//   - Members other than the seven fields: unknown_field. Names are compared exactly.
//   - A field that occurs twice is refused under the field's own code. null means absent.
//   - event_type is a string, one of event.Types.
//   - event_data: see parseData. event_id and session_id are UUIDs of any version in the canonical
//     form of 36 characters, but not the nil UUID; an absent event_id is generated.
//   - created_at and sent_at are RFC 3339 with a time zone; see parseTimes.
//
// ev.Data and ev.UserAgent alias the request.
func (c *Collector) parse(ev *event.Event, e *element, from *sender) *fieldError {
	if e.kind != '{' {
		return &fieldError{InvalidToken, "the element is " + kindName(e.kind) +
			"; an event is an object with at least token and event_type"}
	}
	claims, f := c.claims(e, &eventsEndpoint)
	if f != nil {
		return f
	}
	if e.unknown != nil {
		return &fieldError{UnknownField, e.unknownMessage(&eventsEndpoint)}
	}
	*ev = event.Event{
		AccountID:     claims.AccountID,
		LeadMagnetID:  claims.LeadMagnetID,
		GenericLinkID: claims.GenericLinkID,
		AccessLinkID:  claims.AccessLinkID,
		MagnetVersion: claims.MagnetVersion,
		UserAgent:     from.userAgent,
		Bot:           from.bot,
		Origin:        from.origin,
		ReceivedAt:    from.receivedAt.UnixMilli(),
	}
	return c.parseFields(ev, e)
}

// parseFields fills in what stands in the element besides the token.
func (c *Collector) parseFields(ev *event.Event, e *element) (f *fieldError) {
	if f = parseType(ev, e); f != nil {
		return f
	}
	if e.twice(fieldEventData) {
		return &fieldError{InvalidEventData, "event_data is given twice"}
	}
	if f = parseData(ev, e.values[fieldEventData]); f != nil {
		return f
	}
	if ev.EventID, f = parseID(e, fieldEventID, InvalidEventID); f != nil {
		return f
	}
	if ev.EventID == uuid.Nil {
		ev.EventID = newID()
	}
	if ev.SessionID, f = parseID(e, fieldSessionID, InvalidSessionID); f != nil {
		return f
	}
	return parseTimes(ev, e)
}

// allowedTypes ends the errors of event_type.
var allowedTypes = func() string {
	var names []string
	for _, t := range event.Types() {
		names = append(names, t.String())
	}
	last := len(names) - 1
	return "; allowed are " + strings.Join(names[:last], ", ") + " and " + names[last]
}()

func parseType(ev *event.Event, e *element) *fieldError {
	if e.twice(fieldEventType) {
		return &fieldError{InvalidEventType, "event_type is given twice"}
	}
	value := e.values[fieldEventType]
	if value == nil {
		return &fieldError{InvalidEventType, "event_type is missing" + allowedTypes}
	}
	text, ok := unquote(value)
	if !ok {
		return &fieldError{InvalidEventType, "event_type is not a string" + allowedTypes}
	}
	if ev.Type, ok = event.ParseType(string(text)); !ok {
		return &fieldError{InvalidEventType, "event_type is unknown" + allowedTypes}
	}
	return nil
}

// maxAge is how far back an event may have happened.
const maxAge = 48 * time.Hour

// parseTimes sets CreatedAt: the client's created_at, corrected by how far its clock was off when
// it sent the request (received minus sent_at). A result in the future, or more than 48 h back,
// is not believed: the event then happened when it was received. So it does without created_at.
func parseTimes(ev *event.Event, e *element) *fieldError {
	ev.CreatedAt = ev.ReceivedAt
	created, hasCreated, f := parseTime(e, fieldCreatedAt)
	if f != nil {
		return f
	}
	sent, hasSent, f := parseTime(e, fieldSentAt)
	if f != nil || !hasCreated {
		return f
	}
	at := created
	if hasSent {
		at += ev.ReceivedAt - sent
	}
	if at <= ev.ReceivedAt && at >= ev.ReceivedAt-maxAge.Milliseconds() {
		ev.CreatedAt = at
	}
	return nil
}

// parseTime returns a field in Unix milliseconds.
func parseTime(e *element, f field) (ms int64, given bool, _ *fieldError) {
	wrong := func(what string) (int64, bool, *fieldError) {
		return 0, false, &fieldError{InvalidTimestamp,
			fieldNames[f] + " " + what + "; give RFC 3339 with a time zone, such as 2026-01-31T09:30:00.250Z, or leave it out"}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return 0, false, nil
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	if len(text) > len("2006-01-02") && (text[len("2006-01-02")] == 't' || text[len(text)-1] == 'z') {
		text = bytes.ToUpper(text) // RFC 3339 lets both be small
	}
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil || !isStrict(text) {
		return wrong("is not a timestamp")
	}
	return t.UnixMilli(), true, nil
}

// isStrict reports whether a text that time.Parse takes is RFC 3339: time.Parse also takes hours of
// one digit, a comma before the fraction, and zones of a day or more.
func isStrict(text []byte) bool {
	zone := string(text[len(text)-len("00:00"):])
	return text[len("2006-01-02T0")] != ':' && text[len("2006-01-02T15:04:05")] != ',' &&
		(text[len(text)-1] == 'Z' || zone[:2] <= "23" && zone[3:] <= "59")
}

var emptyData = []byte("{}")

// parseData sets Data, Page and DurationMS. event_data is an object of at most event.MaxDataBytes
// without insignificant whitespace, objects and arrays nested at most event.MaxDataDepth deep, no
// member of an object given twice, no number beyond what a double holds, no escape of half a pair
// of surrogates. It is kept as it was written but for the whitespace, and for strings that are not
// in normal form C: numbers and other escapes are not respelt, so an escaped NUL stays six
// characters and a long number keeps its digits. page and duration_ms, where present and not null,
// are integers within their range, whatever the type of the event.
func parseData(ev *event.Event, value jsontext.Value) *fieldError {
	if value == nil {
		ev.Data = emptyData
		return nil
	}
	if value[0] != '{' {
		return &fieldError{InvalidEventData, "event_data is not an object"}
	}
	// Whitespace first, so that everything after it works on a bounded size.
	if spaced(value) {
		if err := value.Compact(); err != nil {
			return &fieldError{InvalidEventData, "event_data cannot be read"}
		}
	}
	if len(value) <= event.MaxDataBytes {
		value = source.JSON(value)
	}
	if len(value) > event.MaxDataBytes {
		return &fieldError{InvalidEventData, fmt.Sprintf("event_data has %d bytes without whitespace; at most %d are allowed",
			len(value), event.MaxDataBytes)}
	}
	d := dataDecoders.Get().(*dataDecoder)
	defer dataDecoders.Put(d)
	f := d.read(ev, value)
	d.open(nil) // else it keeps the body
	if f != nil {
		return f
	}
	ev.Data = value
	return nil
}

// dataDecoder reads event_data. It refuses members that occur twice and escapes that stand for no
// character. It is pooled.
type dataDecoder struct {
	source  bytes.Buffer
	decoder jsontext.Decoder
}

var dataDecoders = sync.Pool{New: func() any { return new(dataDecoder) }}

func (d *dataDecoder) open(value []byte) {
	d.source = *bytes.NewBuffer(value)
	d.decoder.Reset(&d.source)
}

// read checks a JSON object, and sets Page and DurationMS.
func (d *dataDecoder) read(ev *event.Event, value []byte) *fieldError {
	d.open(value)
	dec, deepest := &d.decoder, 1
	_, err := dec.ReadToken() // the opening brace
	for err == nil && dec.PeekKind() == '"' {
		var name, member jsontext.Value
		if name, err = dec.ReadValue(); err != nil {
			break
		}
		text, _ := unquote(name)
		page, duration := string(text) == "page", string(text) == "duration_ms" // before name is overwritten
		if kind := dec.PeekKind(); kind == '{' || kind == '[' {
			var depth int
			depth, err = nested(dec)
			deepest = max(deepest, depth)
		} else if member, err = dec.ReadValue(); err == nil && kind == '0' && !soundNumber(member) {
			err = errUnsound
		}
		if err != nil {
			break
		}
		var ok bool
		if page {
			if ev.Page, ok = integer(member, 1, event.MaxPage); !ok {
				return &fieldError{InvalidEventData, fmt.Sprintf("event_data.page is not an integer from 1 to %d", event.MaxPage)}
			}
		}
		if duration {
			if ev.DurationMS, ok = integer(member, 0, event.MaxDurationMS); !ok {
				return &fieldError{InvalidEventData,
					fmt.Sprintf("event_data.duration_ms is not an integer from 0 to %d", event.MaxDurationMS)}
			}
		}
	}
	if err == nil {
		_, err = dec.ReadToken() // the closing brace, or the error that ended the loop
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return &fieldError{InvalidEventData, "event_data has a member twice in one object"}
	case err != nil:
		return &fieldError{InvalidEventData,
			"event_data has a number that is too large, or an escape that is not a character"}
	case deepest > event.MaxDataDepth:
		return &fieldError{InvalidEventData, fmt.Sprintf("event_data is nested %d deep; at most %d are allowed",
			deepest, event.MaxDataDepth)}
	}
	return nil
}

var errUnsound = errors.New("a number is beyond what a double holds")

// nested reads the object or array that comes next, and returns how deep the decoder was in it.
func nested(dec *jsontext.Decoder) (deepest int, err error) {
	outside := dec.StackDepth()
	for {
		token, err := dec.ReadToken()
		if err != nil {
			return deepest, err
		}
		if token.Kind() == '0' && !soundNumber([]byte(token.String())) {
			return deepest, errUnsound
		}
		depth := dec.StackDepth()
		deepest = max(deepest, depth)
		if depth == outside {
			return deepest, nil
		}
	}
}

// integer reads a JSON number of digits only; null is 0.
func integer(text []byte, low, high uint32) (uint32, bool) {
	if string(text) == "null" {
		return 0, true
	}
	const digits = 9 // more than the limits have, and safe from overflow
	if len(text) == 0 || len(text) > digits {
		return 0, false
	}
	n := uint32(0)
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint32(c-'0')
	}
	return n, n >= low && n <= high
}
