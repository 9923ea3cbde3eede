package landing

import (
	"net/http"

	"lodestone/crud/page"
	"lodestone/pkg/api"
)

// Register mounts the pages, and adds the operation that makes a preview.
func (l *Landing) Register(a *api.API) {
	mount := func(pattern string, fn func(w http.ResponseWriter, r *http.Request) error) {
		a.Handle(pattern, l.deps.Pages.Handler(fn))
	}
	mount("GET /l/{slug}", l.show)
	mount("POST /l/{slug}", l.submit)
	mount("GET /l/{slug}/{$}", l.redirectTrailingSlash)
	mount("GET /l/{rest...}", nothing)
	mount("GET /verify/{link}", l.askToConfirm)
	mount("POST /verify/{link}", l.confirmed)
	mount("GET /verify/sent/{page}", l.waiting)
	mount("POST /verify/sent/{page}", l.tryCode)
	mount("POST /verify/sent/{page}/again", l.again)
	mount("GET /verify/{rest...}", nothing)
	l.registerPreview(a)
}

func nothing(http.ResponseWriter, *http.Request) error {
	return page.Error(page.NotFound, page.Brand{})
}
