package collector

import (
	"time"

	"lodestone/pkg/event"
)

// maxAge is how far back an event may have happened.
const maxAge = 48 * time.Hour

// parseTimes sets CreatedAt: the client's created_at, corrected by how far its clock was off when
// it sent the request (received minus sent_at). A result in the future, or more than 48 h back,
// is not believed: the event then happened when it was received. So it does without created_at.
func parseTimes(ev *event.Event, e *element) fault {
	ev.CreatedAt = ev.ReceivedAt
	created, hasCreated, f := parseTime(e, fieldCreatedAt)
	if f.code != "" {
		return f
	}
	sent, hasSent, f := parseTime(e, fieldSentAt)
	if f.code != "" || !hasCreated {
		return f
	}
	at := created
	if hasSent {
		at += ev.ReceivedAt - sent
	}
	if at <= ev.ReceivedAt && at >= ev.ReceivedAt-maxAge.Milliseconds() {
		ev.CreatedAt = at
	}
	return fault{}
}

// parseTime returns a field in Unix milliseconds.
func parseTime(e *element, f field) (ms int64, given bool, _ fault) {
	wrong := func(what string) (int64, bool, fault) {
		return 0, false, fault{InvalidTimestamp, fieldNames[f] + " " + what + "; give RFC 3339 with a time zone, such as 2026-01-31T09:30:00.250Z, or leave it out"}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return 0, false, fault{}
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	// The library checks the calendar, but takes one-digit hours, commas and wide zones as well.
	t, err := time.Parse(time.RFC3339, string(text))
	if err != nil || !rfc3339(text) {
		return wrong("is not a timestamp")
	}
	return t.UnixMilli(), true, fault{}
}

// rfc3339 reports whether a text has the shape of an RFC 3339 timestamp.
func rfc3339(text []byte) bool {
	rest, ok := shape(text, "0000-00-00T00:00:00")
	if !ok || len(rest) == 0 {
		return false
	}
	if rest[0] == '.' {
		digits := 1
		for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
			digits++
		}
		if digits == 1 {
			return false
		}
		rest = rest[digits:]
	}
	if string(rest) == "Z" {
		return true
	}
	after, ok := shape(rest, "?00:00")
	return ok && len(after) == 0 && string(rest[1:3]) <= "23" && string(rest[4:6]) <= "59"
}

// shape cuts off the beginning of a text if it has a form, where 0 stands for any digit and ? for
// a sign.
func shape(text []byte, form string) ([]byte, bool) {
	if len(text) < len(form) {
		return nil, false
	}
	for i := range len(form) {
		c := text[i]
		var ok bool
		switch form[i] {
		case '0':
			ok = c >= '0' && c <= '9'
		case '?':
			ok = c == '+' || c == '-'
		default:
			ok = c == form[i]
		}
		if !ok {
			return nil, false
		}
	}
	return text[len(form):], true
}
