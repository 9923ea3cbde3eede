package landing

import (
	"net/http"
	"strings"

	"lodestone/crud/page"
	"lodestone/pkg/api"
)

// Register mounts the pages, and adds the operation that makes a preview.
func (l *Landing) Register(a *api.API) {
	mount := func(pattern string, fn page.Handler) { l.deps.Pages.MountBranded(a, pattern, fn, l.brandOf) }
	mount("GET "+page.LandingPath("{slug}"), l.show)
	mount("POST "+page.LandingPath("{slug}"), l.submit)
	mount("GET "+page.LandingPath("{slug}/{$}"), l.redirectTrailingSlash)
	mount("GET "+page.LandingPath("{rest...}"), page.NothingHere)
	mount("GET "+page.ConfirmPath("{link}"), l.askToConfirm)
	mount("POST "+page.ConfirmPath("{link}"), l.confirmed)
	mount("GET "+page.SentPath("{page}"), l.waiting)
	mount("POST "+page.SentPath("{page}"), l.tryCode)
	mount("POST "+page.SentPath("{page}/again"), l.again)
	mount("GET "+page.ConfirmPath("{rest...}"), page.NothingHere)
	l.registerPreview(a)
}

// brandOf returns the brand of the account whose page a request asks for.
func (l *Landing) brandOf(r *http.Request) page.Brand {
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
		return page.Brand{}
	}
	return o.brand()
}
