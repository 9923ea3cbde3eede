package link

import (
	"net/http"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
)

// activate opens or closes the page of a link.
func (s *Screens) activate(v *frame.Visit) error {
	if _, err := frame.Send[genericLink](v, http.MethodPatch, path(v),
		map[string]any{"active": v.R.PostFormValue("active") == "true"}, nil); err != nil {
		return err
	}
	return v.Redirect(self(v))
}

// preview leads to the page of a link, where nothing is counted.
func (s *Screens) preview(v *frame.Visit) error {
	return v.Preview(path(v))
}

// remove deletes a link with its submissions, once its slug is typed.
func (s *Screens) remove(v *frame.Visit) error {
	l, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return err
	}
	if v.R.PostFormValue("confirm") != l.Slug {
		return s.draw(v, http.StatusUnprocessableEntity,
			forms{remove: frame.Form{Values: v.R.PostForm,
				Wrong: map[string]string{"confirm": v.Say("link.delete.wrong", "slug", l.Slug)}}})
	}
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, path(v), nil, nil); err != nil {
		return err
	}
	return v.Redirect(screenPath)
}

// pictureBounds are those of the API, with what a form adds; exportBounds those of a file that the
// API writes.
var (
	pictureBounds = web.Transfer{MaxBytes: 6 << 20, Timeout: time.Minute}
	exportBounds  = web.Transfer{MaxBytes: 1 << 10, Timeout: 15 * time.Minute}
)

// uploadPicture replaces the picture of the page.
func (s *Screens) uploadPicture(v *frame.Visit) error {
	_, found, err := frame.PassUpload[genericLink](v, http.MethodPut, path(v)+"/thumbnail")
	f, rejected := frame.Rejected(nil, err)
	switch {
	case err == nil && !found:
		f = frame.Form{Wrong: map[string]string{"file": v.Say("link.picture.choose")}}
	case rejected:
		f = frame.Form{Wrong: map[string]string{"file": f.Any()}}
	case err != nil:
		return err
	default:
		return v.Redirect(self(v) + "?saved=1")
	}
	return s.draw(v, http.StatusUnprocessableEntity, forms{picture: f})
}

// removePicture shows the document's first page again.
func (s *Screens) removePicture(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, path(v)+"/thumbnail", nil, nil); err != nil {
		return err
	}
	return v.Redirect(self(v) + "?saved=1")
}

// qr passes the QR code of the link's address on: a picture, or a file to keep.
func (s *Screens) qr(v *frame.Visit) error {
	return v.Pass(path(v)+"/qr", v.R.URL.Query())
}
