package viewer

import (
	"net/http"

	"github.com/go-json-experiment/json"

	"lodestone/crud/web"
)

// failure takes what the page's script could not show: a page, or with 0 the document. The owner
// learns of it.
func (v *Viewer) failure(w http.ResponseWriter, r *http.Request) {
	in, err := v.enter(r)
	if err != nil {
		v.deps.Pages.WriteBranded(w, r, asPage(err, web.Brand{}), v.brand)
		return
	}
	var wrong struct {
		Page *int32 `json:"page"`
	}
	err = json.UnmarshalRead(http.MaxBytesReader(w, r.Body, 1024), &wrong)
	if err != nil || wrong.Page == nil || *wrong.Page < 0 || *wrong.Page > maxPage {
		w.WriteHeader(http.StatusBadRequest) // it is our script that asks
		return
	}
	if err := v.deps.Sessions.Unreadable(r.Context(), in, *wrong.Page); err != nil {
		v.deps.Pages.WriteBranded(w, r, err, v.brand)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// maxPage bounds the number of a page that is reported: pdf.js and PDFium may count the pages of a
// damaged document in two ways.
const maxPage = 1_000_000
