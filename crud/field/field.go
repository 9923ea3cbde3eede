// Package field is the fields that an owner adds to the form of a generic link, beside the address
// and the name, and what visitors answer in them.
package field

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
	"lodestone/pkg/source"
)

// Kind is what a field asks for.
type Kind string

// The kinds of fields.
const (
	Company Kind = "company"
	Phone   Kind = "phone"
	Choice  Kind = "choice"
	Text    Kind = "text"
	Number  Kind = "number"
	Hidden  Kind = "hidden" // taken from the query of the page's URL
)

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{Company, Phone, Choice, Text, Number, Hidden} }

// EnumValues implements jsonschema.Enum.
func (Kind) EnumValues() []string { return jsonschema.Values(Kinds()) }

// Bounds of a form.
const (
	Max        = 12 // fields
	MaxOptions = 50
	maxLabel   = 200
)

// FormField is a field of the form of a generic link.
type FormField struct {
	Key      string            `json:"key" minLength:"1" maxLength:"40" pattern:"^[a-z][a-z0-9_]*$" patternDescription:"1 to 40 characters of a-z, 0-9 and _, beginning with a letter" doc:"Name of the answer in submissions, files, webhooks and SQL; of a hidden field, also the parameter of the page's URL."`
	Kind     Kind              `json:"kind" doc:"What the field asks for. A hidden field is not shown: its answer is the parameter of the page's URL with the name key."`
	Label    string            `json:"label" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Label on the page."`
	Labels   map[string]string `json:"labels" required:"false" nullable:"false" doc:"Labels by language, such as de: the page shows the one in its language, and label if there is none."`
	Required bool              `json:"required" required:"false" default:"false" doc:"Whether the form is taken only with an answer."`
	Options  []string          `json:"options" required:"false" nullable:"false" maxItems:"50" minLength:"1" maxLength:"100" doc:"Answers to choose from, of a choice; empty for every other kind."`
	// OptionLabels leaves Options a list of texts, which programs read and write since before it.
	OptionLabels map[string]map[string]string `json:"option_labels" required:"false" nullable:"false" doc:"Labels of options by language and option, such as de and Small: the page shows the one in its language, and the option if there is none. The answer is always the option."`
}

// List is the fields of a form, in their order.
type List []FormField

// JSONSchema implements jsonschema.Provider.
func (List) JSONSchema(set *jsonschema.Set) *jsonschema.Schema {
	example := List{{Key: "company", Kind: Company, Label: "Company", Labels: map[string]string{"de": "Firma"},
		Required: true}}
	return &jsonschema.Schema{Type: jsonschema.Array, Items: set.Of(reflect.TypeFor[FormField](), ""),
		Examples: []any{example}}
}

// Decode returns the fields of a link, as they are stored.
func Decode(fields []byte) (list List, err error) {
	if err := json.Unmarshal(fields, &list); err != nil {
		return nil, fmt.Errorf("read fields of form: %w", err)
	}
	return list, nil
}

// Encode returns the fields as they are stored; nil stays nil.
func (list List) Encode() ([]byte, error) {
	if list == nil {
		return nil, nil
	}
	stored, err := json.Marshal(list, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode fields: %w", err)
	}
	return stored, nil
}

// Keys returns the keys of the fields, and then the others of those that are given.
func (list List) Keys(given []string) []string {
	var keys []string
	for _, f := range list {
		keys = append(keys, f.Key)
	}
	for _, key := range given {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// LabelIn returns the label in a language.
func (f *FormField) LabelIn(l locale.Language) string {
	if label := f.Labels[string(l)]; label != "" {
		return label
	}
	return f.Label
}

// optionsIn returns the options as a page in a language shows them.
func (f *FormField) optionsIn(l locale.Language) []string {
	words := slices.Clone(f.Options)
	for i, option := range words {
		words[i] = cmp.Or(f.OptionLabels[string(l)][option], option)
	}
	return words
}

var visible = regexp.MustCompile(`[\pL\pN\pP\pS]`)

// Check returns what is wrong with the fields that the schema cannot tell.
func (list List) Check() (wrong []problem.Field) {
	first := map[string]int{}
	for i := range list {
		f, at := &list[i], "fields["+strconv.Itoa(i)+"]"
		add := func(name, message string) { wrong = append(wrong, problem.Field{Field: at + name, Message: message}) }
		if before, ok := first[f.Key]; ok {
			add(".key", fmt.Sprintf("is the same as that of fields[%d]: each field needs its own", before))
		} else {
			first[f.Key] = i
		}
		for _, l := range slices.Sorted(maps.Keys(f.Labels)) {
			checkLabel(add, ".labels", l, f.Labels[l])
		}
		for _, l := range slices.Sorted(maps.Keys(f.OptionLabels)) {
			for _, option := range slices.Sorted(maps.Keys(f.OptionLabels[l])) {
				if !slices.Contains(f.Options, option) {
					add(".option_labels."+jsonschema.Printable(l), "has a label for what is not one of options: "+
						jsonschema.Printable(option))
					break
				}
				if !checkLabel(add, ".option_labels", l, f.OptionLabels[l][option]) {
					break
				}
			}
		}
		if f.Kind == Hidden && f.Required {
			add(".required", "must be false: visitors cannot fill in a hidden field")
		}
		f.checkOptions(add)
	}
	return wrong
}

// checkLabel reports whether a label is one of a language, and adds what is wrong with it.
func checkLabel(add func(name, message string), name, l, label string) bool {
	switch {
	case !locale.Language(l).Known():
		add(name+"."+jsonschema.Printable(l), "is not a language of pages; these are "+
			strings.Join(locale.English.EnumValues(), ", "))
	case !visible.MatchString(label) || len([]rune(label)) > maxLabel:
		add(name+"."+l, "must be a text of 1 to 200 characters, not only blanks")
	default:
		return true
	}
	return false
}

func (f *FormField) checkOptions(add func(name, message string)) {
	switch {
	case f.Kind == Choice && len(f.Options) < 2:
		add(".options", "must have 2 to 50 elements: the field is a choice")
	case f.Kind != Choice && len(f.Options) > 0:
		add(".options", "must be empty: only a choice has options")
	}
	for i, option := range f.Options {
		name := ".options[" + strconv.Itoa(i) + "]"
		switch before := slices.Index(f.Options, option); {
		case clean(option) != option || option == "":
			add(name, "must not begin or end with a blank, or have two in a row")
		case before < i:
			add(name, fmt.Sprintf("is the same as options[%d]", before))
		}
	}
}

// clean returns a text with single blanks, as answers are stored.
func clean(text string) string {
	return source.Text(strings.Join(strings.Fields(text), " "), len(text)+1)
}
