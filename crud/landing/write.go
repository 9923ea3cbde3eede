package landing

import (
	"fmt"
	"net/http"
	"net/url"

	"lodestone/crud/capture"
	"lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/pkg/token"
)

// writeOffer writes the page of an offer, with a form as it was filled in and what is wrong in it.
func (l *Landing) writeOffer(w http.ResponseWriter, r *http.Request, status int, o offer, form capture.Form,
	wrong capture.Invalid) error {
	o, err := l.withPictures(r.Context(), o)
	if err != nil {
		return err
	}
	if o, err = l.withReach(r.Context(), o); err != nil {
		return err
	}
	g, t := o.GenericLink, l.deps.Pages.Texts(r, o.brand())
	d, public := viewOf(o, form, wrong, t), !o.preview && status == http.StatusOK
	p := web.Page{
		Title: d.Title, Description: summary(o.Description()), Canonical: l.deps.Pages.URL(web.LandingPath(g.Slug)),
		Index: public, Class: "offer",
		Brand: o.brand(), Texts: t, Keep: public,
		Policy: web.Policy{Forms: []string{o.redirectURL()}, Framed: o.preview},
	}
	if len(wrong) > 0 {
		p.Title = t.Say("check", "title", p.Title)
	}
	if o.preview {
		d.Action += previewQuery(r)
	}
	if d.Cover != nil && g.ThumbnailURL != nil {
		p.Policy.Images = append(p.Policy.Images, *g.ThumbnailURL)
	}
	// A page that is shown again with a message is the same load, as a visitor sees it.
	if l.deps.Collector != "" && public && r.Method != http.MethodPost {
		d.Count = l.countOf(o, form.UTM)
		p.Policy.Connect = []string{l.deps.Collector}
		p.Policy.Images = append(p.Policy.Images, l.deps.Collector)
	}
	p.Data = d
	if err := l.offer.Write(w, r, status, p); err != nil {
		return fmt.Errorf("write landing page: %w", err)
	}
	return nil
}

// countOf returns how a view of a page is counted.
func (l *Landing) countOf(o offer, utm map[string]string) *count {
	g, collector := o.GenericLink, l.deps.Collector
	t := l.deps.Tokens.Sign(token.Claims{AccountID: g.AccountID, LeadMagnetID: g.LeadMagnetID, GenericLinkID: g.ID,
		MagnetVersion: uint32(o.FileVersion)})
	return &count{
		Views: collector + "/v1/link-views", Pixel: collector + "/v1/pixel.gif?" + url.Values{"t": {t}}.Encode(), Token: t,
		Page: l.countedPage(g.Slug, utm),
	}
}

// countedPage returns the address of a page as it is recorded: of the query, the campaign alone,
// since the rest may hold anything.
func (l *Landing) countedPage(slug string, utm map[string]string) string {
	campaign := url.Values{}
	for name, value := range utm {
		campaign.Set(name, value)
	}
	address := l.deps.Pages.URL(web.LandingPath(slug))
	if len(campaign) > 0 {
		address += "?" + campaign.Encode()
	}
	return address
}

// sentData is the data of the page that waits for the verification.
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

func (l *Landing) writeSent(w http.ResponseWriter, r *http.Request, status int, v capture.Verification,
	o offer, d sentData) error {
	o, err := l.withPictures(r.Context(), o)
	if err != nil {
		return err
	}
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
	p := web.Page{Title: t.Say("sent.check"), Brand: o.brand(), Texts: t,
		Policy: web.Policy{Forms: []string{o.redirectURL()}, Framed: o.preview}}
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

// writeConfirm writes the page with the button, and what was wrong with its press if there is a key
// of a text.
func (l *Landing) writeConfirm(w http.ResponseWriter, r *http.Request, v capture.Verification,
	o offer, wrong string) error {
	o, err := l.withPictures(r.Context(), o)
	if err != nil {
		return err
	}
	d := sentData{Verification: v, Back: o.path, Here: l.deps.Pages.Path(web.ConfirmPath(r.PathValue("link"))),
		Title: o.Title(), Away: o.redirectURL() != ""}
	t := l.deps.Pages.Texts(r, o.brand())
	p := web.Page{Title: t.Say("confirm.ask"), Brand: o.brand(), Texts: t,
		Policy: web.Policy{Forms: []string{o.redirectURL()}}, Data: d}
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

// previewQuery returns the query of a preview, for pages that belong to it.
func previewQuery(r *http.Request) string {
	return "?" + url.Values{"preview": {r.URL.Query().Get("preview")}}.Encode()
}
