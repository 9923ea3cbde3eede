package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

// fileBounds are those of a file that the API sends.
var fileBounds = web.Transfer{MaxBytes: 1 << 10, Timeout: 15 * time.Minute}

func accessOf(v *frame.Visit) string { return accessPath + "/" + url.PathEscape(v.R.PathValue("link")) }

// previewAccess leads to the document of an access link, where nothing is counted.
func (d *Dashboard) previewAccess(v *frame.Visit) error {
	return v.Preview(accessOf(v))
}

// accessQR is the QR code of an access link.
func (d *Dashboard) accessQR(v *frame.Visit) error {
	return v.Pass(accessOf(v)+"/qr", v.R.URL.Query())
}

// deleteAccess deletes an access link. What was read through it stays in the numbers.
func (d *Dashboard) deleteAccess(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, accessOf(v), nil, nil); err != nil {
		return err
	}
	if v.R.PathValue("link") == v.R.PathValue("access_link_id") { // its screen is gone with it
		return v.Redirect("/dashboard/readers")
	}
	return v.Redirect("/dashboard/readers/" + url.PathEscape(v.R.PathValue("access_link_id")) + "#links")
}

// deleteSubmission deletes a form that the reader sent.
func (d *Dashboard) deleteSubmission(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete,
		"/api/v1/submissions/"+url.PathEscape(v.R.PathValue("submission")), nil, nil); err != nil {
		return err
	}
	return v.Redirect("/dashboard/readers/" + url.PathEscape(v.R.PathValue("access_link_id")) + "#forms")
}

// readerEmail returns the address of the reader whose screen it is.
func readerEmail(v *frame.Visit) (string, error) {
	s, err := frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(v.R.PathValue("access_link_id")), nil)
	if err != nil {
		return "", err
	}
	if s.Email == nil {
		return "", problem.Missing("address of this reader")
	}
	return *s.Email, nil
}

// exportReader is everything that is stored about the reader, as a file.
func (d *Dashboard) exportReader(v *frame.Visit) error {
	address, err := readerEmail(v)
	if err != nil {
		return err
	}
	document, err := frame.Send[json.RawMessage](v, http.MethodPost, "/api/v1/people/export",
		map[string]any{"email": address}, nil)
	if err != nil {
		return err
	}
	return sendFile(v, "person.json", document) // the address is not for the name of a file
}

// file is the newest version of a document.
func (d *Dashboard) file(v *frame.Visit) error {
	return v.Pass(magnetPath(v)+"/file", nil)
}
