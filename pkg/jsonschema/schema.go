// Package jsonschema derives JSON Schemas from Go types, as OpenAPI 3.1 has them, and checks values
// against them.
//
// One Schema both describes and checks, so that the API enforces exactly its description. Values
// that are checked are strict: a number keeps its digits, a text has no control characters, and
// each refusal says what is allowed instead.
//
// No library is used. Huma, which comes closest, checks numbers as float64, takes a parameter that
// is sent twice or empty, has no optional parameters by pointer, and lets control characters pass:
// to be as strict, it needs a second schema beside its own.
package jsonschema

import (
	"encoding"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
)

// The types of values.
const (
	Boolean = "boolean"
	Integer = "integer"
	Number  = "number"
	String  = "string"
	Array   = "array"
	Object  = "object"
)

// Formats of strings that are checked.
const (
	// UUID is a UUID in its canonical form.
	UUID = "uuid"
	// DateTime is a date or datetime as ParseTime reads it.
	DateTime = "date-time"
	// text, in the tag `format`, allows line breaks and tabs; other strings are single lines. It is
	// no format of JSON Schema, so it becomes Lines.
	text = "text"
)

// Schema is a JSON Schema, as far as Lodestone uses it.
type Schema struct {
	Type     string `json:"-"`
	Nullable bool   `json:"-"` // null is allowed as well
	Lines    bool   `json:"-"` // a string may have line breaks and tabs

	Ref                  string             `json:"$ref,omitempty"`
	Description          string             `json:"description,omitempty"`
	Format               string             `json:"format,omitempty"`
	ContentMediaType     string             `json:"contentMediaType,omitempty"`
	Default              any                `json:"default,omitzero"`
	Examples             []any              `json:"examples,omitempty"`
	Enum                 []string           `json:"enum,omitempty"`
	Minimum              *float64           `json:"minimum,omitzero"`
	Maximum              *float64           `json:"maximum,omitzero"`
	MinLength            *int               `json:"minLength,omitzero"`
	MaxLength            *int               `json:"maxLength,omitzero"`
	Pattern              string             `json:"pattern,omitempty"`
	PatternDescription   string             `json:"x-patternDescription,omitempty"` // JSON Schema has no such keyword
	Items                *Schema            `json:"items,omitzero"`
	MinItems             *int               `json:"minItems,omitzero"`
	MaxItems             *int               `json:"maxItems,omitzero"`
	UniqueItems          bool               `json:"uniqueItems,omitzero"`
	Properties           map[string]*Schema `json:"properties,omitempty"`
	AdditionalProperties any                `json:"additionalProperties,omitzero"` // a bool, or their *Schema
	Required             []string           `json:"required,omitempty"`
	AllOf                []*Schema          `json:"allOf,omitempty"`

	names   []string       // of the properties, in order
	target  *Schema        // what Ref stands for
	pattern *regexp.Regexp // as declared; Restrict changes only what is described
}

// MarshalJSON implements json.Marshaler.
func (s *Schema) MarshalJSON() ([]byte, error) {
	type fields Schema
	if s.Nullable && s.Ref != "" { // a reference has no type of its own
		return json.Marshal(map[string]any{
			"anyOf": []any{map[string]string{"$ref": s.Ref}, map[string]string{"type": "null"}}, "description": s.Description,
		}, json.Deterministic(true))
	}
	var kind any = s.Type
	var enum []any
	for _, value := range s.Enum {
		enum = append(enum, value)
	}
	if s.Nullable {
		kind = []string{s.Type, "null"}
		if enum != nil { // it lists every value that is allowed, null among them
			enum = append(enum, nil)
		}
	}
	return json.Marshal(struct {
		Type any   `json:"type,omitempty"`
		Enum []any `json:"enum,omitempty"`
		fields
	}{kind, enum, fields(*s)})
}

// Resolve returns what a reference stands for, or the schema itself.
func (s *Schema) Resolve() *Schema {
	if s.target != nil {
		return s.target
	}
	return s
}

// Binary returns the schema of a file.
func Binary() *Schema {
	return &Schema{Type: String, Format: "binary", ContentMediaType: "application/octet-stream"}
}

// AnyObject returns the schema of an object with any fields.
func AnyObject(examples ...any) *Schema {
	return &Schema{Type: Object, AdditionalProperties: true, Examples: examples}
}

// Provider is a type that has its own schema.
type Provider interface {
	JSONSchema(set *Set) *Schema
}

// Enum is a type of strings whose values are known. A field of such a type, or of a list of it,
// takes no others, and a list without duplicates has at most as many elements.
type Enum interface {
	// EnumValues lists the values. It is called on the zero value.
	EnumValues() []string
}

// Values returns the values of an enumeration as text.
func Values[T ~string](values []T) []string {
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = string(v)
	}
	return texts
}

// refPrefix is where the schemas of a set stand in an OpenAPI document.
const refPrefix = "#/components/schemas/"

// Set has the schemas of the structs that others refer to, by name.
type Set struct {
	Named map[string]*Schema
	types map[string]reflect.Type
}

// NewSet returns an empty set.
func NewSet() *Set { return &Set{map[string]*Schema{}, map[string]reflect.Type{}} }

var (
	timeType        = reflect.TypeFor[time.Time]()
	uuidType        = reflect.TypeFor[uuid.UUID]()
	providerType    = reflect.TypeFor[Provider]()
	enumType        = reflect.TypeFor[Enum]()
	unmarshalerType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// Of returns the schema of a type. That of a struct is a reference to the set's, under the name of
// the type, or under the hint if the type has none. Of panics on a type that JSON cannot have, and
// on two types with one name: these are mistakes in the program, found when it starts.
func (set *Set) Of(t reflect.Type, hint string) *Schema {
	pointer := t.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	s := set.of(t, hint)
	if pointer && s.Ref == "" {
		s.Nullable = true
	}
	return s
}

func (set *Set) of(t reflect.Type, hint string) *Schema {
	zero := reflect.New(t)
	switch {
	case t.Implements(providerType):
		return zero.Elem().Interface().(Provider).JSONSchema(set)
	case t == uuidType:
		return &Schema{Type: String, Format: UUID}
	case t == timeType:
		return &Schema{Type: String, Format: DateTime}
	case t.Implements(enumType):
		return &Schema{Type: String, Enum: zero.Elem().Interface().(Enum).EnumValues()}
	case zero.Type().Implements(unmarshalerType):
		return &Schema{Type: String}
	}
	switch t.Kind() {
	case reflect.Bool:
		return &Schema{Type: Boolean}
	case reflect.Int, reflect.Int64:
		return &Schema{Type: Integer, Format: "int64"}
	case reflect.Int32:
		return &Schema{Type: Integer, Format: "int32"}
	case reflect.Float64:
		return &Schema{Type: Number, Format: "double"}
	case reflect.String:
		return &Schema{Type: String}
	case reflect.Slice:
		return &Schema{Type: Array, Nullable: true, Items: set.Of(t.Elem(), hint+"Item")}
	case reflect.Map:
		return &Schema{Type: Object, AdditionalProperties: set.Of(t.Elem(), hint+"Value")}
	case reflect.Struct:
		return set.reference(t, hint)
	}
	panic(fmt.Sprintf("jsonschema: %s has no schema", t)) //nolint:forbidigo // a mistake in the program, found when it starts
}

// reference returns a reference to the schema of a struct, which is added to the set if it is new.
func (set *Set) reference(t reflect.Type, hint string) *Schema {
	name := nameOf(t, hint)
	if known, ok := set.types[name]; !ok {
		s := &Schema{Type: Object, Properties: map[string]*Schema{}, AdditionalProperties: false}
		set.Named[name], set.types[name] = s, t // before its fields, which may refer to it
		set.addFields(s, t)
		s.names = slices.Sorted(maps.Keys(s.Properties))
	} else if known != t {
		panic(fmt.Sprintf("jsonschema: %s and %s are both named %s", known, t, name)) //nolint:forbidigo // a mistake in the program, found when it starts
	}
	return &Schema{Ref: refPrefix + name, target: set.Named[name]}
}

// addFields adds the fields of a struct, and then those of the structs that are embedded in it.
func (set *Set) addFields(s *Schema, t reflect.Type) {
	var embedded []reflect.Type
	for field := range t.Fields() {
		tag := field.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case field.Anonymous && tag == "":
			embedded = append(embedded, field.Type)
			continue
		case !field.IsExported() || name == "-":
			continue
		case name == "":
			name = field.Name
		}
		optional := strings.Contains(options, "omitempty") || strings.Contains(options, "omitzero")
		p := set.OfField(field, t.Name()+field.Name+"Struct")
		if optional && field.Type.Kind() == reflect.Pointer {
			p.Nullable = false // it is left out instead
		}
		s.Properties[name] = p
		if boolTag(field, "required", !optional) {
			s.Required = append(s.Required, name)
		}
	}
	for _, t := range embedded {
		set.addFields(s, t)
	}
}

// OfField returns the schema of a field of a struct, as its type and its tags have it: `doc`,
// `format`, `default`, `enum`, `nullable`, `minimum`, `maximum`, `minLength`, `maxLength`,
// `pattern`, `patternDescription`, `minItems`, `maxItems` and `uniqueItems`. Those about values
// are, of a list, about its elements.
func (set *Set) OfField(field reflect.StructField, hint string) *Schema {
	s := set.Of(field.Type, hint)
	s.Description = field.Tag.Get("doc")
	s.Nullable = boolTag(field, "nullable", s.Nullable)
	s.UniqueItems = boolTag(field, "uniqueItems", false)
	s.MinItems, s.MaxItems = numberTag(field, "minItems", strconv.Atoi), numberTag(field, "maxItems", strconv.Atoi)
	v := s
	if s.Type == Array {
		v = s.Items
		if s.UniqueItems && s.MaxItems == nil && len(v.Enum) > 0 {
			n := len(v.Enum)
			s.MaxItems = &n
		}
	}
	if format := field.Tag.Get("format"); format == text {
		v.Lines = true
	} else if format != "" {
		v.Format = format
	}
	if enum := field.Tag.Get("enum"); enum != "" {
		v.Enum = strings.Split(enum, ",")
	}
	if number := numberTag(field, "minimum", parseFloat); number != nil {
		v.Minimum = number
	}
	if number := numberTag(field, "maximum", parseFloat); number != nil {
		v.Maximum = number
	}
	if n := numberTag(field, "minLength", strconv.Atoi); n != nil {
		v.MinLength = n
	}
	if n := numberTag(field, "maxLength", strconv.Atoi); n != nil {
		v.MaxLength = n
	}
	if pattern := field.Tag.Get("pattern"); pattern != "" {
		v.Pattern, v.pattern = pattern, regexp.MustCompile(pattern)
		v.PatternDescription = field.Tag.Get("patternDescription")
	}
	if value := field.Tag.Get("default"); value != "" {
		s.Default = value
		if s.Type != String {
			s.Default = *mustParse(field, "default", value, parseJSON)
		}
	}
	return s
}

func parseFloat(value string) (float64, error) { return strconv.ParseFloat(value, 64) }

func parseJSON(value string) (v any, err error) {
	return v, json.Unmarshal([]byte(value), &v)
}

func numberTag[T any](field reflect.StructField, tag string, parse func(string) (T, error)) *T {
	value := field.Tag.Get(tag)
	if value == "" {
		return nil
	}
	return mustParse(field, tag, value, parse)
}

func boolTag(field reflect.StructField, tag string, otherwise bool) bool {
	value := field.Tag.Get(tag)
	if value == "" {
		return otherwise
	}
	return *mustParse(field, tag, value, strconv.ParseBool)
}

func mustParse[T any](field reflect.StructField, tag, value string, parse func(string) (T, error)) *T {
	v, err := parse(value)
	if err != nil {
		panic(fmt.Sprintf("jsonschema: field %s: tag %s: %v", field.Name, tag, err)) //nolint:forbidigo // a mistake in the program, found when it starts
	}
	return &v
}

// nameOf returns the name of a struct in the document: Page[link.Link] is PageLink.
func nameOf(t reflect.Type, hint string) string {
	name := t.Name()
	if name == "" {
		name = hint
	}
	result := strings.Builder{}
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return strings.ContainsRune("[]*,", r) }) {
		base := []rune(part[strings.LastIndexByte(part, '.')+1:])
		base[0] = unicode.ToUpper(base[0])
		result.WriteString(string(base))
	}
	return result.String()
}
