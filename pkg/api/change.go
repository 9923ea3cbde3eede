package api

import (
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/jsonschema"
)

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
