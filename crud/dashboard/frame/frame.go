// Package frame holds the common parts of all screens of the dashboard: the navigation, the period
// in the address, numbers with their definitions, questions to the API, and the screens of its
// errors.
//
// A screen is a function of a Visit. It asks the API with the visit's session, and shows a Screen:
//
//	func (d *Dashboard) live(v *frame.Visit) error {
//		now, err := frame.Get[nowReport](v, "/api/v1/analytics/now", nil)
//		if err != nil {
//			return err
//		}
//		return v.Show(d.live, frame.Screen{Title: v.Say("frame.nav.live"), Nav: frame.Live, Data: now})
//	}
//
// Texts stand in crud/web/dashboard/en.json. A template writes {{t "live.none"}}, and Go
// Visit.Say. A text with markup in it is {{rich "link.offers" "document" (to .Magnet .Title)}}, and
// one with numbers that are drawn is a Sentence.
//
// An error of the API becomes a screen by itself: no permission, too many requests, not available.
// A form passes the problem to its screen instead, which shows each message beside its field
// (Form).
package frame

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/chart"
	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
)

//go:embed web
var webFiles embed.FS

// Sessions lets only people with a session through; it is implemented by signin.Service.
type Sessions interface {
	Require(fn web.Handler) web.Handler
}

// Deps are the dependencies of the screens. All are required.
type Deps struct {
	Pages    *web.Site
	Sessions Sessions
}

// Frame draws screens. It is safe for concurrent use.
type Frame struct {
	deps    Deps
	files   fs.FS
	texts   *web.Catalogue
	scripts *scripts
	failed  *Template
}

// FilterStyle is the style sheet of screens with filters.
const FilterStyle = "filter.css"

// Cards is the style sheet of tables with the class cards, whose rows are cards on phones.
const Cards = "cards.css"

// Template is the HTML of a screen, in each language of the dashboard.
type Template struct {
	pages map[locale.Language]*web.Template
}

// New returns the frame.
func New(d Deps) (*Frame, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the frame of the dashboard: %w", err)
	}
	f := &Frame{deps: d, files: files}
	if f.texts, err = web.DashboardTexts(); err != nil {
		return nil, err
	}
	if f.scripts, err = newScripts(); err != nil {
		return nil, err
	}
	f.failed, err = f.Parse(files, []string{"failed.html"}, nil)
	return f, err
}

// Parse reads the HTML of a screen, which defines "screen", and its styles. In it, .Data is the
// screen's data. The style sheet Cards may be among those of the screen.
func (f *Frame) Parse(files fs.FS, html, css []string) (*Template, error) {
	return f.parse(files, html, css, nil, "")
}

// ParseForms is Parse for a screen with forms. It may use the parts of web/form.html.
func (f *Frame) ParseForms(files fs.FS, html, css []string) (*Template, error) {
	style, err := fs.ReadFile(f.files, "form.css")
	if err != nil {
		return nil, fmt.Errorf("read the style of forms: %w", err)
	}
	return f.parse(files, html, css, []string{"form.html"}, string(style))
}

func (f *Frame) parse(files fs.FS, html, css, parts []string, style string) (*Template, error) {
	all := &Template{pages: map[locale.Language]*web.Template{}}
	for _, l := range f.texts.Languages() {
		one, err := f.parseIn(f.texts.In(l), files, html, css, parts, style)
		if err != nil {
			return nil, err
		}
		all.pages[l] = one
	}
	return all, nil
}

func (f *Frame) parseIn(texts *web.Texts, files fs.FS, html, css, parts []string, style string) (*web.Template, error) {
	t, err := f.deps.Pages.ParseWith(functions(texts), f.files, "frame.html", "frame.css")
	if err != nil {
		return nil, fmt.Errorf("parse the frame of the dashboard: %w", err)
	}
	for _, name := range append([]string{"parts.html"}, parts...) {
		if err := t.Add(f.files, name); err != nil {
			return nil, fmt.Errorf("parse the parts of the dashboard: %w", err)
		}
	}
	t.AddStyle(chart.CSS + style)
	for _, name := range html {
		if err := t.Add(files, name); err != nil {
			return nil, fmt.Errorf("parse screen: %w", err)
		}
	}
	for _, name := range css {
		from := files
		if name == Cards || name == FilterStyle {
			from = f.files
		}
		text, err := fs.ReadFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("read style of screen: %w", err)
		}
		t.AddStyle(string(text))
	}
	return t, nil
}

// Handler answers one request of a signed-in person.
type Handler func(v *Visit) error

// Register mounts the scripts of the screens.
func (f *Frame) Register(a *api.API) { a.Handle("GET "+scriptsPath, f.scripts) }

// Mount serves a screen, or takes a form, at a pattern. The API is the one that the screen asks.
func (f *Frame) Mount(a *api.API, pattern string, fn Handler) {
	f.deps.Pages.Mount(a, pattern, f.deps.Sessions.Require(f.serve(a, fn)))
}

// MountTransfer is Mount for a form with a file, and for a download.
func (f *Frame) MountTransfer(a *api.API, pattern string, bounds web.Transfer, fn Handler) {
	f.deps.Pages.MountTransfer(a, pattern, bounds, f.deps.Sessions.Require(f.serve(a, fn)))
}

func (f *Frame) serve(a http.Handler, fn Handler) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := f.visit(w, r, a)
		err := fn(v)
		if err == nil {
			return nil
		}
		var lost *lostError
		p, ok := errors.AsType[*problem.Problem](err)
		if errors.As(err, &lost) && !ok {
			p, ok = problem.New(problem.Unavailable, v.Say("frame.failed.lost")), true
		}
		switch {
		case !ok:
			return err
		case p.Status == http.StatusUnauthorized: // the session ended between two looks at it
			return v.Redirect("/dashboard/sign-in?" + url.Values{"next": {r.URL.RequestURI()}}.Encode())
		case p.Status == http.StatusNotFound:
			st := web.Error(web.NotFound, web.Brand{})
			st.Action = web.Action{Words: v.Say("frame.open"), URL: v.Path("/dashboard")}
			return st
		case p.Status >= http.StatusInternalServerError && p.Code != problem.Unavailable:
			return err
		}
		return v.fail(p)
	}
}

// fail shows a problem as a screen.
func (v *Visit) fail(p *problem.Problem) error {
	d := failure{Heading: v.Say("frame.failed"), Detail: p.Detail, Again: v.R.URL.RequestURI()}
	switch p.Code { //nolint:exhaustive // the others have the heading of any failure
	case problem.Forbidden:
		d.Heading, d.Detail, d.Again = v.Say("frame.failed.forbidden"), v.Say("frame.failed.role"), ""
		if v.R.Method != http.MethodGet {
			d.Heading = v.Say("frame.failed.refused")
		}
		if v.Session.Role == "" { // an API key signed in
			d.Detail = v.Say("frame.failed.key", "name", v.Session.KeyName)
		}
	case problem.RateLimited:
		d.Heading = v.Say("frame.failed.busy")
	case problem.Unavailable:
		d.Heading = v.Say("frame.failed.unavailable")
	}
	if v.R.Method != http.MethodGet {
		d.Again = ""
	}
	return v.ShowStatus(v.frame.failed, p.Status, Screen{Title: d.Heading, Data: d})
}

type failure struct{ Heading, Detail, Again string }
