// Package landing is the public pages of generic links: the offer with its form, and the pages on
// which an address is verified. They work without scripts, set no cookies, and load nothing from
// elsewhere but a thumbnail that the owner keeps elsewhere.
package landing

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"lodestone/crud/capture"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

//go:embed web
var webFiles embed.FS

// Deps are the dependencies of the pages. Now may be nil, and Collector empty: then views are not
// counted. All others are required.
type Deps struct {
	Postgres  *postgres.Pool
	Pages     *web.Site
	Capture   *capture.Capture
	Tokens    *token.Ring
	Addresses *clientaddr.Finder
	Bots      *bot.Rules
	Site      string           // public URL without a slash at the end
	Collector string           // URL of the collector as browsers reach it, without a slash at the end
	Now       func() time.Time // the clock; nil: time.Now
}

// Landing serves the pages. It is safe for concurrent use.
type Landing struct {
	deps                 Deps
	offer, sent, confirm *web.Template
	reaches              reaches
}

// New returns the landing pages of an installation.
func New(d Deps) (*Landing, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read landing pages: %w", err)
	}
	l := &Landing{deps: d}
	for name, t := range map[string]**web.Template{"offer": &l.offer, "sent": &l.sent, "confirm": &l.confirm} {
		css := name + ".css"
		if name != "offer" {
			css = "sent.css"
		}
		if *t, err = d.Pages.Parse(files, name+".html", css); err != nil {
			return nil, fmt.Errorf("parse landing pages: %w", err)
		}
	}
	return l, nil
}

// Register mounts the pages, and adds the operation that makes a preview.
func (l *Landing) Register(a *api.API) {
	mount := func(pattern string, fn web.Handler) { l.deps.Pages.MountBranded(a, pattern, fn, l.brandOf) }
	mount("GET "+web.LandingPath("{slug}"), l.show)
	mount("POST "+web.LandingPath("{slug}"), l.submit)
	mount("GET "+web.LandingPath("{slug}/{$}"), l.redirectTrailingSlash)
	mount("GET "+web.LandingPath("{rest...}"), web.NothingHere)
	mount("GET "+web.ConfirmPath("{link}"), l.askToConfirm)
	mount("POST "+web.ConfirmPath("{link}"), l.confirmed)
	mount("GET "+web.SentPath("{page}"), l.waiting)
	mount("POST "+web.SentPath("{page}"), l.tryCode)
	mount("POST "+web.SentPath("{page}/again"), l.again)
	mount("GET "+web.ConfirmPath("{rest...}"), web.NothingHere)
	l.registerPreview(a)
}

// brandOf returns the brand of the account whose page a request asks for.
func (l *Landing) brandOf(r *http.Request) web.Brand {
	var o offer
	var err error
	switch {
	case r.PathValue("slug") != "":
		o, err = l.link(r.Context(), strings.ToLower(r.PathValue("slug")))
	case r.PathValue("page") != "":
		_, o, err = l.byPage(r)
	case r.PathValue("link") != "":
		_, o, err = l.byLink(r)
	}
	if err != nil || o.AccountName == "" {
		return web.Brand{}
	}
	if o, err = l.withPictures(r.Context(), o); err != nil {
		return web.Brand{}
	}
	return o.brand()
}
