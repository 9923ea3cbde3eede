package api

import (
	"time"

	"lodestone/pkg/jsonschema"
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as the API writes it: RFC 3339 in UTC with milliseconds.
type Time struct{ time.Time }

// TimeOf returns t for a field that is never null.
func TimeOf(t time.Time) Time { return Time{t} }

// OptionalTime returns t for a field that is null when there is no time.
func OptionalTime(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	return &Time{*t}
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.UTC().Format(timeLayout)), nil }

// JSONSchema implements jsonschema.Provider.
func (Time) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return &jsonschema.Schema{Type: jsonschema.String, Format: jsonschema.DateTime}
}
