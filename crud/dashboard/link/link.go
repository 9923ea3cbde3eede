// Package link is the screens of the dashboard about generic links: their list, the form that makes
// and changes one, who came through it from where, and its submissions. Package dashboard says how
// screens are made.
package link

import (
	"embed"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/pkg/api"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

//go:embed web
var webFiles embed.FS

// Screens are the screens about generic links. They are safe for concurrent use.
type Screens struct {
	frame                                     *frame.Frame
	list, form, show, change, campaign, embed *frame.Template
	recipients, submission                    *frame.Template
}

// listStyles are the style sheets of screens with filters.
var listStyles = []string{frame.Cards, frame.FilterStyle, "link.css"}

// New returns the screens in a frame.
func New(f *frame.Frame) (*Screens, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read screens of links: %w", err)
	}
	s := &Screens{frame: f}
	if s.list, err = f.ParseForms(files, []string{"list.html"}, listStyles); err != nil {
		return nil, err
	}
	if s.form, err = f.ParseForms(files, []string{"new.html", "fields.html", "asked.html"},
		[]string{"link.css"}); err != nil {
		return nil, err
	}
	if s.show, err = f.ParseForms(files, []string{"link.html"}, listStyles); err != nil {
		return nil, err
	}
	if s.change, err = f.ParseForms(files, []string{"edit.html", "fields.html", "asked.html"},
		[]string{"link.css"}); err != nil {
		return nil, err
	}
	if s.campaign, err = f.ParseForms(files, []string{"campaigns.html"}, []string{"link.css"}); err != nil {
		return nil, err
	}
	if s.recipients, err = f.ParseForms(files, []string{"recipients.html"}, listStyles); err != nil {
		return nil, err
	}
	if s.submission, err = f.ParseForms(files, []string{"submission.html"}, []string{"link.css"}); err != nil {
		return nil, err
	}
	s.embed, err = f.ParseForms(files, []string{"site.html"}, []string{"link.css"})
	return s, err
}

const (
	screenPath  = "/dashboard/links"
	linksPath   = "/api/v1/generic-links"
	magnetsPath = "/api/v1/lead-magnets"
)

// Register mounts the screens.
func (s *Screens) Register(a *api.API) {
	const one = screenPath + "/{id}"
	s.frame.Mount(a, "GET "+screenPath, s.showList)
	s.frame.MountTransfer(a, "GET "+screenPath+".csv", exportBounds, s.exportList)
	s.frame.Mount(a, "GET "+screenPath+"/new", s.showNew)
	s.frame.Mount(a, "POST "+screenPath+"/new", s.create)
	s.frame.Mount(a, "GET "+one, s.open)
	s.frame.Mount(a, "POST "+one, s.edit)
	s.frame.Mount(a, "GET "+one+"/edit", s.showEdit)
	s.frame.Mount(a, "POST "+one+"/archive", s.archive)
	s.frame.Mount(a, "POST "+one+"/duplicate", s.duplicate)
	s.frame.Mount(a, "POST "+one+"/active", s.activate)
	s.frame.Mount(a, "POST "+one+"/preview", s.preview)
	s.frame.Mount(a, "POST "+one+"/delete", s.remove)
	s.frame.Mount(a, "GET "+one+"/recipients", s.showRecipients)
	s.frame.MountTransfer(a, "POST "+one+"/recipients", importBounds, s.addRecipients)
	s.frame.MountTransfer(a, "POST "+one+"/recipients/send", importBounds, s.sendToRecipients)
	s.frame.MountTransfer(a, "POST "+one+"/recipients/remind", importBounds, s.remindRecipients)
	s.frame.MountTransfer(a, "GET "+one+"/recipients.csv", exportBounds, s.exportRecipients)
	s.frame.Mount(a, "GET "+one+"/campaigns", s.campaigns)
	s.frame.Mount(a, "POST "+one+"/campaigns", s.saveCampaign)
	s.frame.Mount(a, "POST "+one+"/campaigns/{template}", s.changeCampaign)
	s.frame.Mount(a, "POST "+one+"/campaigns/{template}/delete", s.removeCampaign)
	s.frame.Mount(a, "GET "+one+"/site", s.site)
	s.frame.Mount(a, "POST "+one+"/site", s.allow)
	s.frame.MountTransfer(a, "POST "+one+"/picture", pictureBounds, s.uploadPicture)
	s.frame.Mount(a, "POST "+one+"/picture/delete", s.removePicture)
	s.frame.Mount(a, "GET "+one+"/submissions/{submission}", s.sent)
	s.frame.MountTransfer(a, "GET "+one+"/submissions.csv", exportBounds, s.export)
	s.frame.MountTransfer(a, "GET "+one+"/qr", exportBounds, s.qr)
}

// genericLink is a generic link with what screens say of it.
type genericLink struct {
	client.GenericLink
	Fields field.List    `json:"fields"`
	Gate   gate.LinkGate `json:"gate"`
}

// Name is what the account calls the link, or its title, or that of its lead magnet, or its slug.
func (l *genericLink) Name() string {
	switch label := l.Label(); {
	case label != nil:
		return *label
	case l.LeadMagnet != nil:
		return l.LeadMagnet.Title
	default:
		return l.Slug
	}
}

// Full reports whether the page is open, and takes no one more.
func (l *genericLink) Full() bool {
	return l.Active && l.Gate.MaxPeople != nil && l.SubmissionCount >= int64(*l.Gate.MaxPeople)
}

// tag says in a word why visitors cannot use the page; "" if they can.
func (l *genericLink) tag(v *frame.Visit) string {
	switch {
	case l.Archived:
		return v.Say("link.tag.archived")
	case !l.Active:
		return v.Say("link.tag.closed")
	case l.ExpiresAt != nil && l.ExpiresAt.Before(time.Now()):
		return v.Say("link.tag.expired")
	case l.Full():
		return v.Say("link.tag.full")
	default:
		return ""
	}
}

// path returns the API's path of the link that the address names.
func path(v *frame.Visit) string { return linksPath + "/" + url.PathEscape(v.R.PathValue("id")) }

// newKey returns a key by which the API knows a form again that is sent twice.
func newKey() string { return uuid.NewString() }

// once returns the header with the key of a form.
func once(typed url.Values) http.Header {
	if key := typed.Get("once"); key != "" {
		return http.Header{"Idempotency-Key": {key}}
	}
	return nil
}

// missing is the error of questions about a link; those of analytics refuse an id that is none.
func missing(err error) error {
	if problem.Is(err, problem.ValidationError) || problem.Is(err, problem.InvalidParameter) {
		return problem.Missing("generic link")
	}
	return err
}

// self returns the path of its screen.
func self(v *frame.Visit) string { return screenPath + "/" + url.PathEscape(v.R.PathValue("id")) }
