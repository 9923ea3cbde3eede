package api

import (
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

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

// Change is a field of a body that changes something which may be null: a field that is left out
// changes nothing, null clears, anything else sets. Tag it `required:"false"`. What cannot be null
// is a pointer tagged `required:"false" nullable:"false"` instead.
type Change[T any] struct {
	Given bool // whether the body has the field
	Value *T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It is called only for a field that is there.
func (c *Change[T]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	c.Given = true
	return json.UnmarshalDecode(from, &c.Value) //nolint:wrapcheck // the decoder's error tells the place
}

// JSONSchema implements jsonschema.Provider: the schema of the value, or null.
func (Change[T]) JSONSchema(set *jsonschema.Set) *jsonschema.Schema {
	return set.Of(reflect.TypeFor[*T](), "")
}
