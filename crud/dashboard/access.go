package dashboard

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// fileBounds are those of a file that the API sends.
var fileBounds = web.Transfer{MaxBytes: 1 << 10, Timeout: 15 * time.Minute}

const accessPath = "/api/v1/access-links"

// ownLink is an access link of the reader.
type ownLink struct {
	readerLink
	Title, State, From string
	Self               string
}

func (s *readerStory) own(v *frame.Visit, l *readerLink) ownLink {
	own := ownLink{readerLink: *l, Title: s.title(v, l.LeadMagnetID), State: v.Say("reader.state.open"),
		From: v.Say("reader.link." + l.Source),
		Self: v.Path(readerScreen + url.PathEscape(v.R.PathValue("access_link_id")) + "/links/" + l.ID)}
	switch {
	case !l.IsActive:
		own.State = v.Say("reader.state.revoked")
	case l.ExpiresAt != nil && l.ExpiresAt.Before(time.Now()):
		own.State = v.Say("reader.state.expired")
	case l.ExpiresAt != nil:
		own.State = v.Say("reader.state.until", "day", v.Date(l.ExpiresAt.In(v.Period.Zone)))
	}
	return own
}

func accessOf(v *frame.Visit) string { return accessPath + "/" + url.PathEscape(v.R.PathValue("link")) }

// changeLink extends, revokes or opens one access link of the reader.
func (d *Dashboard) changeLink(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	change := map[string]any{}
	switch v.R.PostForm.Get("do") {
	case "revoke":
		change["is_active"] = false
	case "open":
		change["is_active"] = true
	default:
		days, err := strconv.Atoi(v.R.PostForm.Get("days"))
		if err != nil || days < 1 || days > 3650 {
			return web.BadForm(errDays)
		}
		change["is_active"], change["expires_at"] = true, time.Now().AddDate(0, 0, days).UTC().Format(time.RFC3339)
	}
	_, err := frame.Send[client.AccessLink](v, http.MethodPatch, accessPath+"/"+url.PathEscape(v.R.PathValue("link")),
		change, nil)
	if err != nil {
		return err
	}
	return v.Redirect(readerScreen + v.R.PathValue("access_link_id") + "#links")
}

var errDays = errors.New("days is not a number of days")

// newLink creates an access link for the same person, and shows it.
func (d *Dashboard) newLink(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	s, err := frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(v.R.PathValue("access_link_id")), nil)
	if err != nil {
		return err
	}
	if s.Email == nil {
		return problem.Missing("address of this reader")
	}
	made, err := frame.Send[client.AccessLink](v, http.MethodPost, accessPath,
		client.NewAccessLink{LeadMagnetID: v.R.PostForm.Get("lead_magnet_id"), Email: *s.Email}, nil)
	if f, ok := frame.Rejected(v.R.PostForm, err); ok {
		return d.showReader(v, http.StatusUnprocessableEntity, f, nil)
	}
	if err != nil {
		return err
	}
	return d.showReader(v, http.StatusOK, frame.Form{}, &made)
}

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
	screen := v.R.PathValue("access_link_id")
	if v.R.PathValue("link") == screen { // another link of the person leads to the screen from now on
		s, err := frame.Get[readerStory](v, readersPath+"/"+url.PathEscape(screen), nil)
		if err != nil {
			return err
		}
		screen = ""
		for _, l := range s.AccessLinks {
			if l.ID != v.R.PathValue("link") {
				screen = l.ID
				break
			}
		}
	}
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, accessOf(v), nil, nil); err != nil {
		return err
	}
	if screen == "" {
		return v.Redirect("/dashboard/readers")
	}
	return v.Redirect(readerScreen + url.PathEscape(screen) + "#links")
}

// deleteSubmission deletes a form that the reader sent.
func (d *Dashboard) deleteSubmission(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete,
		"/api/v1/submissions/"+url.PathEscape(v.R.PathValue("submission")), nil, nil); err != nil {
		return err
	}
	return v.Redirect(readerScreen + url.PathEscape(v.R.PathValue("access_link_id")) + "#forms")
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
