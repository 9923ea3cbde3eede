// Package catalogue has the texts of the pages and mails that visitors get, in each language. There is one file a language, embedded: a JSON
// object of texts by their keys. A text has placeholders in braces. One that depends on a number is an object of its plural forms, by
// their CLDR names.
package catalogue

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"lodestone/pkg/locale"
)

//go:embed text
var files embed.FS

// forms are the CLDR names of plural forms.
var forms = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few", plural.Many: "many", plural.Other: "other"}

// text is one text in its plural forms; one that depends on no number has the form "other" alone.
type text map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	var plain string
	if json.Unmarshal(data, &plain) == nil {
		*t = text{"other": plain}
		return nil
	}
	var byForm map[string]string
	if err := json.Unmarshal(data, &byForm); err != nil {
		return fmt.Errorf("read a text: %w", err)
	}
	if byForm["other"] == "" {
		return errors.New("a text lacks the form other")
	}
	*t = byForm
	return nil
}

// Texts are the texts of one language. They do not change, and are safe for concurrent use.
type Texts struct {
	Language locale.Language
	texts    map[string]text
	printer  *message.Printer
}

// Catalogue has the texts of every language.
type Catalogue struct{ languages map[locale.Language]*Texts }

// New returns the catalogue, which the process reads once.
func New() (*Catalogue, error) { return read() }

var read = sync.OnceValues(func() (*Catalogue, error) {
	c := &Catalogue{languages: map[locale.Language]*Texts{}}
	for _, l := range locale.Languages() {
		data, err := files.ReadFile("text/" + string(l) + ".json")
		if err != nil {
			return nil, fmt.Errorf("read the texts of a language: %w", err)
		}
		t := &Texts{Language: l, printer: message.NewPrinter(l.Tag())}
		if err := json.Unmarshal(data, &t.texts); err != nil {
			return nil, fmt.Errorf("read the texts of the language %s: %w", l, err)
		}
		c.languages[l] = t
	}
	return c, nil
})

// In returns the texts of a language, English ones for a language that has none.
func (c *Catalogue) In(l locale.Language) *Texts {
	if t, ok := c.languages[l]; ok {
		return t
	}
	return c.languages[locale.English]
}

// Say returns a text. args are the names and values of its placeholders; a number is written as the language writes it, and the number
// called n chooses the plural form. A key that does not exist returns itself, which a test prevents.
func (t *Texts) Say(key string, args ...any) string {
	return t.fill(key, args, func(s string) string { return s }, func(v any) string { return t.value(v) })
}

// HTML is Say for a page: values are escaped, and those of type Strong stand out.
func (t *Texts) HTML(key string, args ...any) template.HTML {
	return template.HTML(t.fill(key, args, template.HTMLEscapeString, func(v any) string { //nolint:gosec // everything is escaped
		if s, ok := v.(Strong); ok {
			return `<strong class="address">` + template.HTMLEscapeString(string(s)) + `</strong>`
		}
		return template.HTMLEscapeString(t.value(v))
	}))
}

// Strong is a value that stands out in a text of a page.
type Strong string

// Strong returns a value that stands out, for templates.
func (t *Texts) Strong(s string) Strong { return Strong(s) }

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

func (t *Texts) fill(key string, args []any, literal func(string) string, value func(any) string) string {
	values := map[string]any{}
	for i := 0; i+1 < len(args); i += 2 {
		if name, ok := args[i].(string); ok {
			values["{"+name+"}"] = args[i+1]
		}
	}
	source := t.choose(key, values["{n}"])
	var out strings.Builder
	at := 0
	for _, found := range placeholder.FindAllStringIndex(source, -1) {
		out.WriteString(literal(source[at:found[0]]))
		name := source[found[0]:found[1]]
		if v, ok := values[name]; ok {
			out.WriteString(value(v))
		} else {
			out.WriteString(literal(name))
		}
		at = found[1]
	}
	out.WriteString(literal(source[at:]))
	return out.String()
}

// choose returns a text in the plural form of a number.
func (t *Texts) choose(key string, n any) string {
	found, ok := t.texts[key]
	if !ok {
		return key
	}
	var count int64
	switch n := n.(type) {
	case int:
		count = int64(n)
	case int32:
		count = int64(n)
	case int64:
		count = n
	default:
		return found["other"]
	}
	// Compatible forms of numbers beyond a million are those of their last six digits.
	form := plural.Cardinal.MatchPlural(t.Language.Tag(), int(count%1_000_000), 0, 0, 0, 0)
	if s, ok := found[forms[form]]; ok {
		return s
	}
	return found["other"]
}

func (t *Texts) value(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Strong:
		return string(v)
	case float64:
		return t.printer.Sprint(number.Decimal(v, number.MaxFractionDigits(1)))
	default:
		return t.printer.Sprint(v)
	}
}

// Part returns the texts whose keys begin with a prefix, by the rest of their keys: for scripts, which fill placeholders themselves.
func (t *Texts) Part(prefix string) map[string]string {
	part := map[string]string{}
	for key, found := range t.texts {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			part[rest] = found["other"]
		}
	}
	return part
}
