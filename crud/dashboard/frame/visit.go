package frame

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lodestone/crud/signin"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/chart"
	"lodestone/pkg/locale"
	"lodestone/pkg/timezone"
)

// Nav is a place in the navigation, by its key.
type Nav string

// The five places.
const (
	Overview Nav = "frame.nav.overview"
	Links    Nav = "frame.nav.links"
	Readers  Nav = "frame.nav.readers"
	Live     Nav = "frame.nav.live"
	Settings Nav = "frame.nav.settings"
)

var places = []Place{
	{Overview, "/dashboard", "M3 12h4v8H3zM10 4h4v16h-4zM17 9h4v11h-4z"},
	{Links, "/dashboard/links", "M10 14a4 4 0 0 0 6 0l4-4a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-4 4a4 4 0 0 0 6 6l1-1"},
	{Readers, "/dashboard/readers", "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21c0-4 3.500-6 8-6s8 2 8 6"},
	{Live, "/dashboard/live", "M3 12h4l3-8 4 16 3-8h4"},
	{Settings, "/dashboard/settings", "M4 7h10M18 7h2M4 17h2M10 17h10M16 4v6M8 14v6"},
}

// Place is one of the navigation.
type Place struct {
	Nav  Nav
	Path string
	Icon string // path in a square of 24
}

// Key is that of its name.
func (p Place) Key() string { return string(p.Nav) }

// Visit is one request of a signed-in person.
type Visit struct {
	W       http.ResponseWriter
	R       *http.Request
	Session signin.Session
	Period  Period
	Filters Filters // of the screen, once it called Narrow
	Bar     *Bar    // what shows them; nil: the screen has none
	own     ownAccount
	texts   *web.Texts
	frame   *Frame
	client  *client
}

func (f *Frame) visit(w http.ResponseWriter, r *http.Request, a http.Handler) *Visit {
	v := &Visit{W: w, R: r, Session: signin.From(r.Context()), texts: f.texts.In(language(r)), frame: f}
	v.client = newClient(v, a)
	v.own, _ = Get[ownAccount](v, "/api/v1/account", nil) // if the API does not answer, the screen's own question says so
	v.Period = ParsePeriod(r.URL.Query(), time.Now(), v.own.CreatedAt, timezone.OrUTC(v.own.Timezone))
	v.Period.texts = v.texts
	return v
}

// language is the one that a person reads the dashboard in: that of the browser, if the dashboard
// has texts in it. Else it is English.
func language(r *http.Request) locale.Language { return locale.Match(r.Header.Get("Accept-Language")) }

// ownAccount is what all screens need of the account.
type ownAccount struct {
	Timezone       string    `json:"timezone"`
	OpenStatuses   []string  `json:"open_statuses"`
	ClosedStatuses []string  `json:"closed_statuses"`
	CreatedAt      time.Time `json:"created_at"`
}

// Statuses are the account's words for the status of a person. The first is that of people who have
// none.
func (v *Visit) Statuses() []string { return slices.Concat(v.own.OpenStatuses, v.own.ClosedStatuses) }

// Path returns a path of the site as a browser asks for it.
func (v *Visit) Path(path string) string { return v.frame.deps.Pages.Path(path) }

// URL returns the public address of a path of the site.
func (v *Visit) URL(path string) string { return v.frame.deps.Pages.URL(path) }

// Link returns the address of a screen in the same period.
func (v *Visit) Link(path string) string { return v.Path(path) + v.Period.suffix() }

// People returns the address of the readers in the same period, narrowed by the filters of the
// screen and by more filters of the API: pairs of a name and a value. Those without a value are
// skipped.
func (v *Visit) People(filters ...string) string {
	var list []string
	narrowed := v.Filters.Query(ofReaders...)
	for pair := range slices.Chunk(filters, 2) {
		if pair[1] != "" {
			narrowed = withFilter(narrowed, url.Values{pair[0]: {pair[1]}})
		}
	}
	if len(narrowed) > 0 {
		list = append(list, narrowed.Encode())
	}
	address := v.Link("/dashboard/readers")
	switch {
	case len(list) == 0:
		return address
	case strings.Contains(address, "?"):
		return address + "&" + strings.Join(list, "&")
	default:
		return address + "?" + strings.Join(list, "&")
	}
}

// Source returns the filter that leads to the readers behind a row of a report by a dimension. A
// row without a source has those without one.
func Source(dimension, value string) (filter, text string) {
	if value == "" && slices.Contains(sourced, dimension) {
		return without, dimension
	}
	return dimension, value
}

// May reports whether the session has a scope. A screen shows no form that the API would refuse.
func (v *Visit) May(scope auth.Scope) bool { return v.Session.Has(scope) }

// MayWrite reports whether the session may change magnets and links.
func (v *Visit) MayWrite() bool { return v.May(auth.Write) }

// MaySeePeople reports whether the session may see addresses of people.
func (v *Visit) MaySeePeople() bool { return v.May(auth.Leads) }

// MayExport reports whether the session may see everything that is stored about a reader.
func (v *Visit) MayExport() bool { return v.May(auth.Privacy) }

// Redirect leads to a path of the site after a form: reloading the page there sends nothing again.
func (v *Visit) Redirect(path string) error {
	v.W.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.W, v.R, v.Path(path), http.StatusSeeOther) //nolint:gosec // a path of the site
	return nil
}

// Screen is the content of one answer.
type Screen struct {
	Title string
	Nav   Nav
	// AsOf and Bots are those of the answers that the screen shows; AsOf zero: the screen has no
	// numbers.
	AsOf     time.Time
	Bots     int64
	Periods  bool // the screen depends on the period: it has the picker
	Compares bool // and compares it with the time before
	Frames   bool // the screen shows a page of the site within it
	Data     any
}

// screenView is the data of templates: the visit, the screen, and its .Data.
type screenView struct {
	*Visit
	Screen
	Places []Place
}

// Clock is the time of the answers, in the zone of the account.
func (s screenView) Clock() Instant {
	return Instant{s.AsOf.In(s.Period.Zone).Format("15:04:05 MST"), s.AsOf.Format("2006-01-02T15:04:05.000Z07:00")}
}

// LeftOut is the number of events of bots that the answers leave out.
func (s screenView) LeftOut() Figure {
	return Figure{Metric: "excluded_bots", Value: float64(s.Bots), Format: chart.Exact}
}

// Show answers with a screen.
func (v *Visit) Show(t *Template, s Screen) error { return v.ShowStatus(t, http.StatusOK, s) }

// ShowStatus answers with a screen and a status.
func (v *Visit) ShowStatus(t *Template, status int, s Screen) error {
	p := web.Page{
		Title: cmp.Or(s.Title, v.Say("frame.title")) + " – " + v.Session.Account, Class: "dash", Font: true, Texts: v.texts,
		Policy: web.Policy{Scripts: true, Frames: s.Frames}, Data: screenView{v, s, places},
	}
	if err := t.pages[v.texts.Language].Write(v.W, v.R, status, p); err != nil {
		return fmt.Errorf("draw screen: %w", err)
	}
	return nil
}

// Script returns the path of the script of the screens, or "" in a program that was built without
// it.
func (v *Visit) Script() string {
	if main := v.frame.scripts.Main(); main != "" {
		return v.Path(main)
	}
	return ""
}

// scriptWords are the keys of what scripts say, each by the name that
// crud/dashboard/frame/island/web/src/words.ts has for it.
var scriptWords = map[string]string{
	"updated": "frame.script.updated", "failed": "frame.script.failed", "again": "frame.again",
	"copied":   "frame.copy.done",
	"selected": "frame.copy.selected", "keys": "frame.script.keys", "close": "frame.script.close",
	"ended":   "frame.script.ended",
	"sign_in": "frame.script.sign_in", "search": "frame.script.search", "rows": "frame.script.rows",
	"open": "frame.script.open",
	"help": "frame.script.help", "go": "frame.script.go", "magnets": "overview.magnets", "letters": "frame.script.letters",
	"explore": "frame.explore", "explore_keys": "frame.explore.keys", "zoom_in": "frame.explore.in",
	"zoom_out": "frame.explore.out",
	"reset":    "frame.explore.reset", "these_days": "frame.explore.days", "partial": "frame.explore.partial",
}

// Words returns the texts of scripts, in the language of the visit.
func (v *Visit) Words() map[string]string {
	words := make(map[string]string, len(scriptWords))
	for name, key := range scriptWords {
		words[name] = v.Say(key)
	}
	return words
}

// Who is how the navigation calls the person.
func (v *Visit) Who() string { return cmp.Or(v.Session.Email, v.Session.KeyName) }

// UploadTo returns the action of a form with a file. It holds the session's token, since files are
// read after it was checked.
func (v *Visit) UploadTo(path string) string {
	return v.Path(path) + "?" + url.Values{signin.FormField: {v.Session.CSRF}}.Encode()
}
