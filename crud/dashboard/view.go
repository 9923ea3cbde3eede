package dashboard

import (
	"net/http"
	"net/url"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/view"
	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

const viewsPath = "/api/v1/views"

// addFilter leads to a screen with one more filter, which a form has chosen.
func addFilter(v *frame.Visit) error {
	q := v.R.URL.Query()
	chosen, value := q.Get("value"), strings.TrimSpace(q.Get("value"))
	switch {
	case q.Get("key") != "":
		chosen = url.Values{q.Get("filter"): {q.Get("key") + ":" + value}}.Encode()
	case q.Has("text"): // typed
		chosen = url.Values{q.Get("filter"): {q.Get("text")}}.Encode()
	case !strings.Contains(chosen, "="):
		chosen = url.Values{q.Get("filter"): {value}}.Encode()
	}
	place, err := frame.AddFilter(q.Get("to"), chosen)
	if err != nil {
		place = "/dashboard"
	}
	return v.Redirect(place)
}

// saveView saves the filters, order and period of a screen under a name. A view of this name is
// replaced.
func saveView(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	form := v.R.PostForm
	place, err := frame.AddFilter(form.Get("to"), "")
	if err != nil {
		return problem.Missing("screen")
	}
	_, query, _ := strings.Cut(place, "?")
	body := map[string]any{"screen": form.Get("screen"), "name": strings.TrimSpace(form.Get("name")), "query": query}
	_, err = frame.Send[view.View](v, http.MethodPost, viewsPath, body, nil)
	if err != nil {
		return err
	}
	return v.Redirect(place)
}

// deleteView deletes a view.
func deleteView(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	place, err := frame.AddFilter(v.R.PostForm.Get("to"), "")
	if err != nil {
		return problem.Missing("screen")
	}
	_, err = frame.Send[frame.Nothing](v, http.MethodDelete, viewsPath+"/"+url.PathEscape(v.R.PathValue("view")), nil, nil)
	if err != nil {
		return err
	}
	return v.Redirect(place)
}
