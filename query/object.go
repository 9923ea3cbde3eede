package query

import (
	"bytes"
	plain "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/jsonschema"
)

// jsonObject is a JSON object that is passed on as it was stored.
type jsonObject struct{ text []byte }

// MarshalJSON implements json.Marshaler. What was stored is valid JSON, but the answer is stricter:
// a name may not occur twice and a surrogate may not stand alone. Such an object is written again,
// with the last of the names and a replacement character.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	if jsontext.Value(o.text).IsValid() {
		return o.text, nil
	}
	var value map[string]any
	decoder := plain.NewDecoder(bytes.NewReader(o.text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read stored event_data: %w", err)
	}
	text, err := plain.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write stored event_data: %w", err)
	}
	return text, nil
}

// JSONSchema implements jsonschema.Provider.
func (jsonObject) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return jsonschema.AnyObject(map[string]any{"page": 3, "duration_ms": 8200})
}
