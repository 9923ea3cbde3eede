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
	mount("GET /l/{slug}", l.show)
	mount("POST /l/{slug}", l.submit)
	mount("GET /l/{slug}/{$}", l.redirectTrailingSlash)
	mount("GET /l/{rest...}", page.NothingHere)
	mount("GET /verify/{link}", l.askToConfirm)
	mount("POST /verify/{link}", l.confirmed)
	mount("GET /verify/sent/{page}", l.waiting)
	mount("POST /verify/sent/{page}", l.tryCode)
	mount("POST /verify/sent/{page}/again", l.again)
	mount("GET /verify/{rest...}", page.NothingHere)
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
