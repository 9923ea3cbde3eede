package dashboard

import (
	"errors"
	"net/http"
	"net/url"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/page"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

func magnetPath(v *frame.Visit) string {
	return magnetsPath + "/" + url.PathEscape(v.R.PathValue("id"))
}

// editMagnet changes the title and the description, unless someone else did so meanwhile.
func (d *Dashboard) editMagnet(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return page.BadForm(err)
	}
	typed := v.R.PostForm
	header := http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	_, err := frame.Send[client.LeadMagnet](v, http.MethodPatch, magnetPath(v), map[string]any{"title": typed.Get("title"), "description": optional(typed.Get("description"))}, header)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		return d.showMagnet(v, http.StatusConflict, frame.Form{Values: typed, Detail: "Someone else changed the lead magnet meanwhile. What you typed is here: save again to replace their change."}, frame.Form{})
	}
	if f, ok := frame.Rejected(typed, err); ok {
		return d.showMagnet(v, http.StatusUnprocessableEntity, f, frame.Form{})
	}
	if err != nil {
		return err
	}
	return v.Redirect("/dashboard/magnets/" + v.R.PathValue("id"))
}

// switchMagnet switches a lead magnet on or off.
func (d *Dashboard) switchMagnet(v *frame.Visit) error {
	if _, err := frame.Send[client.LeadMagnet](v, http.MethodPatch, magnetPath(v), map[string]any{"is_active": v.R.PostFormValue("is_active") == "true"}, nil); err != nil {
		return err
	}
	return v.Redirect("/dashboard/magnets/" + v.R.PathValue("id"))
}

// uploadVersion takes a new version of the PDF.
func (d *Dashboard) uploadVersion(v *frame.Visit) error {
	in, file, err := openUpload(v.R)
	if err != nil {
		return err
	}
	if file == nil {
		return d.showMagnet(v, http.StatusUnprocessableEntity, frame.Form{}, frame.Form{Wrong: map[string]string{"file": "Choose a PDF."}})
	}
	if err := upload(v, v.R.PathValue("id"), file); err != nil {
		in.discard()
		if f, ok := frame.Rejected(nil, err); ok {
			return d.showMagnet(v, http.StatusUnprocessableEntity, frame.Form{}, f)
		}
		return err
	}
	return v.Redirect("/dashboard/magnets/" + v.R.PathValue("id"))
}

// deleteMagnet deletes a lead magnet with everything that belongs to it, once its title is typed.
func (d *Dashboard) deleteMagnet(v *frame.Visit) error {
	m, err := frame.Get[client.LeadMagnet](v, magnetPath(v), nil)
	if err != nil {
		return err
	}
	if v.R.PostFormValue("confirm") != m.Title {
		return d.showMagnet(v, http.StatusUnprocessableEntity, frame.Form{Wrong: map[string]string{"confirm": "Type the title exactly as it is."}}, frame.Form{})
	}
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, magnetPath(v)+"?cascade=true", nil, nil); err != nil {
		return err
	}
	return v.Redirect("/dashboard")
}
