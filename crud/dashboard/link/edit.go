package link

import (
	"net/http"
	"net/url"

	"lodestone/crud/dashboard/frame"
)

// editForms are the forms of the screen that were sent and refused.
type editForms struct {
	edit            *frame.Form
	remove, picture frame.Form
}

// editData is the screen that changes a link, with its page beside.
type editData struct {
	Link       *genericLink
	Self       string
	Copied     bool
	Edit       formData
	Preview    string // path and query of the page as its owner sees it; "": the session only reads
	Remove     frame.Form
	Picture    frame.Form
	OwnPicture bool
	Upload     string
}

// showEdit is the form that changes a link.
func (s *Screens) showEdit(v *frame.Visit) error { return s.drawEdit(v, http.StatusOK, editForms{}) }

func (s *Screens) drawEdit(v *frame.Visit, status int, sent editForms) error {
	l, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return err
	}
	d := editData{
		Link: &l, Self: self(v), Copied: v.R.URL.Query().Has("copied"), Remove: sent.remove, Picture: sent.picture,
		OwnPicture: l.ThumbnailURL != nil, Upload: v.UploadTo(self(v) + "/picture"),
	}
	d.Remove.ID, d.Picture.ID = "delete", "picture"
	f := frame.Form{Values: l.values(v)}
	if sent.edit != nil {
		f = *sent.edit
	}
	d.Edit = newForm(v, f)
	d.Edit.Save, d.Edit.All, d.Edit.Passcode = v.Path(d.Self), true, l.Gate.PasscodeSet
	if v.MayWrite() {
		if d.Preview, err = previewOf(v); err != nil {
			return err
		}
	}
	return v.ShowStatus(s.change, status, frame.Screen{Title: v.Say("link.edit") + " – " + l.Name(), Nav: frame.Links,
		Frames: true, Data: d})
}

// previewOf returns the path and the query of a preview of the link's page. The screen may have
// another host than the site's public address.
func previewOf(v *frame.Visit) (string, error) {
	address, err := v.PreviewURL(path(v))
	if err != nil {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", nil //nolint:nilerr // the form works without it
	}
	return u.RequestURI(), nil
}
