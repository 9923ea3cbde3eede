package landing

import (
	"lodestone/crud/page"
	"lodestone/pkg/api"
)

// Register mounts the pages, and adds the operation that makes a preview.
func (l *Landing) Register(a *api.API) {
	mount := func(pattern string, fn page.Handler) { l.deps.Pages.Mount(a, pattern, fn) }
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
