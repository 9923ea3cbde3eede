package dashboard

import (
	"cmp"
	"errors"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const (
	linksPath = "/api/v1/generic-links"
	// transferTimeout is how long an upload may take, as in the API.
	transferTimeout = 5 * time.Minute
)

// transfer bounds a form with a file. The API says what is too large, so the form may be a little
// larger.
func (d *Dashboard) transfer() web.Transfer {
	return web.Transfer{MaxBytes: 2*d.maxFile + 1<<20, Timeout: transferTimeout}
}

type newData struct {
	frame.Form
	Action string
}

// newMagnet is the form that publishes a PDF.
func (d *Dashboard) newMagnet(v *frame.Visit) error {
	return d.showNew(v, http.StatusOK, frame.Form{})
}

func (d *Dashboard) showNew(v *frame.Visit, status int, f frame.Form) error {
	return v.ShowStatus(d.screens["new"], status, frame.Screen{Title: v.Say("new.kicker"), Nav: frame.Overview,
		Data: newData{f, v.UploadTo("/dashboard/new")}})
}

// publish creates a lead magnet with its landing page. The PDF is passed on while it arrives.
// Nothing is left behind if a step fails.
func (d *Dashboard) publish(v *frame.Visit) error {
	in, file, err := web.OpenUpload(v.R)
	if err != nil {
		return err
	}
	if file == nil {
		return d.showNew(v, http.StatusUnprocessableEntity,
			frame.Form{Values: in.Typed, Wrong: map[string]string{"file": v.Say("new.file.choose")}})
	}
	title := cmp.Or(titleOf(file.FileName()), v.Say("new.untitled"))
	magnet, err := frame.Send[client.LeadMagnet](v, http.MethodPost, magnetsPath, client.NewLeadMagnet{Title: title}, nil)
	if err == nil {
		err = fill(v, magnet.ID, in, file)
	}
	if err != nil {
		_ = in.Drain() // what has arrived is shown again
		if f, ok := frame.Rejected(in.Typed, err); ok {
			return d.showNew(v, http.StatusUnprocessableEntity, f)
		}
		return err
	}
	return v.Redirect("/dashboard/magnets/" + magnet.ID + "?published=1")
}

// fill gives a new lead magnet its file, what was typed about it, and its link. If that fails, the
// lead magnet is deleted again.
func fill(v *frame.Visit, id string, in *web.Upload, file *multipart.Part) error {
	err := upload(v, id, file, true)
	if err == nil {
		_, err = in.File() // the fields after it
	}
	if title, description := frame.Optional(in.Typed.Get("title")),
		frame.Optional(in.Typed.Get("description")); err == nil && (title != nil || description != nil) {
		change := map[string]any{"description": description}
		if title != nil {
			change["title"] = title
		}
		_, err = frame.Send[client.LeadMagnet](v, http.MethodPatch, magnetsPath+"/"+id, change, nil)
	}
	if err == nil {
		link := client.NewGenericLink{LeadMagnetID: id, Slug: frame.Optional(in.Typed.Get("slug")),
			RequireVerification: in.Typed.Get("require_verification") != ""}
		_, err = frame.Send[client.GenericLink](v, http.MethodPost, linksPath, link, nil)
	}
	if err == nil {
		return nil
	}
	if _, undone := frame.Send[frame.Nothing](v, http.MethodDelete,
		magnetsPath+"/"+id+"?cascade=true", nil, nil); undone != nil {
		return errors.Join(err, undone)
	}
	return err
}

// upload sends a file on to the API while it arrives. useTitle takes the title of the file for the
// lead magnet.
func upload(v *frame.Visit, id string, file *multipart.Part, useTitle bool) error {
	header := http.Header{"Content-Type": {"application/pdf"}}
	if name := file.FileName(); name != "" {
		header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	_, err := frame.Upload[client.LeadMagnet](v, http.MethodPut, magnetsPath+"/"+url.PathEscape(id)+"/file?"+
		url.Values{"use_title": {strconv.FormatBool(useTitle)}}.Encode(), header, file)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Code == problem.PayloadTooLarge {
		return problem.Invalid(problem.Field{Field: "file", Message: p.Detail})
	}
	return err
}

// titleOf makes a title of a file's name; "" if it has no words.
func titleOf(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	title := strings.TrimSpace(strings.Join(strings.FieldsFunc(strings.TrimSuffix(name, path.Ext(name)),
		func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), " "))
	if title == "" {
		return ""
	}
	return strings.ToUpper(title[:1]) + title[1:]
}
