package link

import (
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/field"
)

// moveField is the name of the buttons that add, move and remove fields. They show the form again:
// nothing is stored before it is saved, and no script is needed.
const moveField = "fields"

func fieldName(n int, part string) string { return "field." + strconv.Itoa(n) + "." + part }

// typedFields returns the fields of a form.
func typedFields(typed url.Values) field.List {
	list := field.List{}
	for n := 0; typed.Has(fieldName(n, "kind")); n++ {
		get := func(part string) string { return strings.TrimSpace(typed.Get(fieldName(n, part))) }
		f := field.FormField{Key: get("key"), Kind: field.Kind(get("kind")), Label: get("label"),
			Required: get("required") == "true" && get("kind") != string(field.Hidden),
			Labels:   map[string]string{}, Options: []string{}, OptionLabels: map[string]map[string]string{}}
		for _, l := range frame.Languages("")[1:] {
			if label := get("labels." + l.Value); label != "" {
				f.Labels[l.Value] = label
			}
		}
		if f.Kind == field.Choice {
			typedOptions(&f, typed, n)
		}
		list = append(list, f)
	}
	return list
}

// typedOptions sets the options of a choice, one a line, and their labels: a line of a language is
// the label of the option in the same line. One beside no option stays, so that it is refused.
func typedOptions(f *field.FormField, typed url.Values, n int) {
	lines := func(part string) (list []string) {
		for line := range strings.Lines(typed.Get(fieldName(n, part))) {
			list = append(list, strings.Join(strings.Fields(line), " "))
		}
		return list
	}
	all := lines("options")
	f.Options = slices.DeleteFunc(slices.Clone(all), func(option string) bool { return option == "" })
	for _, l := range frame.Languages("")[1:] {
		labels := map[string]string{}
		for i, label := range lines("option_labels." + l.Value) {
			switch {
			case label == "":
			case i < len(all) && all[i] != "":
				labels[all[i]] = label
			default:
				labels[label] = label
			}
		}
		if len(labels) > 0 {
			f.OptionLabels[l.Value] = labels
		}
	}
}

// setFields replaces the fields of a form.
func setFields(typed url.Values, list field.List) {
	for name := range typed {
		if strings.HasPrefix(name, "field.") {
			delete(typed, name)
		}
	}
	for n, f := range list {
		for part, text := range map[string]string{"key": f.Key, "kind": string(f.Kind), "label": f.Label,
			"required": strconv.FormatBool(f.Required), "options": strings.Join(f.Options, "\n")} {
			typed.Set(fieldName(n, part), text)
		}
		for l, label := range f.Labels {
			typed.Set(fieldName(n, "labels."+l), label)
		}
		for l, labels := range f.OptionLabels {
			var lines []string
			for _, option := range f.Options {
				lines = append(lines, labels[option])
			}
			for _, label := range slices.Sorted(maps.Keys(labels)) {
				if !slices.Contains(f.Options, label) {
					lines = append(lines, label)
				}
			}
			typed.Set(fieldName(n, "option_labels."+l), strings.Join(lines, "\n"))
		}
	}
}

// movedFields reports whether a button of the fields was pressed, and changes the form accordingly.
func movedFields(typed url.Values) bool {
	act, at, _ := strings.Cut(typed.Get(moveField), ".")
	list := typedFields(typed)
	n, err := strconv.Atoi(at)
	known := err == nil && n >= 0 && n < len(list)
	switch {
	case act == "add":
		list = append(list, field.FormField{Kind: field.Company})
	case act == "remove" && known:
		list = slices.Delete(list, n, n+1)
	case act == "up" && known && n > 0:
		list[n-1], list[n] = list[n], list[n-1]
	case act == "down" && known && n < len(list)-1:
		list[n], list[n+1] = list[n+1], list[n]
	}
	setFields(typed, list)
	return act != ""
}

var notInKey = regexp.MustCompile(`[^a-z0-9]+`)

// finishedFields returns the fields of a form that is sent: without those that were left empty, and
// each with a key. The form numbers them likewise, for the answer of the API.
func finishedFields(typed url.Values) field.List {
	list := slices.DeleteFunc(typedFields(typed), func(f field.FormField) bool { return f.Label == "" && f.Key == "" })
	taken := map[string]bool{}
	for _, f := range list {
		taken[f.Key] = true
	}
	for i := range list {
		if list[i].Key != "" {
			continue
		}
		base := strings.Trim(notInKey.ReplaceAllString(strings.ToLower(list[i].Label), "_"), "_0123456789")
		if base = base[:min(len(base), 36)]; base == "" {
			base = string(list[i].Kind)
		}
		key := base
		for n := 2; taken[key]; n++ {
			key = base + "_" + strconv.Itoa(n)
		}
		list[i].Key, taken[key] = key, true
	}
	setFields(typed, list)
	return list
}

var inFields = regexp.MustCompile(`^fields\[([0-9]+)\]\.`)

// rejected is frame.Rejected, with what is wrong in a field beside its input.
func rejected(typed url.Values, err error) (frame.Form, bool) {
	f, ok := frame.Rejected(typed, err)
	wrong := map[string]string{}
	for name, message := range f.Wrong {
		wrong[inFields.ReplaceAllString(name, "field.$1.")] = message
	}
	f.Wrong = wrong
	return f, ok
}

// askedField is a field of the form of a page, in the form that changes the page.
type askedField struct {
	N                                   int
	Name                                string
	First, Last                         bool
	Label, Kind, Required, Options, Key frame.Input
	Labels                              []frame.Input
	Open                                bool // what few need is shown
}

// Asked returns the fields of the form.
func (d formData) Asked() (list []askedField) {
	var kinds []frame.Option
	for _, k := range field.Kinds() {
		kinds = append(kinds, frame.Option{Value: string(k), Words: d.say("link.fields." + string(k))})
	}
	fields := typedFields(d.Values)
	for n, f := range fields {
		a := askedField{N: n, Name: f.Label, First: n == 0, Last: n == len(fields)-1,
			Label:    d.Text("text", fieldName(n, "label"), d.say("link.fields.label"), "", 200),
			Kind:     d.Choice(fieldName(n, "kind"), d.say("link.fields.kind"), "", kinds),
			Required: d.Check(fieldName(n, "required"), d.say("link.fields.required"), ""),
			Options:  d.Area(fieldName(n, "options"), d.say("link.fields.options"), "", 0),
			Key:      d.Text("text", fieldName(n, "key"), d.say("link.fields.key"), d.say("link.fields.key.hint"), 40),
		}
		a.Open = a.Key.Wrong != "" || f.Kind == field.Hidden
		for _, l := range frame.Languages("")[1:] {
			in := d.Text("text", fieldName(n, "labels."+l.Value), d.say("link.fields.in", "language", l.Words), "", 200)
			a.Open = a.Open || in.Wrong != ""
			a.Labels = append(a.Labels, in)
			if f.Kind == field.Choice {
				in = d.Area(fieldName(n, "option_labels."+l.Value), d.say("link.fields.options.in", "language", l.Words), "", 0)
				a.Open = a.Open || in.Wrong != ""
				a.Labels = append(a.Labels, in)
			}
		}
		list = append(list, a)
	}
	return list
}
