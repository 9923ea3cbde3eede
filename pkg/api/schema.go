package api

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// Formats of string fields that the foundation knows besides those of JSON Schema.
const (
	// FormatText allows line breaks and tabs; other strings are single lines.
	FormatText = "text"
	// FormatUUID is a UUID in its canonical form.
	FormatUUID = "uuid"
	// FormatTime is a date or datetime as ParseTime reads it.
	FormatTime = "date-time"
)

// shape checks values against a schema: strictly, with messages for people.
type shape struct {
	kind       string
	nullable   bool
	format     string
	enum       []any
	min, max   *float64
	minLen     int
	maxLen     *int
	pattern    *regexp.Regexp
	patternFor string // the pattern in words
	items      *shape
	names      []string // the properties, in order
	properties map[string]*shape
	required   []string
	readOnly   map[string]string // what to say about fields that others set
	open       bool              // other properties are allowed
}

// newShape compiles a schema. It is called while operations are registered, so it may panic on a
// pattern that is none.
func newShape(r huma.Registry, s *huma.Schema) *shape {
	for s.Ref != "" {
		s = r.SchemaFromRef(s.Ref)
	}
	n := &shape{
		kind: s.Type, nullable: s.Nullable, format: s.Format, enum: s.Enum, min: s.Minimum, max: s.Maximum,
		maxLen: s.MaxLength, required: s.Required, patternFor: s.PatternDescription, readOnly: map[string]string{},
	}
	if s.MinLength != nil {
		n.minLen = *s.MinLength
	}
	if s.Pattern != "" {
		n.pattern = regexp.MustCompile(s.Pattern)
	}
	if s.Type == huma.TypeArray {
		n.items, n.maxLen = newShape(r, s.Items), s.MaxItems
		if s.MinItems != nil {
			n.minLen = *s.MinItems
		}
	}
	if s.Type == huma.TypeObject {
		closed, isBool := s.AdditionalProperties.(bool)
		n.open = !isBool || closed
		n.properties = make(map[string]*shape, len(s.Properties))
		for name, property := range s.Properties {
			n.names = append(n.names, name)
			n.properties[name] = newShape(r, property)
		}
		slices.Sort(n.names)
	}
	return n
}

// maxFieldProblems bounds the answer to a body that is wrong all over.
const maxFieldProblems = 100

// check appends what is wrong with a value as package json decodes it into an any.
func (n *shape) check(path string, v any, out *[]problem.Field) {
	wrong := func(format string, args ...any) {
		if len(*out) < maxFieldProblems {
			name := path
			if name == "" {
				name = "body"
			}
			*out = append(*out, problem.Field{Field: name, Message: fmt.Sprintf(format, args...)})
		}
	}
	if v == nil {
		if !n.nullable && n.kind != "" {
			wrong("must not be null: %s", n.wanted())
		}
		return
	}
	switch n.kind {
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			wrong("%s, not %s", n.wanted(), kindOf(v))
		}
	case huma.TypeInteger, huma.TypeNumber:
		n.checkNumber(v, wrong)
	case huma.TypeString:
		s, ok := v.(string)
		if !ok {
			wrong("%s, not %s", n.wanted(), kindOf(v))
			return
		}
		n.checkString(s, wrong)
	case huma.TypeArray:
		n.checkList(path, v, out, wrong)
	case huma.TypeObject:
		object, ok := v.(map[string]any)
		if !ok {
			wrong("must be an object, not %s", kindOf(v))
			return
		}
		n.checkObject(path, object, out)
	}
}

func (n *shape) checkNumber(v any, wrong func(format string, args ...any)) {
	value, ok := v.(number)
	if !ok {
		wrong("%s, not %s", n.wanted(), kindOf(v))
		return
	}
	if n.kind == huma.TypeInteger {
		whole, err := value.whole()
		if err != nil || n.min != nil && whole < int64(*n.min) || n.max != nil && whole > int64(*n.max) {
			wrong("%s", n.wanted())
		}
		return
	}
	if f := value.float(); math.IsInf(f, 0) || n.min != nil && f < *n.min || n.max != nil && f > *n.max {
		wrong("%s", n.wanted())
	}
}

func (n *shape) checkList(path string, v any, out *[]problem.Field, wrong func(format string, args ...any)) {
	list, ok := v.([]any)
	switch {
	case !ok:
		wrong("must be a list, not %s", kindOf(v))
		return
	case len(list) < n.minLen, n.maxLen != nil && len(list) > *n.maxLen:
		wrong("must have %s, and has %d", span(n.minLen, n.maxLen, "element"), len(list))
		return
	}
	for i, item := range list {
		n.items.check(path+"["+strconv.Itoa(i)+"]", item, out)
	}
}

func (n *shape) checkObject(path string, object map[string]any, out *[]problem.Field) {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	add := func(name, message string) {
		if len(*out) < maxFieldProblems {
			*out = append(*out, problem.Field{Field: at(name), Message: message})
		}
	}
	for _, name := range n.required {
		if _, ok := object[name]; !ok {
			add(name, "is required: "+n.properties[name].wanted())
		}
	}
	for _, name := range n.names {
		if v, ok := object[name]; ok {
			n.properties[name].check(at(name), v, out)
		}
	}
	if n.open {
		return
	}
	var unknown []string
	for name := range object {
		if n.properties[name] == nil {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	for _, name := range unknown {
		if message := n.readOnly[name]; message != "" {
			add(name, message)
			continue
		}
		add(printable(name), "is not a field of this request; its fields are "+strings.Join(n.names, ", "))
	}
}

func (n *shape) checkString(s string, wrong func(format string, args ...any)) {
	if len(n.enum) > 0 && !slices.Contains(n.enum, any(s)) {
		wrong("%s", n.wanted())
		return
	}
	if i := strings.IndexFunc(s, func(r rune) bool { return !allowedRune(r, n.format == FormatText) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(s[i:])
		wrong("must not contain the character %U", r)
		return
	}
	if count := utf8.RuneCountInString(s); count < n.minLen || n.maxLen != nil && count > *n.maxLen {
		wrong("must have %s, and has %d", span(n.minLen, n.maxLen, "character"), count)
		return
	}
	if n.pattern != nil && !n.pattern.MatchString(s) {
		wrong("%s", n.wanted())
		return
	}
	switch n.format {
	case FormatUUID:
		if _, ok := parseUUID(s); !ok {
			wrong("%s", n.wanted())
		}
	case FormatTime:
		if _, err := ParseTime(s); err != nil {
			wrong("%s", err)
		}
	}
}

// allowedRune refuses what has no place in text: control characters, noncharacters of the basic
// plane (XML has none of them either), and the marks that turn the direction of the text around it.
// The patterns of document.go say the same.
func allowedRune(r rune, lines bool) bool {
	switch {
	case r == '\n' || r == '\r' || r == '\t':
		return lines
	case unicode.IsControl(r), r >= 0xfdd0 && r <= 0xfdef, r == 0xfffe, r == 0xffff, r == '\u2028', r == '\u2029':
		return false
	case r >= '\u202a' && r <= '\u202e', r >= '\u2066' && r <= '\u2069':
		return false
	}
	return true
}

// wanted says what is allowed.
func (n *shape) wanted() string {
	switch n.kind {
	case huma.TypeBoolean:
		return "must be true or false"
	case huma.TypeInteger, huma.TypeNumber:
		noun := "a number"
		if n.kind == huma.TypeInteger {
			noun = "a whole number"
		}
		switch {
		case n.min != nil && n.max != nil:
			return fmt.Sprintf("must be %s from %v to %v", noun, int64(*n.min), int64(*n.max))
		case n.min != nil:
			return fmt.Sprintf("must be %s of at least %v", noun, int64(*n.min))
		case n.max != nil:
			return fmt.Sprintf("must be %s of at most %v", noun, int64(*n.max))
		}
		return "must be " + noun
	case huma.TypeString:
		switch {
		case len(n.enum) > 0:
			names := make([]string, len(n.enum))
			for i, e := range n.enum {
				names[i] = fmt.Sprint(e)
			}
			return "must be one of " + strings.Join(names, ", ")
		case n.patternFor != "":
			return "must be " + n.patternFor
		case n.format == FormatUUID:
			return "must be a UUID, such as 0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"
		case n.format == FormatTime:
			return errNotISO.Error()
		}
		return "must be a string"
	case huma.TypeArray:
		return "must be a list"
	case huma.TypeObject:
		return "must be an object"
	}
	return "must be present"
}

func span(low int, high *int, noun string) string {
	switch {
	case high == nil:
		return fmt.Sprintf("at least %d %s", low, plural(low, noun))
	case low == 0:
		return fmt.Sprintf("at most %d %s", *high, plural(*high, noun))
	}
	return fmt.Sprintf("%d to %d %s", low, *high, plural(*high, noun))
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case number:
		return "a number"
	case string:
		return "a string"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}

// printable cuts and quotes a name that came from outside for use in a message.
func printable(name string) string {
	cut := name
	if utf8.RuneCountInString(name) > 64 {
		cut = string([]rune(name)[:64]) + "…"
	}
	quoted := strconv.Quote(cut)
	if quoted == `"`+cut+`"` && cut != "" {
		return cut
	}
	return quoted
}

// parseUUID accepts the canonical form only: 36 characters with hyphens.
func parseUUID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}
