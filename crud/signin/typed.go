package signin

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/web"
)

// typedData is the page of a form that cannot be taken.
type typedData struct {
	Text   string
	Fields []field
	SignIn string // "": the person is signed in
	Back   string
}

// showTyped shows what was typed into a form that cannot be taken, and reports whether there was
// something to show. Nothing of it is stored, and the page sends nothing: the person copies it.
// Forms of other sites do not come here.
func (s *Service) showTyped(w http.ResponseWriter, r *http.Request, status int, text, signIn string) (bool, error) {
	if r.Header.Get("Sec-Fetch-Site") != "same-origin" || isScript(r) || !isForm(r, plainForm) && !isForm(r, fileForm) {
		return false, nil
	}
	if err := r.ParseForm(); err != nil {
		return false, nil //nolint:nilerr // there is nothing to show
	}
	fields, err := fieldsOf(r)
	if err != nil {
		return false, nil //nolint:nilerr // there is nothing to show
	}
	delete(fields, FormField)
	d := typedData{Text: s.say(r, text), Fields: filled(fields), SignIn: signIn, Back: s.deps.Pages.Path(cameFrom(r))}
	if len(d.Fields) == 0 {
		return false, nil
	}
	return true, s.write(w, r, status, "typed.html", web.Page{Title: s.say(r, "signin.typed"), Data: d})
}

// fieldsOf returns the fields of a request's form. A file is read to its end, since browsers send
// fields behind it.
func fieldsOf(r *http.Request) (url.Values, error) {
	if isForm(r, plainForm) {
		return r.PostForm, nil
	}
	in, file, err := web.OpenUpload(r)
	if file != nil {
		err = in.Drain()
	}
	return in.Typed, err
}

// cameFrom is the page of the dashboard that a form was on, as far as the browser tells.
func cameFrom(r *http.Request) string {
	u, err := url.Parse(r.Referer())
	if err != nil {
		return dashboardPath
	}
	return nextOf(u.RequestURI())
}

// FirstPrefix begins the names of hidden fields that hold the initial values of a form.
const FirstPrefix = "first."

// field is the typed value of one field of a form.
type field struct{ Name, Value string }

// filled returns the fields with typed values, by name. A field with its initial value is left out.
func filled(form url.Values) (fields []field) {
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			same := slices.Contains(form[FirstPrefix+name], value)
			if strings.TrimSpace(value) != "" && !same && !strings.HasPrefix(name, FirstPrefix) {
				fields = append(fields, field{name, value})
			}
		}
	}
	return fields
}
