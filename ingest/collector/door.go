package collector

import "lodestone/pkg/event"

// door is one of the two kinds of what is sent. Both take one element or an array, and answer in
// the same form.
type door struct {
	views  bool   // link views, else events
	topic  string // of the records
	fields uint16 // bit set of the fields that an element may have
	known  string // those fields, in words
	noun   string
	one    string // with its article
}

var (
	eventsDoor = door{
		topic: event.Topic, noun: "event", one: "an event",
		fields: 1<<fieldToken | 1<<fieldEventType | 1<<fieldEventData | 1<<fieldEventID | 1<<fieldSessionID | 1<<fieldCreatedAt | 1<<fieldSentAt,
		known:  "token, event_type, event_data, event_id, session_id, created_at and sent_at",
	}
	viewsDoor = door{
		views: true, topic: event.LinkViewTopic, noun: "link view", one: "a link view",
		fields: 1<<fieldToken | 1<<fieldEventID | 1<<fieldReferrer | 1<<fieldURL,
		known:  "token, event_id, referrer and url",
	}
)
