package signin

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/page"
)

// typedData is the page of a form that could neither be taken nor kept.
type typedData struct {
	Text   string
	Fields []field
	SignIn string // "": the person is signed in
	Back   string
}

// showTyped shows what was typed into a form that cannot be taken, and reports whether there was something to show. Nothing of it is
// stored, and the page sends nothing: the person copies it. Forms of other sites do not come here.
func (s *Service) showTyped(w http.ResponseWriter, r *http.Request, status int, text, signIn string) (bool, error) {
	if r.Header.Get("Sec-Fetch-Site") != "same-origin" || isScript(r) || !isForm(r, plainForm) && !isForm(r, fileForm) {
		return false, nil
	}
	if err := r.ParseForm(); err != nil {
		return false, nil //nolint:nilerr // there is nothing to show
	}
	form, err := formOf(r)
	if err != nil {
		return false, nil //nolint:nilerr // likewise
	}
	delete(form.Fields, FormField)
	d := typedData{Text: s.say(r, text), Fields: filled(form.Fields), SignIn: signIn, Back: s.deps.Pages.Path(cameFrom(r))}
	if len(d.Fields) == 0 {
		return false, nil
	}
	return true, s.write(w, r, status, "typed.html", page.Page{Title: s.say(r, "signin.typed"), Data: d})
}

// cameFrom is the page of the dashboard that a form was on, as far as the browser tells.
func cameFrom(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil {
		return dashboardPath
	}
	return nextOf(u.RequestURI())
}

// FirstPrefix begins the names of hidden fields that hold what a form showed at first.
const FirstPrefix = "first."

// filled returns the fields into which something was typed, by name. A field that is as the form showed it at first is none.
func filled(form url.Values) (fields []field) {
	for _, f := range fieldsOf(form) {
		same := slices.Contains(form[FirstPrefix+f.Name], f.Value)
		if strings.TrimSpace(f.Value) != "" && !same && !strings.HasPrefix(f.Name, FirstPrefix) {
			fields = append(fields, f)
		}
	}
	return fields
}
