package field

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"lodestone/crud/web"
	"lodestone/pkg/source"
)

// Stored returns the answers of a submission by key.
func Stored(answers []byte) (byKey map[string]string, err error) {
	if err := json.Unmarshal(answers, &byKey); err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	return byKey, nil
}

// Prefixes of the names that values have in a form.
const (
	typedPrefix  = "field."
	hiddenPrefix = "hidden."
)

// maxHidden is how many characters are kept of a parameter of a page's URL.
const maxHidden = 500

// Name returns the name of the field's value in a form.
func (f *FormField) Name() string { return typedPrefix + f.Key }

// max is how long an answer may be, in characters.
func (f *FormField) max() int {
	switch f.Kind {
	case Phone, Number:
		return 40
	case Company:
		return 200
	default:
		return 500
	}
}

// Read returns what a form says by key: of the fields that visitors see, and of those that they do
// not.
func Read(values url.Values) (typed, hidden map[string]string) {
	typed, hidden = map[string]string{}, map[string]string{}
	for name, list := range values {
		if key, ok := strings.CutPrefix(name, typedPrefix); ok {
			typed[key] = clean(list[0])
		} else if key, ok := strings.CutPrefix(name, hiddenPrefix); ok {
			hidden[key] = source.Text(list[0], maxHidden)
		}
	}
	return typed, hidden
}

// FromQuery returns the answers of the hidden fields, which are parameters of the query of a page's
// URL.
func (list List) FromQuery(raw string) map[string]string {
	query := (&url.URL{RawQuery: raw}).Query()
	found := map[string]string{}
	for i := range list {
		if f := &list[i]; f.Kind == Hidden {
			if text := source.Text(query.Get(f.Key), maxHidden); text != "" {
				found[f.Key] = text
			}
		}
	}
	return found
}

// Answers returns the answers of a form by key, as they are stored, and what is wrong by the name
// of the field, as keys of the catalogue.
func (list List) Answers(typed, hidden map[string]string) (answers, wrong map[string]string) {
	answers, wrong = map[string]string{}, map[string]string{}
	for i := range list {
		f := &list[i]
		text, key := hidden[f.Key], ""
		if f.Kind != Hidden {
			text, key = f.check(typed[f.Key])
		}
		switch {
		case key != "":
			wrong[f.Name()] = key
		case text != "":
			answers[f.Key] = text
		}
	}
	return answers, wrong
}

var (
	phone = regexp.MustCompile(`^[+(]{0,2}[0-9][0-9 ()./-]{3,30}( ?(x|ext\.?|#) ?[0-9]{1,8})?$`)
	// number has no separators between thousands: 1,000 is one thing in English and another in German.
	number = regexp.MustCompile(`^[+-]?[0-9]{1,15}([.,]([0-9]{1,2}|[0-9]{4,6}))?$`)
)

// check returns an answer as it is stored, and what is wrong with it as a key of the catalogue.
func (f *FormField) check(text string) (answer, wrong string) {
	switch {
	case text == "" && f.Required && f.Kind == Choice:
		return "", "wrong.field.choose"
	case text == "" && f.Required:
		return "", "wrong.field.empty"
	case text == "":
		return "", ""
	case utf8.RuneCountInString(text) > f.max():
		return "", "wrong.field.long"
	case f.Kind == Choice && !slices.Contains(f.Options, text):
		return "", "wrong.field.choose"
	case f.Kind == Phone && !phone.MatchString(text):
		return "", "wrong.field.phone"
	case f.Kind == Number && !number.MatchString(text):
		return "", "wrong.field.number"
	case f.Kind == Number:
		return strings.TrimPrefix(strings.Replace(text, ",", ".", 1), "+"), ""
	}
	return text, ""
}

// Messages returns what is wrong with answers, as Answers returned it, in the language of a page.
func (list List) Messages(t *web.Texts, wrong map[string]string) map[string]string {
	words := map[string]string{}
	for i := range list {
		if key := wrong[list[i].Name()]; key != "" {
			words[list[i].Name()] = list[i].message(t, key)
		}
	}
	return words
}

func (f *FormField) message(t *web.Texts, key string) string {
	return t.Say(key, "label", f.LabelIn(t.Language), "n", f.max())
}

// Input is a field as a page shows it, in the language of the page.
type Input struct {
	Key      string   `json:"-"`
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Type     string   `json:"type"` // of the HTML element: text, tel or select
	Mode     string   `json:"mode"` // inputmode
	Fill     string   `json:"fill"` // autocomplete
	Max      int      `json:"max"`  // characters
	Options  []string `json:"options"`
	Words    []string `json:"words"`   // of the options, in the language of the page
	Missing  string   `json:"missing"` // what is wrong without an answer; "": nothing
	Required bool     `json:"required"`
}

// Inputs returns the fields that a page shows.
func (list List) Inputs(t *web.Texts) []Input {
	shown := []Input{}
	for i := range list {
		f := &list[i]
		if f.Kind == Hidden {
			continue
		}
		in := Input{Key: f.Key, Name: f.Name(), Label: f.LabelIn(t.Language), Type: "text", Mode: "text", Fill: "off",
			Max: f.max(), Options: f.Options, Words: f.optionsIn(t.Language), Required: f.Required}
		switch f.Kind {
		case Company:
			in.Fill = "organization" //nolint:misspell // because HTML spells the token so
		case Phone:
			in.Type, in.Mode, in.Fill = "tel", "tel", "tel"
		case Number:
			in.Mode = "decimal"
		case Choice:
			in.Type = "select"
		case Text, Hidden: // as above
		}
		if _, key := f.check(""); key != "" {
			in.Missing = f.message(t, key)
		}
		if !f.Required {
			in.Label += " " + t.Say("landing.optional")
		}
		shown = append(shown, in)
	}
	return shown
}

// HiddenKeys returns the parameters of a page's URL that hidden fields take.
func (list List) HiddenKeys() []string {
	keys := []string{}
	for _, f := range list {
		if f.Kind == Hidden {
			keys = append(keys, f.Key)
		}
	}
	return keys
}
