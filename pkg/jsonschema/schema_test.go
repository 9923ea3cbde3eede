package jsonschema

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

type colour string

func (colour) EnumValues() []string { return Values([]colour{"red", "blue"}) }

type embedded struct {
	At *time.Time `json:"at"`
}

type described struct {
	embedded

	ID      uuid.UUID         `json:"id" doc:"Its id."`
	Colour  *colour           `json:"colour" required:"false"`
	Colours []colour          `json:"colours" nullable:"false" minItems:"1" uniqueItems:"true"`
	Note    string            `json:"note,omitempty" format:"text" maxLength:"5"`
	Size    int32             `json:"size" minimum:"1" default:"3"`
	Labels  map[string]string `json:"labels,omitempty"`
	Within  []struct {
		On bool `json:"on"`
	} `json:"within,omitempty" nullable:"false"`
	Hidden string `json:"-"`
}

// What a type and its tags say is in its schema.
func TestSchema(t *testing.T) {
	t.Parallel()
	set := NewSet()
	s := set.Of(reflect.TypeFor[described](), "")
	require.Same(t, set.Named["Described"], s.Resolve())
	s.Restrict()
	s.Restrict() // without effect
	text, err := json.Marshal(set.Named, json.Deterministic(true), jsontext.WithIndent(" "))
	require.NoError(t, err)
	require.JSONEq(t, `{
		"Described": {"type": "object", "additionalProperties": false, "required": ["id", "colours", "size", "at"], "properties": {
			"at": {"type": ["string", "null"], "format": "date-time"},
			"id": {"type": "string", "format": "uuid", "description": "Its id."},
			"colour": {"type": ["string", "null"], "enum": ["red", "blue", null]},
			"colours": {"type": "array", "items": {"type": "string", "enum": ["red", "blue"]}, "minItems": 1, "maxItems": 2, "uniqueItems": true},
			"note": {"type": "string", "maxLength": 5, "pattern": "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069\\ufdd0-\\ufdef\\ufffe\\uffff]*$"},
			"size": {"type": "integer", "format": "int32", "minimum": 1, "default": 3},
			"labels": {"type": "object", "additionalProperties": {"type": "string"}},
			"within": {"type": "array", "items": {"$ref": "#/components/schemas/DescribedWithinStructItem"}}
		}},
		"DescribedWithinStructItem": {"type": "object", "additionalProperties": false, "required": ["on"], "properties": {"on": {"type": "boolean"}}}
	}`, string(text))
}

// What is wrong with a value is found wherever it is.
func TestCheck(t *testing.T) {
	t.Parallel()
	s := NewSet().Of(reflect.TypeFor[described](), "")
	const good = `"id": "0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "colours": ["red"], "size": 1, "at": "2026-03-01T09:30:00Z"`
	require.NoError(t, Decode([]byte("{"+good+"}"), s, nil, &described{}))
	for member, want := range map[string]problem.Field{
		`"colour": "green"`:            {Field: "colour", Message: "must be one of red, blue"},
		`"note": "a\u0007"`:            {Field: "note", Message: "must not contain the character U+0007"},
		`"note": "123456"`:             {Field: "note", Message: "must have at most 5 characters, and has 6"},
		`"labels": {"a": "b", "c": 5}`: {Field: "labels.c", Message: "must be a string, not a number"},
		`"within": [{"on": true}, {}]`: {Field: "within[1].on", Message: "is required: must be true or false"},
		`"within": [{"on": 1}]`:        {Field: "within[0].on", Message: "must be true or false, not a number"},
		`"within": [null]`:             {Field: "within[0]", Message: "must not be null: must be an object"},
		`"hint": 1`:                    {Field: "hint", Message: "is set elsewhere"},
		`"within": [{"on":true,"hint":1}]`: {Field: "within[0].hint",
			Message: "is not a field of this request; its fields are on"},
	} {
		err := Decode([]byte("{"+good+", "+member+"}"), s, map[string]string{"hint": "is set elsewhere"}, &described{})
		require.Equal(t, want, refused(t, err, member)[0], member)
	}
	require.Equal(t, "body", refused(t, Decode([]byte("[]"), s, nil, &described{}), "a list")[0].Field)
}

// Every field of a schema is a keyword of JSON Schema 2020-12, or an extension of OpenAPI:
// validators of documents refuse others.
func TestKeywordsAreThoseOfJSONSchema(t *testing.T) {
	t.Parallel()
	keywords := strings.Fields(`$ref type description format contentMediaType default examples enum minimum maximum minLength maxLength pattern
		items minItems maxItems uniqueItems properties additionalProperties required allOf`)
	for field := range reflect.TypeFor[Schema]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" && !strings.HasPrefix(name, "x-") {
			require.Contains(t, keywords, name)
		}
	}
}
