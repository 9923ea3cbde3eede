package link

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lodestone/crud/gate"
)

// The names of the fields of the form that are those of gate.LinkGateChange, as the API's problems
// name them.
const (
	allowField     = "gate.allow"
	blockField     = "gate.block"
	peopleField    = "gate.max_people"
	passcodeField  = "gate.passcode"
	noPasscode     = "no_passcode"
	titleField     = "gate.agreement.title"
	textField      = "gate.agreement.text"
	watermarkField = "gate.watermark"
)

// setGate sets the fields of the form.
func setGate(q url.Values, g gate.LinkGate) {
	for name, list := range listsOf(g) {
		q.Set("gate."+name, strings.Join(list, "\n"))
	}
	if g.MaxPeople != nil {
		q.Set(peopleField, strconv.Itoa(int(*g.MaxPeople)))
	}
	if g.Agreement != nil {
		q.Set(titleField, textOf(g.Agreement.Title))
		q.Set(textField, g.Agreement.Text)
	}
	if g.Watermark {
		q.Set(watermarkField, "true")
	}
}

// listsOf returns the lists of a gate: empty ones of a link that is not there yet.
func listsOf(g gate.LinkGate) map[string][]string {
	lists := map[string][]string{"allow": nil, "block": nil}
	for name, list := range map[string]*[]string{"allow": g.Allow, "block": g.Block} {
		if list != nil {
			lists[name] = *list
		}
	}
	return lists
}

// addGate adds what differs from the link, which may not be there yet, as the API's object.
func addGate(g gate.LinkGate, typed url.Values, body map[string]any) {
	changed := map[string]any{}
	for name, was := range listsOf(g) {
		list := append([]string{}, strings.FieldsFunc(typed.Get("gate."+name),
			func(r rune) bool { return strings.ContainsRune(" \t\n,;", r) })...)
		if !slices.Equal(list, was) {
			changed[name] = list
		}
	}
	was := ""
	if g.MaxPeople != nil {
		was = strconv.Itoa(int(*g.MaxPeople))
	}
	if people := strings.TrimSpace(typed.Get(peopleField)); people != was {
		changed["max_people"] = nil
		if people != "" {
			changed["max_people"] = people
		}
		if n, err := strconv.Atoi(people); err == nil {
			changed["max_people"] = n
		}
	}
	switch passcode := strings.TrimSpace(typed.Get(passcodeField)); {
	case passcode != "":
		changed["passcode"] = passcode
	case g.PasscodeSet && typed.Get(noPasscode) == "true":
		changed["passcode"] = nil
	}
	addAgreement(g.Agreement, typed, changed)
	if on := typed.Get(watermarkField) == "true"; on != g.Watermark {
		changed["watermark"] = on
	}
	if len(changed) > 0 {
		body["gate"] = changed
	}
}

func addAgreement(was *gate.LinkAgreement, typed url.Values, changed map[string]any) {
	if was == nil {
		was = &gate.LinkAgreement{}
	}
	title, text := strings.TrimSpace(typed.Get(titleField)), strings.TrimSpace(typed.Get(textField))
	if title == textOf(was.Title) && text == strings.TrimSpace(was.Text) {
		return
	}
	switch {
	case title == "" && text == "":
		changed["agreement"] = nil
	case title == "":
		changed["agreement"] = map[string]any{"text": text}
	default: // without a text, the API says beside the field that there is none
		changed["agreement"] = map[string]any{"title": title, "text": text}
	}
}
