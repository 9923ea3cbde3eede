package landing

import (
	"net/http"
	"strings"

	"lodestone/crud/web"
	"lodestone/pkg/api"
)

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
	var o offered
	var err error
	switch {
	case r.PathValue("slug") != "":
		o, err = l.find(r.Context(), strings.ToLower(r.PathValue("slug")))
	case r.PathValue("page") != "":
		_, o, err = l.byPage(r)
	case r.PathValue("link") != "":
		_, o, err = l.byLink(r)
	}
	if err != nil || o.AccountName == "" {
		return web.Brand{}
	}
	return o.brand()
}
