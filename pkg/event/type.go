package event

import (
	"fmt"
	"strings"
)

// Type is the kind of an event. The numbers are those of the record and of the ClickHouse enum.
type Type uint8

// The event types.
const (
	PageViewed        Type = 1
	DownloadStarted   Type = 2
	DownloadCompleted Type = 3
)

// typeNames is the one list of event types. The collector, the API and the columns of ClickHouse
// derive theirs from it.
var typeNames = [...]string{
	PageViewed:        "page_viewed",
	DownloadStarted:   "download_started",
	DownloadCompleted: "download_completed",
}

// Types lists every event type, in the order of their numbers.
func Types() []Type {
	types := make([]Type, 0, len(typeNames)-1)
	for i := range typeNames[1:] {
		types = append(types, Type(i+1))
	}
	return types
}

// String returns the name used by the API, the collector and ClickHouse.
func (t Type) String() string {
	if t == 0 || int(t) >= len(typeNames) {
		return fmt.Sprintf("type_%d", uint8(t))
	}
	return typeNames[t]
}

// ParseType returns the type of a name, or false.
func ParseType(name string) (Type, bool) {
	for i, known := range typeNames[1:] {
		if name == known {
			return Type(i + 1), true
		}
	}
	return 0, false
}

// TypeEnum returns the values of ClickHouse's enum of event types, as the server writes them in the
// column's type.
func TypeEnum() string {
	values := make([]string, 0, len(typeNames)-1)
	for _, t := range Types() {
		values = append(values, fmt.Sprintf("'%s' = %d", t, t))
	}
	return strings.Join(values, ", ")
}
