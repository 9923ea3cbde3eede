package landing

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"lodestone/crud/capture"
	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/source"
	"lodestone/pkg/token"
)

// offerData is what the template of the page shows.
type offerData struct {
	Title, Action string
	Long          bool     // the title takes smaller letters
	Lead          string   // the description, if it is short
	About         []string // the paragraphs of a longer one
	Facts         []string // such as "PDF", "12 pages"
	Account       string
	Cover         *cover
	Share         *picture.Picture
	Contents      []chapter
	Inside        []picture.Picture
	Author, Bio   string
	Names         bool
	Verify        bool // a mail comes first
	Away          bool // the form leads to a page of the owner's
	Button        string
	Consent       string
	ConsentSeen   string
	Privacy       string
	Preview       bool
	Form          capture.Form
	UTM           map[string]string
	Wrong         map[string]string
	First         string // the first field that is wrong
	Count         *count // nil: nothing is counted
}

type cover struct {
	URL, SrcSet, Alt string
	Width, Height    int // 0: unknown
	Wide             bool
}

// count is how a view of the page is counted.
type count struct {
	Views, Pixel, Token string
	Page                string // its address, as it is recorded
}

// maxLead is the length of a description that stands above the form, in bytes: three lines of a
// phone.
const maxLead = 160

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
	var form capture.Form
	if !source.Withheld(r.Header) {
		form.Origin = capture.ReadOrigin(r.URL.RawQuery, referrer)
	}
	return l.writeOffer(w, r, http.StatusOK, o, form, nil)
}

// errorPage returns the page of an error that the visitor cannot correct in the form.
func (o offered) errorPage(err error) error {
	if limited, ok := errors.AsType[*capture.Limited](err); ok {
		st := web.Error(web.TooManyRequests, o.brand())
		st.Wait, st.Action = limited.Wait, web.Action{Key: "action.page", URL: o.path}
		return st
	}
	if capture.IsGone(err) {
		return web.Error(web.Gone, o.brand())
	}
	return err
}

// redirectToDocument leads to the personal link, or to where the owner wants visitors to go
// instead: then the link comes by mail.
func (l *Landing) redirectToDocument(w http.ResponseWriter, r *http.Request, o offered, out capture.Outcome) error {
	if to := o.redirectURL(); to != "" {
		return l.redirect(w, r, to)
	}
	return l.redirect(w, r, l.deps.Pages.Path(web.ReadingPath(out.Access)))
}

// redirectURL returns the owner's page after the form, or "".
func (o offered) redirectURL() string { return capture.Redirect(o.GenericLink) }

// redirect answers a form: the browser asks for another page, so that going back or reloading sends
// nothing again.
func (l *Landing) redirect(w http.ResponseWriter, _ *http.Request, to string) error {
	w.Header().Set("Location", to)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "same-origin")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

// previewQuery returns the query of a preview, for pages that belong to it.
func previewQuery(r *http.Request) string {
	return "?" + url.Values{"preview": {r.URL.Query().Get("preview")}}.Encode()
}

func (l *Landing) writeOffer(w http.ResponseWriter, r *http.Request, status int, o offered, form capture.Form, wrong capture.Invalid) error {
	g, t := o.GenericLink, l.deps.Pages.Texts(r, o.brand())
	d := offerData{
		Title: o.Title(), Long: long(o.Title()), Action: o.path, Account: o.AccountName, Names: g.CollectName, Verify: g.RequireVerification,
		Away: o.redirectURL() != "", ConsentSeen: capture.ConsentVersion(g), Preview: o.preview, Form: form, UTM: form.UTM, Wrong: wrong.In(t),
		Facts: facts(o, t), Button: button(o, t), Share: o.pictures.Preview,
	}
	if o.preview {
		d.Action += previewQuery(r)
	}
	if g.ConsentText != nil {
		d.Consent = *g.ConsentText
	}
	if g.PrivacyURL != nil {
		d.Privacy = *g.PrivacyURL
	}
	if text := strings.TrimSpace(o.Description()); len(text) <= maxLead && !strings.Contains(text, "\n") {
		d.Lead = text
	} else {
		d.About = paragraphs(text)
	}
	for _, field := range []string{capture.FieldTrap, capture.FieldEmail, capture.FieldName, capture.FieldConsent} {
		if wrong[field] != "" && d.First == "" {
			d.First = field
		}
	}
	p := web.Page{
		Title: d.Title, Description: summary(o.Description()), Canonical: l.deps.Pages.URL(web.LandingPath(g.Slug)), Index: !o.preview && status == http.StatusOK, Class: "offer",
		Brand: o.brand(), Texts: t, Keep: !o.preview && status == http.StatusOK, Policy: web.Policy{Forms: []string{o.redirectURL()}},
	}
	if len(wrong) > 0 {
		p.Title = t.Say("check", "title", p.Title)
	}
	d.Cover = o.cover(t)
	d.Contents, d.Inside = o.contents(), o.inside()
	if o.Author != nil {
		d.Author = *o.Author
	}
	if o.AuthorAbout != nil {
		d.Bio = *o.AuthorAbout
	}
	if d.Cover != nil && g.ThumbnailURL != nil {
		p.Policy.Images = append(p.Policy.Images, *g.ThumbnailURL)
		if web.Origin(*g.ThumbnailURL) == "" {
			d.Cover = nil // no policy can name it
		}
	}
	// A page that is shown again with a message is the same load, as a visitor sees it.
	if l.deps.Collector != "" && !o.preview && status == http.StatusOK && r.Method != http.MethodPost {
		t := l.deps.Tokens.Sign(token.Claims{AccountID: g.AccountID, LeadMagnetID: g.LeadMagnetID, GenericLinkID: g.ID, MagnetVersion: uint32(o.FileVersion)})
		d.Count = &count{Views: l.deps.Collector + "/v1/link-views", Pixel: l.deps.Collector + "/v1/pixel.gif?" + url.Values{"t": {t}}.Encode(), Token: t, Page: l.countedPage(g.Slug, form.UTM)}
		p.Policy.Connect = []string{l.deps.Collector}
		p.Policy.Images = append(p.Policy.Images, l.deps.Collector)
	}
	p.Data = d
	if err := l.offer.Write(w, r, status, p); err != nil {
		return fmt.Errorf("write landing page: %w", err)
	}
	return nil
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

func (o offered) cover(t *web.Texts) *cover {
	p := o.pictures.Thumbnail
	if p == nil {
		return nil
	}
	alt := "landing.alt.first"
	if p.Uploaded {
		alt = "landing.alt.cover"
	}
	c := &cover{URL: p.URL, SrcSet: p.SrcSet(), Alt: t.Say(alt, "title", o.Title()), Width: p.Width, Height: p.Height, Wide: p.Width > p.Height}
	if p.Path != "" {
		c.URL = p.Path
	}
	return c
}

// button returns words that say what the press does.
func button(o offered, t *web.Texts) string {
	switch {
	case o.GenericLink.ButtonText != nil:
		return *o.GenericLink.ButtonText
	case o.GenericLink.RequireVerification || o.redirectURL() != "":
		return t.Say("landing.send")
	default:
		return t.Say("landing.read")
	}
}

// facts says what one gets.
func facts(o offered, t *web.Texts) (list []string) {
	if o.ContentType != nil && *o.ContentType == "application/pdf" {
		list = append(list, "PDF")
	}
	if o.PageCount != nil {
		list = append(list, t.Say("facts.pages", "n", *o.PageCount))
	}
	if o.FileSize != nil {
		list = append(list, size(*o.FileSize, t))
	}
	return append(list, o.reach.facts(t)...)
}

// size says a number of bytes as file managers do.
func size(bytes int64, t *web.Texts) string {
	switch {
	case bytes < 1000:
		return t.Say("size.bytes", "n", bytes)
	case bytes < 1000*1000-500:
		return t.Say("size.kb", "n", (bytes+500)/1000)
	default:
		return t.Say("size.mb", "n", float64(bytes)/1e6)
	}
}

// long reports whether a title would take more lines beside the cover than a phone has for it, or
// has a word that would not fit into one.
func long(title string) bool {
	const lines, word = 64, 16 // characters
	if utf8.RuneCountInString(title) > lines {
		return true
	}
	return slices.ContainsFunc(strings.Fields(title), func(w string) bool { return utf8.RuneCountInString(w) > word })
}

func paragraphs(text string) (list []string) {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// maxSummary is what search engines and previews show of a description, in characters.
const maxSummary = 200

func summary(text string) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) <= maxSummary {
		return string(runes)
	}
	cut := string(runes[:maxSummary-1])
	if i := strings.LastIndexByte(cut, ' '); i > maxSummary/2 {
		cut = cut[:i]
	}
	return cut + "…"
}
