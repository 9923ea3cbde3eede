package jsonschema

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// MaxProblems bounds the answer to a request that is wrong all over.
const MaxProblems = 100

// Check returns what is wrong with a value as Unmarshal decodes it into an any: strictly, with
// messages for people. Hints are the messages about top-level fields that the value may not have.
func (s *Schema) Check(name string, value any, hints map[string]string) []problem.Field {
	c := checker{hints: hints}
	c.check(name, s.Resolve(), value)
	return c.wrong
}

// checker collects what is wrong with a value.
type checker struct {
	hints map[string]string
	wrong []problem.Field
}

func (c *checker) add(path, message string) {
	if len(c.wrong) < MaxProblems {
		if path == "" {
			path = "body"
		}
		c.wrong = append(c.wrong, problem.Field{Field: path, Message: message})
	}
}

func (c *checker) check(path string, s *Schema, value any) {
	switch v := value.(type) {
	case nil:
		if !s.Nullable {
			c.add(path, "must not be null: "+s.Wanted())
		}
		return
	case bool:
		if s.Type == Boolean {
			return
		}
	case number:
		if s.Type == Integer || s.Type == Number {
			if !s.allowsNumber(v) {
				c.add(path, s.Wanted())
			}
			return
		}
	case string:
		if s.Type == String {
			if message := s.CheckString(v); message != "" {
				c.add(path, message)
			}
			return
		}
	case []any:
		if s.Type == Array {
			c.checkList(path, s, v)
			return
		}
	case map[string]any:
		if s.Type == Object {
			c.checkObject(path, s, v)
			return
		}
	}
	c.add(path, s.Wanted()+", not "+kindOf(value))
}

// AllowsInt reports whether a whole number is in the range of the schema.
func (s *Schema) AllowsInt(n int64) bool {
	return (s.Minimum == nil || n >= int64(*s.Minimum)) && (s.Maximum == nil || n <= int64(*s.Maximum))
}

func (s *Schema) allowsNumber(n number) bool {
	if s.Type == Integer {
		integer, err := n.integer()
		return err == nil && s.AllowsInt(integer)
	}
	f := n.float()
	return !math.IsInf(f, 0) && (s.Minimum == nil || f >= *s.Minimum) && (s.Maximum == nil || f <= *s.Maximum)
}

func (c *checker) checkList(path string, s *Schema, list []any) {
	if message := spanProblem(len(list), s.MinItems, s.MaxItems, "element"); message != "" {
		c.add(path, message)
		return
	}
	for i, item := range list {
		c.check(path+"["+strconv.Itoa(i)+"]", s.Items.Resolve(), item)
	}
}

func (c *checker) checkObject(path string, s *Schema, object map[string]any) {
	at := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			c.add(at(name), "is required: "+s.Properties[name].Resolve().Wanted())
		}
	}
	for _, name := range s.names {
		if v, ok := object[name]; ok {
			if v == nil && s.Properties[name].Nullable { // which what a reference stands for does not say
				continue
			}
			c.check(at(name), s.Properties[name].Resolve(), v)
		}
	}
	if s.AdditionalProperties == true {
		return
	}
	var others []string
	for name := range object {
		if s.Properties[name] == nil {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		if each, ok := s.AdditionalProperties.(*Schema); ok {
			c.check(at(Printable(name)), each.Resolve(), object[name])
			continue
		}
		if hint := c.hints[name]; hint != "" && path == "" {
			c.add(at(name), hint)
			continue
		}
		c.add(at(Printable(name)), "is not a field of this request; its fields are "+strings.Join(s.names, ", "))
	}
}

// CheckString returns what is wrong with a text, or "".
func (s *Schema) CheckString(text string) string {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, text) {
		return s.Wanted()
	}
	if i := strings.IndexFunc(text, func(r rune) bool { return !allowedRune(r, s.Lines) }); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return fmt.Sprintf("must not contain the character %U", r)
	}
	if message := spanProblem(utf8.RuneCountInString(text), s.MinLength, s.MaxLength, "character"); message != "" {
		return message
	}
	if s.pattern != nil && !s.pattern.MatchString(text) {
		return s.Wanted()
	}
	switch s.Format {
	case UUID:
		if _, ok := ParseUUID(text); !ok {
			return s.Wanted()
		}
	case DateTime:
		if _, err := ParseTime(text); err != nil {
			return err.Error()
		}
	}
	return ""
}

// allowedRune refuses what has no place in text: control characters, noncharacters of the basic
// plane (XML has none of them either), and the marks that turn the direction of the text around it.
// The patterns of Restrict say the same.
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

// linePattern and linesPattern are the strings that CheckString lets pass, in the dialect of JSON
// Schema.
const (
	refusedRunes = `\u007f-\u009f\u2028-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff`
	linePattern  = `^[^\u0000-\u001f` + refusedRunes + `]*$`
	linesPattern = `^[^\u0000-\u0008\u000b\u000c\u000e-\u001f` + refusedRunes + `]*$`
)

// Restrict writes the characters that every string of a request is checked for into its schema, so
// that clients know them.
func (s *Schema) Restrict() { s.restrict(map[*Schema]bool{}) }

func (s *Schema) restrict(seen map[*Schema]bool) {
	s = s.Resolve()
	if seen[s] {
		return
	}
	seen[s] = true
	for _, p := range s.Properties {
		p.restrict(seen)
	}
	if s.Items != nil {
		s.Items.restrict(seen)
	}
	if s.Type != String || len(s.Enum) > 0 || s.Format == UUID || s.Format == DateTime || s.ContentMediaType != "" {
		return
	}
	pattern := linePattern
	if s.Lines {
		pattern = linesPattern
	}
	switch {
	case s.Pattern == "":
		s.Pattern = pattern
	case s.AllOf == nil && (!strings.HasPrefix(s.Pattern, "^") || !strings.HasSuffix(s.Pattern, "$")):
		s.AllOf = []*Schema{{Pattern: pattern}} // one that is anchored says as much already
	}
}

// Wanted says what is allowed.
func (s *Schema) Wanted() string {
	switch s.Type {
	case Boolean:
		return "must be true or false"
	case Integer, Number:
		return "must be " + s.wantedNumber()
	case Array:
		return "must be a list"
	case Object:
		return "must be an object"
	}
	switch {
	case len(s.Enum) > 0:
		return "must be one of " + strings.Join(s.Enum, ", ")
	case s.PatternDescription != "":
		return "must be " + s.PatternDescription
	case s.Format == UUID:
		return "must be a UUID, such as 0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"
	case s.Format == DateTime:
		return errNotISO.Error()
	}
	return "must be a string"
}

func (s *Schema) wantedNumber() string {
	noun := "a number"
	if s.Type == Integer {
		noun = "a whole number"
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		return fmt.Sprintf("%s from %d to %d", noun, int64(*s.Minimum), int64(*s.Maximum))
	case s.Minimum != nil:
		return fmt.Sprintf("%s of at least %d", noun, int64(*s.Minimum))
	case s.Maximum != nil:
		return fmt.Sprintf("%s of at most %d", noun, int64(*s.Maximum))
	}
	return noun
}

// spanProblem returns what is wrong with how many elements or characters there are, or "".
func spanProblem(count int, low, high *int, noun string) string {
	from := 0
	if low != nil {
		from = *low
	}
	if count >= from && (high == nil || count <= *high) {
		return ""
	}
	plural := func(n int) string {
		if n == 1 {
			return noun
		}
		return noun + "s"
	}
	switch {
	case high == nil:
		return fmt.Sprintf("must have at least %d %s, and has %d", from, plural(from), count)
	case from == 0:
		return fmt.Sprintf("must have at most %d %s, and has %d", *high, plural(*high), count)
	}
	return fmt.Sprintf("must have %d to %d %s, and has %d", from, *high, plural(*high), count)
}

func kindOf(v any) string {
	switch v.(type) {
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

// Printable cuts and quotes a name that came from outside for use in a message.
func Printable(name string) string {
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

// ParseUUID accepts the canonical form only: 36 characters with hyphens.
func ParseUUID(s string) (uuid.UUID, bool) {
	if len(s) != 36 {
		return uuid.Nil, false
	}
	id, err := uuid.Parse(s)
	return id, err == nil
}
