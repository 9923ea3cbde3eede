package frame

import (
	"slices"
	"strings"

	"lodestone/pkg/locale"
)

// Input is a field of a form as "input" of web/form.html draws it.
type Input struct {
	Kind    string // the type of its element: text, email, url, date, colour; or area, check, choice, several
	ID      string
	Name    string
	Label   string
	Hint    string
	Value   string
	Wrong   string
	Max     int // characters; 0: not bounded here
	Options []Option
}

// Option is a value to choose.
type Option struct {
	Value, Words string
	Chosen       bool
}

// languages are the languages' own names.
var languages = map[locale.Language]string{
	"en": "English", "de": "Deutsch", "fr": "Français", "es": "Español", "it": "Italiano", "pt": "Português",
	"nl": "Nederlands", "pl": "Polski",
}

// Languages are the languages for visitors, after the words for none of them.
func Languages(none string) []Option {
	list := []Option{{Words: none}}
	for _, l := range locale.Languages() {
		list = append(list, Option{Value: string(l), Words: languages[l]})
	}
	return list
}

// Text is a field of one line. The kind is that of the HTML element.
func (f Form) Text(kind, name, label, hint string, most int) Input {
	return Input{Kind: kind, ID: f.id(name), Name: name, Label: label, Hint: hint, Value: f.Value(name),
		Wrong: f.Message(name), Max: most}
}

// Area is a field of several lines.
func (f Form) Area(name, label, hint string, most int) Input {
	return f.Text("area", name, label, hint, most)
}

// Check is a box to tick.
func (f Form) Check(name, label, hint string) Input { return f.Text("check", name, label, hint, 0) }

// Choice is one of several values.
func (f Form) Choice(name, label, hint string, options []Option) Input {
	in := f.Text("choice", name, label, hint, 0)
	for _, o := range options {
		o.Chosen = o.Value == in.Value
		in.Options = append(in.Options, o)
	}
	return in
}

// Several is a group of boxes to tick.
func (f Form) Several(name, label, hint string, options []Option) Input {
	in := f.Text("several", name, label, hint, 0)
	for _, o := range options {
		o.Chosen = slices.Contains(f.Values[name], o.Value)
		in.Options = append(in.Options, o)
	}
	return in
}

// id tells the fields of the forms of one screen apart.
func (f Form) id(name string) string {
	if f.ID == "" {
		return name
	}
	return f.ID + "-" + name
}

// inList returns what is wrong with an element of a list, such as kinds[0].
func (f Form) inList(name string) string {
	for field, message := range f.Wrong {
		if strings.HasPrefix(field, name+"[") {
			return message
		}
	}
	return ""
}
