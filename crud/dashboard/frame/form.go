package frame

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/signin"
	"lodestone/pkg/problem"
)

// Form holds the typed values and their errors, so that nothing typed is lost.
type Form struct {
	ID     string // tells the forms of a screen apart; "": it is the only one
	Values url.Values
	Wrong  map[string]string // by field of the API
	Detail string            // of a problem with no field
}

// Optional returns a text for a field of the API that is null when there is none.
func Optional(text string) *string {
	if text = strings.TrimSpace(text); text == "" {
		return nil
	}
	return &text
}

// first is the prefix of hidden fields that hold the initial values of a form.
const first = signin.FirstPrefix

// Remember adds the initial values of fields to the values of a form. The form repeats them in
// hidden fields, so that only changed fields are sent: others may have changed the rest meanwhile.
func Remember(values url.Values, fields ...string) url.Values {
	for _, name := range fields {
		values[first+name] = slices.Concat([]string{""}, values[name]) // no value is one as well
	}
	return values
}

// Remembered returns the hidden fields.
func (f Form) Remembered() url.Values {
	hidden := url.Values{}
	for name, list := range f.Values {
		if strings.HasPrefix(name, first) {
			hidden[name] = list
		}
	}
	return hidden
}

// Changed reports whether a field is not as the form showed it at first. Of a form that remembers
// nothing, everything is sent.
func Changed(typed url.Values, name string) bool {
	before, known := typed[first+name]
	filled := func(list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(text string) bool { return strings.TrimSpace(text) == "" })
	}
	return !known || !slices.Equal(filled(before), filled(typed[name]))
}

// Value returns what was typed into a field.
func (f Form) Value(name string) string { return f.Values.Get(name) }

// Message returns what is wrong with a field, as a sentence; "" if nothing is.
func (f Form) Message(name string) string { return cmp.Or(f.Wrong[name], f.inList(name)) }

// Any returns one message of the form, for a place that has no fields.
func (f Form) Any() string {
	for _, message := range f.Wrong {
		return message
	}
	return f.Detail
}

// Failed reports whether anything is wrong.
func (f Form) Failed() bool { return f.Detail != "" || len(f.Wrong) > 0 }

// Rejected returns the form with the problem of the API, and whether the problem is about the form.
// Any other error is for the frame.
func Rejected(values url.Values, err error) (Form, bool) {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Status >= 500 || p.Code == problem.Unauthorized || p.Code == problem.NotFound ||
		p.Code == problem.Forbidden {
		return Form{}, false
	}
	f := Form{Values: values, Wrong: map[string]string{}}
	for _, field := range p.Errors {
		f.Wrong[field.Field] = sentence(field.Message)
	}
	if p.Code == problem.SlugTaken {
		f.Wrong["slug"] = p.Title + "."
	}
	if len(f.Wrong) == 0 {
		f.Detail = p.Detail
	}
	return f, true
}

// sentence begins with a capital letter and ends with a full stop.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}
