package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/person"
	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

const peoplePath = "/api/v1/people"

// personForm tells the form about a person from the others of the screen.
const personForm = "person"

// profile is a person of the API, with the tag of this state.
type profile struct {
	person.Person
	etag string
}

// SetETag implements client.TaggedResource.
func (p *profile) SetETag(tag string) { p.etag = tag }

// whoData is who a reader is, at the top of the screen.
type whoData struct {
	Name     string // what they are called: by the address, if no name is known
	Email    string // "": the link was deleted
	Company  string
	Others   string // address of the list of people of the company
	Status   string
	Note     string
	Form     frame.Form
	Statuses []option
	Saved    bool
}

func profileAt(v *frame.Visit) string {
	return peoplePath + "/" + url.PathEscape(v.R.PathValue("access_link_id"))
}

// readPerson returns who is behind an access link; nil: the link was deleted.
func readPerson(v *frame.Visit) (*profile, error) {
	p, err := frame.Get[profile](v, profileAt(v), nil)
	if problem.Is(err, problem.NotFound) {
		return nil, nil //nolint:nilnil // a link that was deleted is of no one
	}
	return &p, err
}

// who is what the screen shows of a person. The form is one that was refused.
func (p *profile) who(v *frame.Visit, f frame.Form) whoData {
	if p == nil {
		return whoData{Name: v.Say("reader.deleted")}
	}
	w := whoData{Name: p.Email, Email: p.Email, Status: p.Status, Form: f, Saved: v.R.URL.Query().Has("saved")}
	if p.Name != nil {
		w.Name = *p.Name
	}
	if p.Company != nil {
		w.Company = *p.Company
		w.Others = v.People("q", "@"+w.Company)
	}
	if p.Note != nil {
		w.Note = *p.Note
	}
	if w.Form.Values == nil {
		w.Form.Values = url.Values{"status": {p.Status}, "note": {w.Note}, "etag": {p.etag}}
		if p.OwnName {
			w.Form.Values.Set("name", *p.Name)
		}
	}
	chosen := w.Form.Value("status")
	for _, word := range v.Statuses() {
		w.Statuses = append(w.Statuses, option{word, word, word == chosen})
	}
	if !slices.Contains(v.Statuses(), chosen) { // it was one of the words
		w.Statuses = append(w.Statuses, option{chosen, chosen, true})
	}
	return w
}

// changePerson saves name, status and note, unless someone else did so meanwhile.
func (d *Dashboard) changePerson(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	typed, header := v.R.PostForm, http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	change := map[string]any{}
	for _, name := range []string{"name", "status", "note"} {
		if typed.Has(name) {
			change[name] = frame.Optional(strings.ReplaceAll(typed.Get(name), "\r\n", "\n"))
		}
	}
	_, err := frame.Send[profile](v, http.MethodPatch, profileAt(v), change, header)
	f := frame.Form{ID: personForm, Values: typed}
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		f.Detail = v.Say("reader.person.stale")
		return d.showReader(v, http.StatusConflict, f, nil)
	}
	if refused, ok := frame.Rejected(typed, err); ok {
		refused.ID = personForm
		return d.showReader(v, http.StatusUnprocessableEntity, refused, nil)
	}
	if err != nil {
		return err
	}
	return v.Redirect(readerScreen + url.PathEscape(v.R.PathValue("access_link_id")) + "?saved#about")
}

// named returns what a list calls a person, and the address beside it; "" if that is all.
func named(v *frame.Visit, name, email *string) (shown, address string) {
	switch {
	case email == nil:
		return v.Say("people.deleted"), ""
	case name == nil:
		return *email, ""
	}
	return *name, *email
}

// statusOf returns the status that a list shows: none for people who have the first of the words,
// as all have at first.
func statusOf(v *frame.Visit, status *string) string {
	if words := v.Statuses(); status == nil || len(words) > 0 && *status == words[0] {
		return ""
	}
	return *status
}
