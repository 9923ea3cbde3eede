package web

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"regexp"
	"strings"
	"sync"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/message"
	"golang.org/x/text/number"

	"lodestone/pkg/locale"
)

// textFiles are one file for each language: a JSON object of texts by their keys. A text has
// placeholders in braces. One that depends on a number is an object of its plural forms, by their
// CLDR names.
//
//go:embed text dashboard
var textFiles embed.FS

// forms are the CLDR names of plural forms.
var forms = map[plural.Form]string{plural.Zero: "zero", plural.One: "one", plural.Two: "two", plural.Few: "few",
	plural.Many: "many", plural.Other: "other"}

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

// VisitorTexts returns the texts for visitors, which the process reads once. Every language has
// them.
func VisitorTexts() (*Catalogue, error) { return visitorTexts() }

// DashboardTexts returns the texts of the dashboard, which the process reads once. A language has
// them if it has a file in dashboard.
func DashboardTexts() (*Catalogue, error) { return ownerTexts() }

var (
	visitorTexts = sync.OnceValues(func() (*Catalogue, error) { return readTexts("text", locale.Languages()) })
	ownerTexts   = sync.OnceValues(func() (*Catalogue, error) {
		var found []locale.Language
		for _, l := range locale.Languages() {
			if _, err := fs.Stat(textFiles, "dashboard/"+string(l)+".json"); err == nil {
				found = append(found, l)
			}
		}
		return readTexts("dashboard", found)
	})
)

func readTexts(directory string, languages []locale.Language) (*Catalogue, error) {
	c := &Catalogue{languages: map[locale.Language]*Texts{}}
	for _, l := range languages {
		data, err := textFiles.ReadFile(directory + "/" + string(l) + ".json")
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
}

// Languages returns the languages that have texts, in the order of package locale.
func (c *Catalogue) Languages() (list []locale.Language) {
	for _, l := range locale.Languages() {
		if c.languages[l] != nil {
			list = append(list, l)
		}
	}
	return list
}

// In returns the texts of a language, English ones for a language that has none.
func (c *Catalogue) In(l locale.Language) *Texts {
	if t, ok := c.languages[l]; ok {
		return t
	}
	return c.languages[locale.English]
}

// Say returns a text. args are the names and values of its placeholders; a number is written as the
// language writes it, and the number called n chooses the plural form. A key that does not exist
// returns itself, which a test prevents.
func (t *Texts) Say(key string, args ...any) string {
	var out strings.Builder
	for _, p := range t.parts(key, args) {
		if p.Value != nil {
			out.WriteString(t.value(p.Value))
		}
		out.WriteString(p.Text)
	}
	return out.String()
}

// Number writes a number as the language writes it.
func (t *Texts) Number(n int64) string { return t.value(n) }

// Forms returns a text in all its plural forms, by their CLDR names: for scripts, which fill
// placeholders themselves.
func (t *Texts) Forms(key string) map[string]string { return maps.Clone(t.texts[key]) }

// HTML is Say for a page: everything is escaped but values of type template.HTML. Those of type
// Strong stand out, and those of type Link lead somewhere.
func (t *Texts) HTML(key string, args ...any) template.HTML {
	var out strings.Builder
	for _, p := range t.parts(key, args) {
		switch v := p.Value.(type) {
		case nil:
			template.HTMLEscape(&out, []byte(p.Text))
		case template.HTML:
			out.WriteString(string(v))
		case Strong:
			out.WriteString(`<strong class="address">` + template.HTMLEscapeString(string(v)) + `</strong>`)
		case Link:
			out.WriteString(`<a href="` + template.HTMLEscapeString(v.address()) + `">` +
				template.HTMLEscapeString(v.Words) + `</a>`)
		default:
			template.HTMLEscape(&out, []byte(t.value(v)))
		}
	}
	return template.HTML(out.String()) //nolint:gosec // everything is escaped
}

// Part is a piece of a text: words, or a value that is neither a word nor a number.
type Part struct {
	Text  string
	Value any
}

// Parts is Say for a text with values that are drawn in a way of their own.
func (t *Texts) Parts(key string, args ...any) (list []Part) {
	for _, p := range t.parts(key, args) {
		switch p.Value.(type) {
		case string, int, int32, int64, float64:
			p = Part{Text: t.value(p.Value)}
		}
		list = append(list, p)
	}
	return list
}

// Strong is a value that stands out in a text of a page.
type Strong string

// Strong returns a value that stands out, for templates.
func (t *Texts) Strong(s string) Strong { return Strong(s) }

// Link is a value of a text of a page that leads to an address.
type Link struct{ URL, Words string }

// address returns the address of the link if it is one of a page, and else one that leads nowhere,
// as html/template does.
func (l Link) address() string {
	scheme, _, found := strings.Cut(l.URL, ":")
	if found && !strings.ContainsAny(scheme, "/?#") && !strings.EqualFold(scheme, "http") &&
		!strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto") {
		return "#"
	}
	return l.URL
}

var placeholder = regexp.MustCompile(`\{[a-z]+\}`)

// parts divides a text at its placeholders. One without a value is a word.
func (t *Texts) parts(key string, args []any) (list []Part) {
	values := map[string]any{}
	for i := 0; i+1 < len(args); i += 2 {
		if name, ok := args[i].(string); ok {
			values["{"+name+"}"] = args[i+1]
		}
	}
	source := t.choose(key, values["{n}"])
	at := 0
	for _, found := range placeholder.FindAllStringIndex(source, -1) {
		name := source[found[0]:found[1]]
		v, ok := values[name]
		if !ok || v == nil {
			continue
		}
		if found[0] > at {
			list = append(list, Part{Text: source[at:found[0]]})
		}
		list = append(list, Part{Value: v})
		at = found[1]
	}
	if at < len(source) {
		list = append(list, Part{Text: source[at:]})
	}
	return list
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
	case Link:
		return v.Words
	case float64:
		return t.printer.Sprint(number.Decimal(v, number.MaxFractionDigits(1)))
	default:
		return t.printer.Sprint(v)
	}
}

// Part returns the texts whose keys begin with a prefix, by the rest of their keys: for scripts,
// which fill placeholders themselves.
func (t *Texts) Part(prefix string) map[string]string {
	part := map[string]string{}
	for key, found := range t.texts {
		if rest, ok := strings.CutPrefix(key, prefix); ok {
			part[rest] = found["other"]
		}
	}
	return part
}
