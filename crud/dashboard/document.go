package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/magnet"
	"lodestone/crud/web"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

func magnetPath(v *frame.Visit) string {
	return magnetsPath + "/" + url.PathEscape(v.R.PathValue("id"))
}

// magnetSelf is the path of the screen of the lead magnet that the address names.
func magnetSelf(v *frame.Visit) string {
	return "/dashboard/magnets/" + url.PathEscape(v.R.PathValue("id"))
}

// editData is the screen that changes a lead magnet and its file.
type editData struct {
	Magnet   client.LeadMagnet
	Self     string
	Saved    bool
	File     string // name and pages of the file; "": there is none
	Versions []versionRow
	UploadTo string
	Edit     frame.Form
	Upload   frame.Form
	Remove   frame.Form
}

// editForms are those of the screen that were sent and refused.
type editForms struct {
	edit           *frame.Form
	upload, remove frame.Form
}

// edit shows the forms about a lead magnet.
func (d *Dashboard) edit(v *frame.Visit) error { return d.showEdit(v, http.StatusOK, editForms{}) }

func (d *Dashboard) showEdit(v *frame.Visit, status int, sent editForms) error {
	var (
		data = editData{Self: magnetSelf(v), Saved: v.R.URL.Query().Has("saved"),
			UploadTo: v.UploadTo(magnetSelf(v) + "/file"), Upload: sent.upload, Remove: sent.remove}
		group errgroup.Group
	)
	group.Go(func() (err error) {
		data.Magnet, err = frame.Get[client.LeadMagnet](v, magnetPath(v), nil)
		return err
	})
	group.Go(func() (err error) {
		versions, err := listVersions(v)
		data.Versions = versionRows(v, versions, 0)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if m := &data.Magnet; m.FileName != nil && m.PageCount != nil {
		data.File = v.Say("magnet.file.is", "name", *m.FileName, "n", *m.PageCount)
	}
	data.Edit = frame.Form{Values: magnetValues(&data.Magnet)}
	if sent.edit != nil {
		data.Edit = *sent.edit
	}
	data.Remove.ID = "delete"
	return v.ShowStatus(d.screens["edit"], status, frame.Screen{Title: v.Say("magnet.edit") + " – " + data.Magnet.Title,
		Nav: frame.Overview, Data: data})
}

// magnetValues are the fields of the form that changes a lead magnet.
func magnetValues(m *client.LeadMagnet) url.Values {
	q := url.Values{"title": {m.Title}, "etag": {m.ETag}}
	for name, value := range map[string]*string{
		"description": m.Description, "author": m.Author, "author_about": m.AuthorAbout, "end_text": m.EndText,
		"end_button": m.EndButton, "end_url": m.EndURL,
	} {
		if value != nil {
			q.Set(name, *value)
		}
	}
	if m.Downloadable {
		q.Set("downloadable", "true")
	}
	return q
}

// editMagnet changes what the form has, unless someone else did so meanwhile.
func (d *Dashboard) editMagnet(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	typed := v.R.PostForm
	header := http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	change := map[string]any{}
	if typed.Has("title") {
		change["title"] = typed.Get("title")
		change["downloadable"] = typed.Get("downloadable") == "true" // browsers leave out what is not checked
	}
	for _, name := range []string{"description", "author", "author_about", "end_text", "end_button", "end_url"} {
		if typed.Has(name) {
			change[name] = frame.Optional(strings.ReplaceAll(typed.Get(name), "\r\n", "\n"))
		}
	}
	_, err := frame.Send[client.LeadMagnet](v, http.MethodPatch, magnetPath(v), change, header)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		return d.showEdit(v, http.StatusConflict, editForms{edit: &frame.Form{Values: typed, Detail: v.Say("magnet.stale")}})
	}
	if f, ok := frame.Rejected(typed, err); ok {
		return d.showEdit(v, http.StatusUnprocessableEntity, editForms{edit: &f})
	}
	if err != nil {
		return err
	}
	return v.Redirect(magnetSelf(v) + "/edit?saved=1")
}

// switchMagnet switches a lead magnet on or off.
func (d *Dashboard) switchMagnet(v *frame.Visit) error {
	if _, err := frame.Send[client.LeadMagnet](v, http.MethodPatch, magnetPath(v),
		map[string]any{"is_active": v.R.PostFormValue("is_active") == "true"}, nil); err != nil {
		return err
	}
	return v.Redirect(magnetSelf(v) + "/edit?saved=1")
}

// uploadVersion takes a new version of the PDF.
func (d *Dashboard) uploadVersion(v *frame.Visit) error {
	in, file, err := web.OpenUpload(v.R)
	if err != nil {
		return err
	}
	if file == nil {
		return d.showEdit(v, http.StatusUnprocessableEntity,
			editForms{upload: frame.Form{Wrong: map[string]string{"file": v.Say("new.file.choose")}}})
	}
	if err := upload(v, v.R.PathValue("id"), file, false); err != nil {
		_ = in.Drain() // the screen says what is wrong with the file
		if f, ok := frame.Rejected(nil, err); ok {
			return d.showEdit(v, http.StatusUnprocessableEntity, editForms{upload: f})
		}
		return err
	}
	return v.Redirect(magnetSelf(v) + "/edit?saved=1")
}

// deleteMagnet deletes a lead magnet with everything that belongs to it, once its title is typed.
func (d *Dashboard) deleteMagnet(v *frame.Visit) error {
	m, err := frame.Get[client.LeadMagnet](v, magnetPath(v), nil)
	if err != nil {
		return err
	}
	if v.R.PostFormValue("confirm") != m.Title {
		return d.showEdit(v, http.StatusUnprocessableEntity,
			editForms{remove: frame.Form{Values: v.R.PostForm,
				Wrong: map[string]string{"confirm": v.Say("magnet.delete.wrong")}}})
	}
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, magnetPath(v)+"?cascade=true", nil, nil); err != nil {
		return err
	}
	return v.Redirect("/dashboard")
}

// listVersions returns the newest versions of the lead magnet that the address names.
func listVersions(v *frame.Visit) ([]magnet.Version, error) {
	found, err := frame.Get[client.Page[magnet.Version]](v, magnetPath(v)+"/versions", url.Values{"per_page": {"100"}})
	return found.Data, err
}

// versionRow is a version to choose.
type versionRow struct {
	Words, URL, File string
	Pages            int32
	At               frame.Instant
	Chosen           bool
}

func versionRows(v *frame.Visit, versions []magnet.Version, chosen int) (list []versionRow) {
	for i := range versions {
		one := &versions[i]
		number := strconv.Itoa(int(one.Version))
		list = append(list, versionRow{
			Words: number, URL: v.Here(magnetSelf(v), "version", number) + "#pages", File: one.FileName, Pages: one.PageCount,
			At: v.WhenOf(&one.UploadedAt), Chosen: int(one.Version) == chosen,
		})
	}
	return list
}
