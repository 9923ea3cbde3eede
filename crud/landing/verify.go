package landing

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lodestone/crud/capture"
	"lodestone/crud/mail"
	"lodestone/crud/proof"
	"lodestone/crud/web"
)

// sentData is what the page shows that waits for the verification.
type sentData struct {
	capture.Verification
	Back     string // the landing page
	Here     string
	Title    string
	Again    bool // the mail was sent again just now
	Wrong    string
	WrongKey string // of the text in the catalogue
	Typed    string
	Away     bool
	Preview  bool        // the owner looks at it: nothing is sent
	Valid    string      // for how long the code is valid
	Inbox    *web.Action // the mail program of the address on the web; nil: not known
}

// waiting is the page after the form. Its address is the browser's alone, and opens nothing: a
// mail's link or code does.
func (l *Landing) waiting(w http.ResponseWriter, r *http.Request) error {
	v, o, err := l.byPage(r)
	if err != nil {
		return err
	}
	d := sentData{Again: r.URL.Query().Has("again")}
	return l.writeSent(w, r, http.StatusOK, v, o, d)
}

func (l *Landing) byPage(r *http.Request) (capture.Verification, offered, error) {
	return l.bySecret(r.Context(), r.PathValue("page"), l.deps.Capture.ByPage)
}

func (l *Landing) byLink(r *http.Request) (capture.Verification, offered, error) {
	return l.bySecret(r.Context(), r.PathValue("link"), l.deps.Capture.ByLink)
}

// bySecret returns the verification that a look-up finds for a secret, and the offer that it is
// for.
func (l *Landing) bySecret(ctx context.Context, secret string, find func(context.Context, string) (capture.Verification, error)) (v capture.Verification, o offered, err error) {
	if !secretForm.MatchString(secret) {
		return v, o, web.Error(web.NotFound, web.Brand{})
	}
	v, err = find(ctx, secret)
	if errors.Is(err, capture.ErrUnknown) {
		return v, o, web.Error(web.NotFound, web.Brand{}).Because(err)
	}
	if err != nil {
		return v, o, fmt.Errorf("find verification: %w", err)
	}
	o, err = l.find(ctx, v.Slug)
	return v, o, err
}

func (l *Landing) tryCode(w http.ResponseWriter, r *http.Request) error {
	_, o, err := l.byPage(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	typed := strings.TrimSpace(r.PostForm.Get("code"))
	if l.isProgram(r) {
		v, err := l.deps.Capture.ByPage(r.Context(), r.PathValue("page"))
		if err != nil {
			return fmt.Errorf("find verification: %w", err)
		}
		return l.writeSent(w, r, http.StatusForbidden, v, o, sentData{WrongKey: wrongProgram, Typed: typed})
	}
	if !proof.IsCode(typed) { // costs none of the tries
		v, err := l.deps.Capture.ByPage(r.Context(), r.PathValue("page"))
		if err != nil {
			return fmt.Errorf("find verification: %w", err)
		}
		return l.writeSent(w, r, http.StatusUnprocessableEntity, v, o, sentData{WrongKey: "wrong.code.form", Typed: typed})
	}
	out, v, err := l.deps.Capture.Try(r.Context(), r.PathValue("page"), typed)
	if err != nil {
		return o.errorPage(err)
	}
	if out.Access != "" {
		return l.redirectToDocument(w, r, o, out)
	}
	d := sentData{Typed: typed}
	if v.State == capture.Open {
		d.WrongKey = wrongCode
	}
	return l.writeSent(w, r, http.StatusUnprocessableEntity, v, o, d)
}

// Keys of the texts about a code that is not that of the mail, and about a program that presses the
// button.
const (
	wrongCode    = "wrong.code"
	wrongProgram = "wrong.program"
)

func (l *Landing) again(w http.ResponseWriter, r *http.Request) error {
	v, o, err := l.byPage(r)
	if err != nil {
		return err
	}
	here := l.deps.Pages.Path(web.SentPath(r.PathValue("page")))
	sent, _, err := l.deps.Capture.Resend(r.Context(), r.PathValue("page"))
	if err != nil {
		err = o.errorPage(err)
		if st, ok := errors.AsType[*web.Status](err); ok {
			st.Action = web.Action{Key: "action.back", URL: here}
		}
		return err
	}
	if !sent && v.MayResend {
		return o.errorPage(&capture.Limited{Wait: time.Minute}) // another press was faster
	}
	if sent {
		here += "?again"
	}
	return l.redirect(w, r, here)
}

func (l *Landing) writeSent(w http.ResponseWriter, r *http.Request, status int, v capture.Verification, o offered, d sentData) error {
	t := l.deps.Pages.Texts(r, o.brand())
	d.Verification, d.Back, d.Here, d.Title = v, o.path, l.deps.Pages.Path(web.SentPath(r.PathValue("page"))), o.Title()
	d.Away, d.Preview = o.redirectURL() != "", o.preview
	if o.preview {
		d.Back += previewQuery(r)
		d.Here = d.Back
	}
	d.Valid, d.Inbox = mail.Until(t, "valid", v.Ends.Sub(l.deps.Now())), inboxOf(v.Email)
	if d.WrongKey != "" {
		d.Wrong = t.Say(d.WrongKey)
	}
	if d.WrongKey == wrongCode {
		d.Wrong += " " + t.Say("wrong.code.left", "n", v.Attempts)
	}
	p := web.Page{Title: t.Say("sent.check"), Brand: o.brand(), Texts: t, Policy: web.Policy{Forms: []string{o.redirectURL()}}}
	switch {
	case v.State == capture.Used:
		p.Title = t.Say("sent.done")
	case v.State == capture.Over:
		p.Title = t.Say("sent.over")
	case d.Wrong != "":
		p.Title = t.Say("check", "title", p.Title)
	}
	p.Data = d
	if err := l.sent.Write(w, r, status, p); err != nil {
		return fmt.Errorf("write waiting page: %w", err)
	}
	return nil
}

// askToConfirm is where a mail's link leads. Programs that look at mails follow links, so nothing
// happens until a person presses the button.
func (l *Landing) askToConfirm(w http.ResponseWriter, r *http.Request) error {
	v, o, err := l.byLink(r)
	if err != nil {
		return err
	}
	return l.writeConfirm(w, r, v, o, "")
}

func (l *Landing) confirmed(w http.ResponseWriter, r *http.Request) error {
	v, o, err := l.byLink(r)
	if err != nil {
		return err
	}
	if l.isProgram(r) {
		return l.writeConfirm(w, r, v, o, wrongProgram)
	}
	out, v, err := l.deps.Capture.Confirm(r.Context(), r.PathValue("link"))
	if err != nil {
		return o.errorPage(err)
	}
	if out.Access == "" {
		return l.writeConfirm(w, r, v, o, "")
	}
	return l.redirectToDocument(w, r, o, out)
}

// writeConfirm writes the page with the button, and what was wrong with its press if there is a key
// of a text.
func (l *Landing) writeConfirm(w http.ResponseWriter, r *http.Request, v capture.Verification, o offered, wrong string) error {
	d := sentData{Verification: v, Back: o.path, Here: l.deps.Pages.Path(web.ConfirmPath(r.PathValue("link"))), Title: o.Title(), Away: o.redirectURL() != ""}
	t := l.deps.Pages.Texts(r, o.brand())
	p := web.Page{Title: t.Say("confirm.ask"), Brand: o.brand(), Texts: t, Policy: web.Policy{Forms: []string{o.redirectURL()}}, Data: d}
	status := http.StatusOK
	switch v.State {
	case capture.Used:
		p.Title, status = t.Say("confirm.used"), http.StatusGone
	case capture.Over:
		p.Title, status = t.Say("sent.over"), http.StatusGone
	case capture.Open, capture.Guessed:
		if wrong != "" {
			d.Wrong, status = t.Say(wrong), http.StatusForbidden
			p.Data = d
		}
	}
	if err := l.confirm.Write(w, r, status, p); err != nil {
		return fmt.Errorf("write confirmation page: %w", err)
	}
	return nil
}
