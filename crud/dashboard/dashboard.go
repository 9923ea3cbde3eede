// Package dashboard serves the screens for publishers: their readers, the reading, and the next
// steps. The screens are rendered on the server and work without scripts. Everything that they show
// and change goes through the API, with the key of the session: what the API refuses, a screen
// cannot do.
//
// A screen is a file here and its HTML in web, which defines "screen":
//
//  1. NAME.go: a method that takes a frame.Visit, asks the API (frame.Get, frame.Send, Visit.Ask),
//     and shows a struct.
//  2. web/NAME.html: the HTML, and web/NAME.css if it needs styles of its own. "number", "term" and
//     "change" of frame/web/parts.html draw a frame.Figure; web/shared.html has parts of several
//     screens. A chart is a field of type template.HTML, from chart.Figure.
//  3. dashboard.go: its template in screens, and its patterns in Register.
//
// Texts are not in the files but in crud/web/dashboard, by keys that begin with the screen's
// name.
//
// A form posts to a path below /dashboard with the field csrf ({{template "csrf" .}}). Its method
// sends the change to the API. If frame.Rejected knows the error, it shows the screen again with
// the frame.Form; else it leads on by Visit.Redirect. A template of Frame.ParseForms has parts that
// draw fields with their messages: frame/web/form.html.
//
// The screens about links and the settings are packages of their own, link and setting, which are
// built the same way.
package dashboard

import (
	"embed"
	"fmt"
	"io/fs"
	"slices"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/dashboard/link"
	"lodestone/crud/dashboard/setting"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

//go:embed web
var webFiles embed.FS

// Deps are the dependencies of the dashboard. All are required.
type Deps struct {
	Pages    *web.Site
	Sessions frame.Sessions
	Passkeys setting.Passkeys
}

// Config is the setting of the dashboard.
type Config struct {
	MaxFileBytes int64 // of a lead magnet
}

// Dashboard serves the screens. It is safe for concurrent use.
type Dashboard struct {
	maxFile int64
	frame   *frame.Frame
	screens map[string]*frame.Template
	links   *link.Screens
	setting *setting.Screens
}

// screens are the files of the screens. Each may have a style sheet of its own name.
var screens = []string{"overview", "new", "magnet", "edit", "shares", "people", "reader", "erasure", "live"}

// styles are the style sheets of screens that several have, but not all: screens carry their
// styles.
var styles = map[string][]string{
	"overview": {"tiles.css", "now.css", frame.Cards, frame.FilterStyle},
	"magnet":   {"tiles.css", frame.FilterStyle}, "live": {"now.css"},
	"people": {frame.Cards, frame.FilterStyle}, "shares": {frame.Cards},
}

// formScreens are those whose forms are made of the parts of the frame.
var formScreens = []string{"edit", "shares"}

// New returns the dashboard.
func New(c Config, d Deps) (*Dashboard, error) {
	f, err := frame.New(frame.Deps{Pages: d.Pages, Sessions: d.Sessions})
	if err != nil {
		return nil, err
	}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read screens: %w", err)
	}
	all := &Dashboard{maxFile: c.MaxFileBytes, frame: f, screens: map[string]*frame.Template{}}
	for _, name := range screens {
		css := append([]string{"shared.css"}, styles[name]...)
		if _, err := fs.Stat(files, name+".css"); err == nil {
			css = append(css, name+".css")
		}
		parse := f.Parse
		if slices.Contains(formScreens, name) {
			parse = f.ParseForms
		}
		if all.screens[name], err = parse(files, []string{"shared.html", name + ".html"}, css); err != nil {
			return nil, err
		}
	}
	if all.links, err = link.New(f); err != nil {
		return nil, err
	}
	all.setting, err = setting.New(f, d.Passkeys)
	return all, err
}

// Register mounts the screens. They ask the API for everything.
func (d *Dashboard) Register(a *api.API) {
	d.frame.Register(a)
	d.frame.Mount(a, "GET /dashboard", d.overview)
	d.frame.MountTransfer(a, "GET /dashboard/documents.csv", fileBounds, exportMagnets)
	d.frame.Mount(a, "GET /dashboard/new", d.newMagnet)
	d.frame.MountTransfer(a, "POST /dashboard/new", d.transfer(), d.publish)
	d.frame.Mount(a, "GET /dashboard/magnets/{id}", d.magnet)
	d.frame.Mount(a, "GET /dashboard/magnets/{id}/pages/{page}", d.pagePicture)
	d.frame.Mount(a, "GET /dashboard/magnets/{id}/edit", d.edit)
	d.frame.Mount(a, "POST /dashboard/magnets/{id}/edit", d.editMagnet)
	d.frame.Mount(a, "POST /dashboard/magnets/{id}/active", d.switchMagnet)
	d.frame.Mount(a, "POST /dashboard/magnets/{id}/delete", d.deleteMagnet)
	d.frame.MountTransfer(a, "POST /dashboard/magnets/{id}/file", d.transfer(), d.uploadVersion)
	d.frame.Mount(a, "GET /dashboard/magnets/{id}/shares", d.shares)
	d.frame.Mount(a, "POST /dashboard/magnets/{id}/shares", d.newShare)
	d.frame.Mount(a, "POST /dashboard/magnets/{id}/shares/{share}/delete", d.revokeShare)
	d.frame.Mount(a, "GET /dashboard/readers", d.people)
	d.frame.MountTransfer(a, "GET /dashboard/readers.csv", fileBounds, d.exportPeople)
	d.frame.Mount(a, "GET /dashboard/readers/{access_link_id}", d.reader)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}", d.newLink)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/person", d.changePerson)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/links/{link}", d.changeLink)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/export", d.exportReader)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/erase", d.eraseReader)
	d.frame.Mount(a, "GET /dashboard/erasures/{id}", d.erasure)
	d.frame.Mount(a, "GET /dashboard/erasures/{id}/receipt", d.receipt)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/links/{link}/preview", d.previewAccess)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/links/{link}/delete", d.deleteAccess)
	d.frame.Mount(a, "POST /dashboard/readers/{access_link_id}/forms/{submission}/delete", d.deleteSubmission)
	d.frame.MountTransfer(a, "GET /dashboard/readers/{access_link_id}/links/{link}/qr", fileBounds, d.accessQR)
	d.frame.MountTransfer(a, "GET /dashboard/magnets/{id}/file", fileBounds, d.file)
	d.frame.Mount(a, "GET /dashboard/live", d.live)
	d.frame.Mount(a, "GET /dashboard/filter", addFilter)
	d.frame.Mount(a, "POST /dashboard/views", saveView)
	d.frame.Mount(a, "POST /dashboard/views/{view}/delete", deleteView)
	d.links.Register(a)
	d.setting.Register(a)
}
