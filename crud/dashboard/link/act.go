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

// archive takes a link out of the lists and closes its page, or brings it back.
func (s *Screens) archive(v *frame.Visit) error {
	archived := v.R.PostFormValue("archived") == "true"
	if _, err := frame.Send[genericLink](v, http.MethodPatch, path(v),
		map[string]any{"archived": archived}, nil); err != nil {
		return err
	}
	note := "back"
	if archived {
		note = "archived"
	}
	return v.Redirect(self(v) + "?" + note + "=1")
}

// duplicate makes a link with the same settings, and leads to the form that changes them.
func (s *Screens) duplicate(v *frame.Visit) error {
	made, err := frame.Send[genericLink](v, http.MethodPost, path(v)+"/duplicate", nil, nil)
	if f, ok := frame.Rejected(nil, err); ok {
		return s.draw(v, http.StatusConflict, forms{refused: f.Any()})
	}
	if err != nil {
		return err
	}
	return v.Redirect(screenPath + "/" + made.ID + "/edit?copied=1")
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
		return s.drawEdit(v, http.StatusUnprocessableEntity,
			editForms{remove: frame.Form{Values: v.R.PostForm,
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
		return v.Redirect(self(v) + "/edit?saved=1")
	}
	return s.drawEdit(v, http.StatusUnprocessableEntity, editForms{picture: f})
}

// removePicture shows the document's first page again.
func (s *Screens) removePicture(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, path(v)+"/thumbnail", nil, nil); err != nil {
		return err
	}
	return v.Redirect(self(v) + "/edit?saved=1")
}

// qr passes the QR code of the link's address on: a picture, or a file to keep.
func (s *Screens) qr(v *frame.Visit) error {
	return v.Pass(path(v)+"/qr", v.R.URL.Query())
}
