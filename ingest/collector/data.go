package collector

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/event"
)

var emptyData = []byte("{}")

// parseData sets Data, Page and DurationMS. event_data is an object of at most event.MaxDataBytes
// without insignificant whitespace, objects and arrays nested at most event.MaxDataDepth deep, no
// member of an object given twice, no number beyond what a double holds, no escape of half a pair of
// surrogates. It is kept as it was written but for the whitespace: numbers
// and escapes are not respelt, so an escaped NUL stays six characters and a long number keeps its
// digits. page and duration_ms, where present and not null, are integers within their range,
// whatever the type of the event.
func parseData(ev *event.Event, value jsontext.Value) fault {
	if value == nil {
		ev.Data = emptyData
		return fault{}
	}
	if value[0] != '{' {
		return fault{InvalidEventData, "event_data is not an object"}
	}
	// Whitespace first, so that everything after it works on a bounded size.
	if spaced(value) {
		if err := value.Compact(); err != nil {
			return fault{InvalidEventData, "event_data cannot be read"}
		}
	}
	if len(value) > event.MaxDataBytes {
		return fault{InvalidEventData, fmt.Sprintf("event_data has %d bytes without whitespace; at most %d are allowed", len(value), event.MaxDataBytes)}
	}
	members, depth, sound := scanData(value)
	if !sound {
		return fault{InvalidEventData, "event_data has a number that is too large, or an escape that is no character"}
	}
	if depth > event.MaxDataDepth {
		return fault{InvalidEventData, fmt.Sprintf("event_data is nested %d deep; at most %d are allowed", depth, event.MaxDataDepth)}
	}
	if members > 1 && !distinct(value, depth) {
		return fault{InvalidEventData, "event_data has a member twice in one object"}
	}
	ev.Data = value
	return readPage(ev, value)
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

// distinct reports whether no object of a compact and sound JSON object has a member twice.
func distinct(value jsontext.Value, depth int) bool {
	var names [8][]byte
	if depth > 1 || bytes.IndexByte(value, '\\') >= 0 {
		return value.IsValid() // the decoder's default refuses duplicates
	}
	// The usual case, in which names are equal just when their bytes are, takes a tenth of the time.
	count := 0
	for i := 1; i < len(value)-1; count++ {
		nameEnd := endOfString(value, i)
		name := value[i:nameEnd]
		i = endOfValue(value, nameEnd+2) + 1
		if count == len(names) {
			return value.IsValid()
		}
		for _, other := range names[:count] {
			if bytes.Equal(name, other) {
				return false
			}
		}
		names[count] = name
	}
	return true
}

// scanData counts the members of all objects of a compact JSON value, and how deep it is nested, and
// looks whether each number and escape means something to every reader.
func scanData(value []byte) (members, depth int, sound bool) {
	open := 0
	for i := 0; i < len(value); i++ {
		switch c := value[i]; c {
		case '{', '[':
			open++
			depth = max(depth, open)
		case '}', ']':
			open--
		case ':':
			members++
		case '"':
			end := endOfString(value, i)
			if !soundText(value[i : end+1]) {
				return 0, 0, false
			}
			i = end
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			end := endOfValue(value, i)
			if !soundNumber(value[i:end]) {
				return 0, 0, false
			}
			i = end - 1
		}
	}
	return members, depth, true
}

// soundText reports whether all escapes of a JSON string stand for characters.
func soundText(text []byte) bool {
	return !bytes.Contains(text, []byte(`\u`)) || jsontext.Value(text).IsValid()
}

// soundNumber reports whether a JSON number is within the range of a double, as most readers need it.
func soundNumber(text []byte) bool {
	const safe = 300 // digits
	if len(text) < safe && bytes.IndexByte(text, 'e') < 0 && bytes.IndexByte(text, 'E') < 0 {
		return true
	}
	_, err := strconv.ParseFloat(string(text), 64)
	return err == nil
}

// endOfString returns the position of the quote that ends the JSON string beginning at i.
func endOfString(value []byte, i int) int {
	for i++; i < len(value) && value[i] != '"'; i++ {
		if value[i] == '\\' {
			i++
		}
	}
	return i
}

// readPage reads page and duration_ms of a compact JSON object.
func readPage(ev *event.Event, value []byte) fault {
	for i := 1; i < len(value)-1; {
		nameEnd := endOfString(value, i)
		name, _ := unquote(value[i : nameEnd+1])
		start := nameEnd + 2 // after the colon
		i = endOfValue(value, start)
		member := value[start:i]
		i++ // after the comma or the closing brace
		switch string(name) {
		case "page":
			n, ok := integer(member, 1, event.MaxPage)
			if !ok {
				return fault{InvalidEventData, fmt.Sprintf("event_data.page is not an integer from 1 to %d", event.MaxPage)}
			}
			ev.Page = n
		case "duration_ms":
			n, ok := integer(member, 0, event.MaxDurationMS)
			if !ok {
				return fault{InvalidEventData, fmt.Sprintf("event_data.duration_ms is not an integer from 0 to %d", event.MaxDurationMS)}
			}
			ev.DurationMS = n
		}
	}
	return fault{}
}

// endOfValue returns the position after the compact JSON value that begins at i.
func endOfValue(value []byte, i int) int {
	for open := 0; i < len(value); i++ {
		switch value[i] {
		case '{', '[':
			open++
		case '}', ']':
			if open == 0 {
				return i
			}
			open--
		case ',':
			if open == 0 {
				return i
			}
		case '"':
			i = endOfString(value, i)
		}
	}
	return i
}

// integer reads a JSON number made of digits only; null is 0.
func integer(text []byte, least, most uint32) (uint32, bool) {
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
	return n, n >= least && n <= most
}
