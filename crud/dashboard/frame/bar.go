package frame

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/view"
	api "lodestone/pkg/api"
	"lodestone/pkg/auth"
	entity "lodestone/pkg/client"
)

// Bar is what "filters" of web/parts.html draws: the filters of a screen, and its views.
type Bar struct {
	Chips    []Chip
	Clear    string // address without filters; "": there are none
	Menu     []Choice
	Adding   *adding
	Views    []savedView
	Save     bool   // there is something to save, and the session may
	Place    string // address of the screen, from the beginning of its list
	Formless bool   // numbers of forms are left out
	Readers  bool   // numbers of readers alone are shown
	// Refused is why there is no list; "": there is one.
	Refused string
	CSV     string // address of the file of the list; "": there is none
	Screen  view.Screen
	links   *entity.Page[linkChoice] // once they were asked for
}

// Chip is a filter that is on.
type Chip struct{ Words, Without string }

// adding is the form that adds a filter.
type adding struct {
	Label   string
	Kind    string // choice, text, number or answer
	Name    string
	Options []Option
	None    string // of a text: address of the screen for those without a value; "": each has one
	Total   int64  // how many the options are of, if values are searched; 0: they are all
	Find    string // what was searched
	Keep    url.Values
	Cancel  string
}

// savedView is a view of the screen.
type savedView struct {
	ID, Name, URL string
	Chosen        bool
}

// Narrow reads the filters that a screen has from the address: the questions that the visit asks
// are narrowed by them, and the screen shows them, with its views.
func (v *Visit) Narrow(screen view.Screen, names ...string) error {
	q := v.R.URL.Query()
	if v.R.Method != http.MethodGet {
		q = url.Values{}
	}
	v.Filters = newFilters(q, names)
	rest := view.Beginning(q)
	v.Bar = &Bar{Screen: screen, Place: v.R.URL.EscapedPath() + suffix(rest)}
	for name := range v.Filters.asked {
		rest.Del(name)
	}
	if err := v.addChips(); err != nil {
		return err
	}
	if len(v.Bar.Chips) > 0 {
		v.Bar.Clear = v.Path(v.R.URL.EscapedPath()) + suffix(rest)
	}
	if screen != view.Readers {
		v.Bar.Readers = v.Filters.people() != nil
		v.Bar.Formless = !v.Bar.Readers && v.Filters.formless()
	}
	for _, name := range names {
		v.addToMenu(name, q)
	}
	if err := v.ask(q.Get("add")); err != nil {
		return err
	}
	return v.addViews(screen)
}

// ReadFilters reads the filters of a list whose file is asked for.
func (v *Visit) ReadFilters(names ...string) { v.Filters = newFilters(v.R.URL.Query(), names) }

// at returns the address of this screen with other parameters.
func (v *Visit) at(q url.Values) string { return v.Path(v.R.URL.EscapedPath()) + suffix(q) }

// Here returns the address of another screen in the same period and with the same filters of
// reports, and more parameters: pairs of a name and a value.
func (v *Visit) Here(path string, more ...string) string {
	q := v.reportQuery()
	for pair := range slices.Chunk(more, 2) {
		q.Set(pair[0], pair[1])
	}
	return v.Path(path) + suffix(q)
}

func (v *Visit) reportQuery() url.Values {
	q := v.Period.Query()
	maps.Copy(q, v.Filters.ReportQuery())
	return q
}

// Landings returns the address of the landing pages behind a number of this screen, or of the one
// that it is narrowed to. They are those of a document, or all if it is empty.
func (v *Visit) Landings(document string) string {
	if id := v.Filters.Get(ByLandings); id != "" {
		return v.Landing(id, document)
	}
	return v.Path("/dashboard/links") + suffix(v.landingsOf(document))
}

// Landing returns the address of a landing page, which leads back to those of a document.
func (v *Visit) Landing(id, document string) string {
	return v.item("/dashboard/links/"+url.PathEscape(id), v.landingsOf(document))
}

func (v *Visit) landingsOf(document string) url.Values {
	q := v.Period.Query()
	maps.Copy(q, v.Filters.EventQuery())
	q.Del(ByLandings)
	if document != "" {
		q.Set(ByDocument, document)
	}
	return q
}

// Item returns the address of what a list has, with what leads back to the list.
func (v *Visit) Item(path string) string { return v.item(path, v.list()) }

func (v *Visit) item(path string, list url.Values) string {
	q := v.Period.Query()
	maps.Copy(q, v.Filters.Query(ByUTMSource, ByCampaign))
	if len(list) > 0 {
		q.Set("list", list.Encode())
	}
	return v.Path(path) + suffix(q)
}

// Within returns the address of a screen of what this one shows, with what leads back here.
func (v *Visit) Within(path string) string {
	if list := v.list(); len(list) > 0 {
		return v.Path(path) + suffix(url.Values{"list": {list.Encode()}})
	}
	return v.Path(path)
}

// list is what leads back here.
func (v *Visit) list() url.Values {
	list := view.Beginning(v.R.URL.Query())
	if page := v.R.URL.Query().Get("page"); page != "" {
		list.Set("page", page)
	}
	return list
}

// Back returns the address of the list that led here, or of the list as this screen is narrowed.
func (v *Visit) Back(path string) string {
	if list := v.before(); len(list) > 0 {
		return v.Path(path) + suffix(list)
	}
	return v.Here(path)
}

// before are the parameters of the list that led here.
func (v *Visit) before() url.Values {
	list, err := url.ParseQuery(v.R.URL.Query().Get("list"))
	if err != nil {
		return nil
	}
	return list
}

// Document returns the address of the document that this screen belongs to. It has the filters of
// the list that led here which this screen does not have itself.
func (v *Visit) Document(id string) string {
	q := newFilters(v.before(), []string{ByDevice, ByCountry}).Query()
	maps.Copy(q, v.reportQuery())
	return v.Path("/dashboard/magnets/"+url.PathEscape(id)) + suffix(q)
}

// Renamed returns the parameters of an address with another name for one of them.
func Renamed(q url.Values, from, to string) url.Values {
	q[to] = q[from]
	q.Del(from)
	return q
}

// yesOrNo are the filters that are on, off, or not there.
var yesOrNo = map[string][]string{"finished": {"true", "false"}, "downloaded": {"true", "false"}, "opened": {"false"}}

func isYesOrNo(filter string) bool { return yesOrNo[filter] != nil || filter == "from_form" }

// yesOrNo says what a filter lets through that is on or off.
func (v *Visit) yesOrNo(filter, value string) string {
	if value != "false" {
		value = "true"
	}
	return v.Say("filter." + filter + "." + value)
}

func (v *Visit) addChips() error {
	for _, name := range v.Filters.names {
		param := parameter(name)
		for _, value := range v.Filters.asked[param] {
			words, err := v.valueOf(name, value)
			if err != nil {
				return err
			}
			q := view.Beginning(v.R.URL.Query())
			q[param] = v.Filters.asked[param]
			drop(q, param, value)
			v.Bar.Chips = append(v.Bar.Chips, Chip{words, v.at(q)})
		}
		if slices.Contains(v.Filters.asked[without], name) {
			q := view.Beginning(v.R.URL.Query())
			drop(q, without, name)
			v.Bar.Chips = append(v.Bar.Chips, Chip{v.chip(name, v.Say("filter.none")), v.at(q)})
		}
	}
	return nil
}

func (v *Visit) chip(filter, value string) string {
	return v.Say("filter.chip", "name", v.Say("filter."+filter), "value", value)
}

// valueOf says what a filter lets through.
func (v *Visit) valueOf(name, value string) (string, error) {
	switch {
	case isYesOrNo(name):
		return v.yesOrNo(name, value), nil
	case name == ByDocument:
		m, err := Get[entity.LeadMagnet](v, "/api/v1/lead-magnets/"+url.PathEscape(value), nil)
		if IsAway(err) {
			return "", err
		}
		if err == nil {
			value = m.Title
		}
	case name == ByLandings:
		l, err := Get[entity.GenericLink](v, "/api/v1/generic-links/"+url.PathEscape(value), nil)
		if IsAway(err) {
			return "", err
		}
		if err == nil {
			value = nameOf(&l)
		}
	case name == ByAnswer:
		key, answer, _ := strings.Cut(value, ":")
		known, err := v.answerKeys()
		for _, o := range known {
			if o.Value == key {
				key = o.Words
			}
		}
		return v.Say("filter.chip", "name", key, "value", answer), err
	default:
		for _, o := range v.fixed(name) {
			if o.Value == value {
				value = o.Words
			}
		}
	}
	return v.chip(name, value), nil
}

// nameOf is the label of a link, or its address.
func nameOf(l *entity.GenericLink) string {
	if label := l.Label(); label != nil {
		return *label
	}
	return l.Slug
}

// shownOnly are filters that other screens lead to: the menu does not have them.
var shownOnly = []string{ByVersion, "min_pages", "from_form", ByReferrer}

func (v *Visit) addToMenu(name string, q url.Values) {
	switch {
	case slices.Contains(shownOnly, name):
	case yesOrNo[name] != nil:
		for _, value := range yesOrNo[name] {
			if v.Filters.Get(name) != value {
				to := withFilter(q, url.Values{name: {value}})
				v.Bar.Menu = append(v.Bar.Menu, Choice{Words: v.Say("filter." + name + "." + value), URL: v.at(to)})
			}
		}
	default:
		to := view.Beginning(q)
		to.Set("add", name)
		v.Bar.Menu = append(v.Bar.Menu, Choice{Words: v.Say("filter." + name), URL: v.at(to)})
	}
}

// addViews adds the views of the screen. One is chosen if the address is that of the view.
func (v *Visit) addViews(screen view.Screen) error {
	here := view.Beginning(v.R.URL.Query())
	here.Del("list")
	v.Bar.Save = v.MayWrite() && len(here) > 0
	if !v.May(auth.Leads) {
		return nil
	}
	found, err := Get[api.Page[view.View]](v, "/api/v1/views", url.Values{"screen": {string(screen)}, "per_page": {"100"}})
	if err != nil {
		return err
	}
	for _, one := range found.Data {
		saved := savedView{ID: one.ID.String(), Name: one.Name, URL: v.Path(v.R.URL.EscapedPath()),
			Chosen: one.Query == here.Encode()}
		if one.Query != "" {
			saved.URL += "?" + one.Query
		}
		v.Bar.Views = append(v.Bar.Views, saved)
	}
	return nil
}
