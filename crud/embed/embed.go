// Package embed puts the form of a generic link on an owner's own pages: a script, and what the
// script asks for. A link says from which origins; no other page can read an answer or send the
// form. Nothing of it sets a cookie.
//
// The script first gets the form and a token. The token names the visit: it is bound to the link
// and the origin, the view of the page is counted under its id, and the form is taken only with it.
package embed

import (
	"embed"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"time"

	"lodestone/crud/capture"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/asset"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

//go:embed all:dist
var dist embed.FS

// Deps are the dependencies of forms on other pages. Now may be nil, and Collector empty: then
// views are not counted. All others are required.
type Deps struct {
	Postgres  *postgres.Pool
	Capture   *capture.Capture
	Tokens    *token.Ring
	Addresses *clientaddr.Finder
	Bots      *bot.Rules
	Log       *slog.Logger
	Site      string           // public URL without a slash at the end
	Collector string           // URL of the collector as browsers reach it, without a slash at the end
	Now       func() time.Time // the clock; nil: time.Now
}

// Forms serves the script and the forms. It is safe for concurrent use.
type Forms struct {
	deps      Deps
	script    *asset.File // nil in a program that was built without it
	catalogue *web.Catalogue
}

// New returns the forms of an installation.
func New(d Deps) (*Forms, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, fmt.Errorf("read the script of forms: %w", err)
	}
	built, err := asset.Load(files)
	if err != nil {
		return nil, fmt.Errorf("read the script of forms: %w", err)
	}
	all, err := web.VisitorTexts()
	if err != nil {
		return nil, fmt.Errorf("read the texts of forms: %w", err)
	}
	return &Forms{d, built["embed.js"], all}, nil
}

const (
	scriptPath = "/embed.js"
	formPath   = "/embed/"
)

// Register mounts the script and the forms, and adds the operation that tells whether they are in
// use.
func (f *Forms) Register(a *api.API) {
	a.Handle("GET "+scriptPath, http.HandlerFunc(f.serveScript))
	a.Handle("GET "+formPath+"{slug}", f.answer(f.load))
	a.Handle("POST "+formPath+"{slug}", f.answer(f.submit))
	f.registerState(a)
}
