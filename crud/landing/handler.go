package landing

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"lodestone/crud/capture"
	"lodestone/crud/link"
	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/source"
)

func (l *Landing) show(w http.ResponseWriter, r *http.Request) error {
	if l.redirectLowercase(w, r) {
		return nil
	}
	o, err := l.open(r)
	if err != nil {
		return err
	}
	referrer := r.Referer()
	if web.Origin(referrer) == web.Origin(l.deps.Site) {
		referrer = "" // from a page of ours
	}
	o.second = o.GenericLink.HeadlineB != nil && l.seesSecond(r, o.GenericLink.ID)
	var form capture.Form
	if !source.Withheld(r.Header) {
		form.Origin = capture.ReadOrigin(o.fields, r.URL.RawQuery, referrer)
	}
	return l.writeOffer(w, r, http.StatusOK, o, form, nil)
}

func (l *Landing) submit(w http.ResponseWriter, r *http.Request) error {
	o, err := l.open(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	form := capture.ReadForm(r.PostForm)
	o.second = form.HeadlineB != nil && *form.HeadlineB
	if source.Withheld(r.Header) {
		form.Origin = capture.Origin{}
	}
	form.Language, form.Bot = l.deps.Pages.Texts(r, o.brand()).Language, l.isProgram(r)
	if o.preview {
		return l.try(w, r, o, form)
	}
	out, err := l.deps.Capture.Submit(r.Context(), o.GenericLink, form, l.deps.Addresses.Client(r))
	if wrong, ok := errors.AsType[capture.Invalid](err); ok {
		form.Trap = ""
		return l.writeOffer(w, r, http.StatusUnprocessableEntity, o, form, wrong)
	}
	if err != nil {
		return o.errorPage(err)
	}
	if out.Page != "" {
		return l.redirect(w, r, l.deps.Pages.Path(web.SentPath(out.Page)))
	}
	return l.redirectToDocument(w, r, o, out)
}

// try answers the form of a preview with what a visitor would see next. Nothing is stored, mailed
// or counted.
func (l *Landing) try(w http.ResponseWriter, r *http.Request, o offer, form capture.Form) error {
	seen := capture.Verification{Email: r.PostForm.Get(capture.FieldEmail), Ends: l.deps.Now().Add(previewTime)}
	if r.PostForm.Has("code") {
		typed := strings.TrimSpace(r.PostForm.Get("code"))
		if !proof.IsCode(typed) {
			return l.writeSent(w, r, http.StatusUnprocessableEntity, seen, o,
				sentData{WrongKey: "wrong.code.form", Typed: typed})
		}
		seen.State = capture.Used
		return l.writeSent(w, r, http.StatusOK, seen, o, sentData{})
	}
	err := l.deps.Capture.Check(form, o.GenericLink)
	if wrong, ok := errors.AsType[capture.Invalid](err); ok {
		return l.writeOffer(w, r, http.StatusUnprocessableEntity, o, form, wrong)
	}
	if err != nil {
		return err
	}
	if !o.GenericLink.RequireVerification {
		return l.writeOffer(w, r, http.StatusOK, o, form, nil)
	}
	return l.writeSent(w, r, http.StatusOK, seen, o, sentData{})
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

func (l *Landing) tryCode(w http.ResponseWriter, r *http.Request) error {
	v, o, err := l.byPage(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	typed := strings.TrimSpace(r.PostForm.Get("code"))
	if l.isProgram(r) {
		return l.writeSent(w, r, http.StatusForbidden, v, o, sentData{WrongKey: wrongProgram, Typed: typed})
	}
	if !proof.IsCode(typed) { // costs none of the tries
		return l.writeSent(w, r, http.StatusUnprocessableEntity, v, o, sentData{WrongKey: "wrong.code.form", Typed: typed})
	}
	out, v, err := l.deps.Capture.Try(r.Context(), r.PathValue("page"), typed)
	if err != nil {
		return l.notTaken(w, r, v, o, err)
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
		err = l.notTaken(w, r, v, o, err)
		if st, ok := errors.AsType[*web.Status](err); ok {
			st.Action = web.Action{Key: "action.back", URL: here}
		}
		return err
	}
	if !sent && v.MayResend {
		return o.errorPage(&capture.LimitError{Wait: time.Minute}) // another press was faster
	}
	if sent {
		here += "?again"
	}
	return l.redirect(w, r, here)
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
		return l.notTaken(w, r, v, o, err)
	}
	if out.Access == "" {
		return l.writeConfirm(w, r, v, o, "")
	}
	return l.redirectToDocument(w, r, o, out)
}

// notTaken answers a visitor whom the link does not take any more with its form, where another
// address can be entered. Other errors are those of errorPage.
func (l *Landing) notTaken(w http.ResponseWriter, r *http.Request, v capture.Verification, o offer, err error) error {
	if wrong, ok := errors.AsType[capture.Invalid](err); ok {
		return l.writeOffer(w, r, http.StatusUnprocessableEntity, o, capture.Form{Email: v.Email}, wrong)
	}
	return o.errorPage(err)
}

// errorPage returns the page of an error that the visitor cannot correct in the form.
func (o offer) errorPage(err error) error {
	if limited, ok := errors.AsType[*capture.LimitError](err); ok {
		st := web.Error(web.TooManyRequests, web.Brand{})
		st.Wait, st.Action = limited.Wait, web.Action{Key: "action.page", URL: o.path}
		return st
	}
	if capture.IsFull(err) {
		return web.Error(web.Full, web.Brand{})
	}
	if capture.IsGone(err) {
		return web.Error(web.Gone, o.brand()) // its brand cannot be read again
	}
	return err
}

// redirectToDocument leads to the personal link, or to where the owner wants visitors to go
// instead: then the link comes by mail.
func (l *Landing) redirectToDocument(w http.ResponseWriter, r *http.Request, o offer, out capture.Outcome) error {
	if to := o.redirectURL(); to != "" {
		return l.redirect(w, r, to)
	}
	return l.redirect(w, r, l.deps.Pages.Path(web.ReadingPath(out.Access)))
}

// redirect answers a form: the browser asks for another page, so that going back or reloading sends
// nothing again.
func (l *Landing) redirect(w http.ResponseWriter, _ *http.Request, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// isProgram reports whether a request is that of a program that says so. Programs that look at
// mails press buttons as well, and cannot confirm an address for a person.
func (l *Landing) isProgram(r *http.Request) bool {
	return l.deps.Bots.Classify(bot.RequestOf(r)) != ""
}

// redirectTrailingSlash redirects from an address with a slash at its end to the page.
func (l *Landing) redirectTrailingSlash(w http.ResponseWriter, r *http.Request) error {
	slug := r.PathValue("slug")
	if !link.SlugForm.MatchString(slug) {
		return web.Error(web.NotFound, web.Brand{})
	}
	http.Redirect(w, r, l.deps.Pages.Path(web.LandingPath(slug))+query(r), http.StatusMovedPermanently) //nolint:gosec // to a path of ours: the slug has been checked
	return nil
}

func query(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// redirectLowercase redirects from a slug with capitals, with which phones begin words, to the
// page.
func (l *Landing) redirectLowercase(w http.ResponseWriter, r *http.Request) bool {
	slug := r.PathValue("slug")
	small := strings.ToLower(slug)
	if small == slug || !link.SlugForm.MatchString(small) {
		return false
	}
	http.Redirect(w, r, l.deps.Pages.Path(web.LandingPath(small))+query(r), http.StatusMovedPermanently) //nolint:gosec // to a path of ours: the slug has been checked
	return true
}
