package landing

import (
	"errors"
	"net/http"
	"strings"

	"lodestone/crud/capture"
	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/pkg/source"
)

func (l *Landing) submit(w http.ResponseWriter, r *http.Request) error {
	o, err := l.open(r)
	if err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	form := capture.ReadForm(r.PostForm)
	if source.Withheld(r.Header) {
		form.Origin = capture.Origin{}
	}
	form.Language, form.Bot = l.deps.Pages.Texts(r, o.brand()).Language, l.isProgram(r)
	if o.preview {
		return l.try(w, r, o, form)
	}
	out, err := l.deps.Capture.Submit(r.Context(), o.link(), form, l.deps.Addresses.Client(r))
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
func (l *Landing) try(w http.ResponseWriter, r *http.Request, o offered, form capture.Form) error {
	seen := capture.Verification{Email: r.PostForm.Get(capture.FieldEmail), Ends: l.deps.Now().Add(previewTime)}
	if r.PostForm.Has("code") {
		typed := strings.TrimSpace(r.PostForm.Get("code"))
		if !proof.IsCode(typed) {
			return l.writeSent(w, r, http.StatusUnprocessableEntity, seen, o, sentData{WrongKey: "wrong.code.form", Typed: typed})
		}
		seen.State = capture.Used
		return l.writeSent(w, r, http.StatusOK, seen, o, sentData{})
	}
	err := l.deps.Capture.Check(form, o.link())
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
