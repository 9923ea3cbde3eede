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
	// UnmarshalText is strict; time.Parse takes one-digit hours and commas as well.
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return wrong("is not a timestamp")
	}
	return t.UnixMilli(), true, fault{}
}
