package link

import (
	"errors"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/gate"
	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

// texts are the fields that null clears, and switches those that are true or false.
var (
	texts = []string{"name", "title", "headline_b", "description", "thumbnail_url", "button_text", "consent_text",
		"privacy_url", "redirect_url", "language", "reading_notices"}
	switches = []string{"collect_name", "require_verification", "show_contents", "show_pages", "show_readers"}
)

// fields are the values of a link by the names of the API.
func (l *genericLink) fields() (text map[string]*string, flag map[string]bool) {
	return map[string]*string{
			"name": l.GenericLink.Name, "title": l.Title, "headline_b": l.HeadlineB, "description": l.Description,
			"thumbnail_url": l.ThumbnailURL, "button_text": l.ButtonText,
			"consent_text": l.ConsentText,
			"privacy_url":  l.PrivacyURL, "redirect_url": l.RedirectURL, "language": l.Language,
			"reading_notices": l.ReadingNotices,
		}, map[string]bool{
			"collect_name": l.CollectName, "require_verification": l.RequireVerification,
			"show_contents": l.ShowContents, "show_pages": l.ShowPages,
			"show_readers": l.ShowReaders,
		}
}

// values are the fields of the form that changes a link.
func (l *genericLink) values(v *frame.Visit) url.Values {
	q := url.Values{"slug": {l.Slug}, "etag": {l.ETag}, "expires_at": {lastDay(v, l.ExpiresAt)}}
	if l.AccessDays != nil {
		q.Set(accessDays, strconv.Itoa(*l.AccessDays))
	}
	text, flag := l.fields()
	for name, value := range text {
		if value != nil {
			q.Set(name, *value)
		}
	}
	for name, on := range flag {
		if on {
			q.Set(name, "true")
		}
	}
	setFields(q, l.Fields)
	setGate(q, l.Gate)
	return q
}

const accessDays = "access_expires_after_days"

// lastDay returns the day of the account that an expiry ends, "" for none.
func lastDay(v *frame.Visit, at *time.Time) string {
	if at == nil {
		return ""
	}
	return at.Add(-time.Millisecond).In(v.Period.Zone).Format(time.DateOnly)
}

// addExpiry adds what differs from the link, as numbers and times; l may be a link that is not
// there yet. What cannot be read is left to the API, which says so beside the field.
func (l *genericLink) addExpiry(v *frame.Visit, typed url.Values, body map[string]any) {
	if day := strings.TrimSpace(typed.Get("expires_at")); day != lastDay(v, l.ExpiresAt) {
		body["expires_at"] = nil
		if day != "" {
			body["expires_at"] = day
		}
		if at, ok := v.EndOfDay(day); ok {
			body["expires_at"] = at
		}
	}
	was := ""
	if l.AccessDays != nil {
		was = strconv.Itoa(*l.AccessDays)
	}
	if days := strings.TrimSpace(typed.Get(accessDays)); days != was {
		body[accessDays] = nil
		if days != "" {
			body[accessDays] = days
		}
		if n, err := strconv.Atoi(days); err == nil {
			body[accessDays] = n
		}
	}
}

// formData is the data of "fields" in form.html.
type formData struct {
	frame.Form
	Magnets  []frame.Option // to choose from; none: the link has its lead magnet
	Prefix   string         // what stands before the slug
	Save     string         // address that takes the form
	Cancel   string
	CanNot   string // why no link can be made
	All      bool   // the fields that few need are shown
	Language []frame.Option
	Notices  []frame.Option
	Passcode bool // the link has one
	say      func(key string, args ...any) string
}

func newForm(v *frame.Visit, f frame.Form) formData {
	return formData{
		Form: f, say: v.Say, Prefix: v.URL(web.LandingPath("")),
		Language: frame.Languages(v.Say("link.field.language.account")),
		Notices: []frame.Option{
			{Value: "", Words: v.Say("link.field.notices.account")}, {Value: "each", Words: v.Say("link.field.notices.each")},
			{Value: "daily", Words: v.Say("link.field.notices.daily")}, {Value: "none", Words: v.Say("link.field.notices.none")},
		},
	}
}

// read returns what was typed into a form, with line ends as the API has them.
func read(v *frame.Visit) (url.Values, error) {
	if err := v.R.ParseForm(); err != nil {
		return nil, web.BadForm(err)
	}
	for _, values := range v.R.PostForm {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], "\r\n", "\n")
		}
	}
	return v.R.PostForm, nil
}

// showNew is the form that makes a link. Its address may name the lead magnet.
func (s *Screens) showNew(v *frame.Visit) error {
	return s.drawNew(v, http.StatusOK, frame.Form{Values: url.Values{
		"lead_magnet_id": {v.R.URL.Query().Get("magnet")}, "show_contents": {"true"}, "show_pages": {"true"},
	}})
}

func (s *Screens) drawNew(v *frame.Visit, status int, f frame.Form) error {
	magnets, err := listMagnets(v)
	if err != nil {
		return err
	}
	d := newForm(v, f)
	d.Save, d.Cancel = v.Path(screenPath+"/new"), v.Path(screenPath)
	for _, m := range magnets {
		if m.IsActive {
			d.Magnets = append(d.Magnets, frame.Option{Value: m.ID, Words: m.Title})
		}
	}
	switch {
	case !v.MayWrite():
		d.CanNot = v.Say("link.only_reads")
	case len(d.Magnets) == 0:
		d.CanNot = v.Say("link.new.no_magnet")
	}
	return v.ShowStatus(s.form, status, frame.Screen{Title: v.Say("link.list.new"), Nav: frame.Links, Data: d})
}

// create makes a link.
func (s *Screens) create(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	if movedFields(typed) {
		return s.drawNew(v, http.StatusOK, frame.Form{Values: typed})
	}
	body := map[string]any{"lead_magnet_id": typed.Get("lead_magnet_id"), "fields": finishedFields(typed)}
	for _, name := range append([]string{"slug"}, texts...) {
		if value := typed.Get(name); strings.TrimSpace(value) != "" {
			body[name] = value
		}
	}
	for _, name := range switches {
		body[name] = typed.Get(name) == "true"
	}
	(&genericLink{}).addExpiry(v, typed, body)
	addGate(gate.LinkGate{}, typed, body)
	made, err := frame.Send[genericLink](v, http.MethodPost, linksPath, body, nil)
	if f, ok := rejected(typed, err); ok {
		if p, known := errors.AsType[*problem.Problem](err); known && p.Code == problem.InvalidLeadMagnet {
			f.Wrong, f.Detail = map[string]string{"lead_magnet_id": p.Detail}, ""
		}
		return s.drawNew(v, http.StatusUnprocessableEntity, f)
	}
	if err != nil {
		return err
	}
	return v.Redirect(screenPath + "/" + made.ID + "?created=1")
}

// edit changes what differs from the link, unless someone else changed it since the form was shown.
func (s *Screens) edit(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	if movedFields(typed) {
		return s.drawEdit(v, http.StatusOK, editForms{edit: &frame.Form{Values: typed}})
	}
	now, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return err
	}
	header := http.Header{}
	if tag := typed.Get("etag"); tag != "" {
		header.Set("If-Match", tag)
	}
	_, err = frame.Send[genericLink](v, http.MethodPatch, path(v), now.changes(v, typed), header)
	if p, ok := errors.AsType[*problem.Problem](err); ok && p.Status == http.StatusPreconditionFailed {
		typed.Del("etag") // whoever sends it again has seen this
		return s.drawEdit(v, http.StatusConflict, editForms{edit: &frame.Form{Values: typed, Detail: v.Say("link.stale")}})
	}
	if f, ok := rejected(typed, err); ok {
		return s.drawEdit(v, http.StatusUnprocessableEntity, editForms{edit: &f})
	}
	if err != nil {
		return err
	}
	return v.Redirect(self(v) + "?saved=1")
}

// changes returns the fields that differ from the link. What was emptied is null.
func (l *genericLink) changes(v *frame.Visit, typed url.Values) map[string]any {
	body := map[string]any{}
	if typed.Get("slug") != l.Slug {
		body["slug"] = typed.Get("slug")
	}
	text, flag := l.fields()
	for _, name := range texts {
		value, was := typed.Get(name), text[name]
		switch {
		case strings.TrimSpace(value) == "" && was != nil:
			body[name] = nil
		case strings.TrimSpace(value) != "" && (was == nil || *was != value):
			body[name] = value
		}
	}
	for _, name := range switches {
		if on := typed.Get(name) == "true"; on != flag[name] {
			body[name] = on
		}
	}
	if fields := finishedFields(typed); !reflect.DeepEqual(fields, l.Fields) {
		body["fields"] = fields
	}
	l.addExpiry(v, typed, body)
	addGate(l.Gate, typed, body)
	return body
}

// wrongIn reports whether a form has a message beside one of the fields.
func (d formData) wrongIn(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return d.Message(name) != "" })
}

// MoreOpen reports whether the fields that few need are shown, since one of them has a message.
func (d formData) MoreOpen() bool {
	rare := []string{"name", "button_text", "consent_text", "privacy_url", "redirect_url", "thumbnail_url", "language",
		"reading_notices", "expires_at", accessDays}
	return d.All || d.wrongIn(rare...)
}

// GateOpen reports whether the fields about who may read are shown, since one of them is used or
// has a message.
func (d formData) GateOpen() bool {
	names := []string{allowField, blockField, peopleField, passcodeField, titleField, textField, watermarkField}
	return d.Passcode || d.wrongIn(names...) ||
		slices.ContainsFunc(names, func(name string) bool { return d.Value(name) != "" })
}
