// Package frame is what all screens of the dashboard share: the navigation, the period in the address, numbers with their definitions,
// questions to the API, and what a screen shows when the API refuses.
//
// A screen is a function of a Visit. It asks the API with the visit's session, and shows a Screen:
//
//	func (d *Dashboard) live(v *frame.Visit) error {
//		now, err := frame.Get[nowReport](v, "/api/v1/analytics/now", nil)
//		if err != nil {
//			return err
//		}
//		return v.Show(d.live, frame.Screen{Title: "Live", Nav: frame.Live, Data: now})
//	}
//
// An error of the API becomes a screen by itself: no permission, too many requests, not available. A form passes the problem to its
// screen instead, which shows each message beside its field (Form).
package frame

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"sync"

	"lodestone/crud/page"
	"lodestone/pkg/api"
	"lodestone/pkg/chart"
	"lodestone/pkg/problem"
)

//go:embed web
var web embed.FS

// Sessions lets only people with a session through; it is implemented by signin.Service.
type Sessions interface {
	Require(fn page.Handler) page.Handler
}

// Deps is what the screens work with. All of it is required.
type Deps struct {
	Pages    *page.Site
	Sessions Sessions
}

// Frame draws screens. It is safe for concurrent use once every screen is parsed.
type Frame struct {
	deps   Deps
	files  fs.FS
	failed *Template

	mu      sync.Mutex
	defined map[string]string // definitions of metrics; nil: not read yet
}

// Template is the HTML of a screen.
type Template struct{ page *page.Template }

// New returns the frame.
func New(d Deps) (*Frame, error) {
	files, err := fs.Sub(web, "web")
	if err != nil {
		return nil, fmt.Errorf("read the frame of the dashboard: %w", err)
	}
	f := &Frame{deps: d, files: files}
	f.failed, err = f.Parse(files, []string{"failed.html"}, nil)
	return f, err
}

// Parse reads the HTML of a screen, which defines "screen", and its styles. In it, .Data is what the screen shows.
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
	t, err := f.deps.Pages.Parse(f.files, "frame.html", "frame.css")
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
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read style of screen: %w", err)
		}
		t.AddStyle(string(text))
	}
	return &Template{t}, nil
}

// Handler answers one request of a signed-in person.
type Handler func(v *Visit) error

// Mount serves a screen, or takes a form, at a pattern. The API is the one that the screen asks.
func (f *Frame) Mount(a *api.API, pattern string, fn Handler) {
	f.deps.Pages.Mount(a, pattern, f.deps.Sessions.Require(f.serve(a, fn)))
}

// MountTransfer is Mount for a form with a file, and for a download.
func (f *Frame) MountTransfer(a *api.API, pattern string, bounds page.Transfer, fn Handler) {
	f.deps.Pages.MountTransfer(a, pattern, bounds, f.deps.Sessions.Require(f.serve(a, fn)))
}

func (f *Frame) serve(a http.Handler, fn Handler) page.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v := f.visit(w, r, a)
		err := fn(v)
		if err == nil {
			return nil
		}
		var lost *lostError
		p, ok := errors.AsType[*problem.Problem](err)
		if errors.As(err, &lost) && !ok {
			p, ok = problem.New(problem.Unavailable, "A part that is needed to answer is not available. Try again."), true
		}
		switch {
		case !ok:
			return err
		case p.Status == http.StatusUnauthorized: // the session ended between two looks at it
			return v.Redirect("/dashboard/sign-in?" + url.Values{"next": {r.URL.RequestURI()}}.Encode())
		case p.Status == http.StatusNotFound:
			st := page.Error(page.NotFound, page.Brand{})
			st.Action = page.Action{Words: "Open the dashboard", URL: v.Path("/dashboard")}
			return st
		case p.Status >= http.StatusInternalServerError && p.Code != problem.Unavailable:
			return err
		}
		return v.fail(p)
	}
}

// fail shows a problem as a screen.
func (v *Visit) fail(p *problem.Problem) error {
	d := failure{Heading: "That did not work", Detail: p.Detail, Again: v.R.URL.RequestURI()}
	if w, ok := headings[p.Code]; ok {
		d.Heading = w
	}
	if p.Code == problem.Forbidden {
		d.Detail, d.Again = "Your role does not include it. An owner of the account can change your role.", ""
	}
	if v.R.Method != http.MethodGet {
		d.Again = ""
	}
	return v.ShowStatus(v.frame.failed, p.Status, Screen{Title: d.Heading, Data: d})
}

var headings = map[problem.Code]string{
	problem.Forbidden: "You may not see this", problem.RateLimited: "Too many questions at a time", problem.Unavailable: "The numbers are not available",
}

type failure struct{ Heading, Detail, Again string }
