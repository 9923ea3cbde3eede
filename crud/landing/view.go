package landing

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"lodestone/crud/capture"
	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/pdf"
	"lodestone/crud/picture"
	"lodestone/crud/web"
)

// offerData is the data of the page's template.
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
	Fields        []field.Input
	Verify        bool // a mail comes first
	Away          bool // the form leads to a page of the owner's
	Button        string
	Consent       string
	ConsentSeen   string
	Privacy       string
	Passcode      bool       // the form asks for one
	Agreement     *agreement // nil: there is none
	Preview       bool
	Form          capture.Form
	UTM           map[string]string
	Wrong         map[string]string
	First         string // the first field that is wrong
	Headline      string // which of two this is: a or b; "": there is one
	Count         *count // nil: nothing is counted
}

// agreement is a text that visitors must accept.
type agreement struct {
	Title, Version string
	Text           []string // its paragraphs
}

func agreementOf(o offer, t *web.Texts) *agreement {
	g := o.GenericLink
	if g.AgreementText == nil {
		return nil
	}
	return &agreement{cmp.Or(textOf(g.AgreementTitle), t.Say("landing.agreement")), gate.AgreementVersion(g),
		paragraphs(*g.AgreementText)}
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

// viewOf returns what the page shows of an offer, with a form as it was filled in and what is wrong
// in it. Whether and how the page is counted is not part of it.
func viewOf(o offer, form capture.Form, wrong capture.Invalid, t *web.Texts) offerData {
	g := o.GenericLink
	d := offerData{
		Title: o.Title(), Long: long(o.Title()), Action: o.path, Account: o.AccountName, Names: g.CollectName,
		Fields: o.fields.Inputs(t),
		Verify: g.RequireVerification,
		Away:   o.redirectURL() != "", Consent: textOf(g.ConsentText), ConsentSeen: capture.ConsentVersion(g),
		Privacy: textOf(g.PrivacyURL), Passcode: g.PasscodeHash != nil, Agreement: agreementOf(o, t),
		Preview: o.preview, Form: form, UTM: form.UTM, Wrong: wrong.In(t, g, o.fields),
		Facts: facts(o, t), Button: button(o, t),
		Cover: o.cover(t), Share: o.pictures.Preview, Contents: o.contents(), Inside: o.inside(),
		Author: textOf(o.Author), Bio: textOf(o.AuthorAbout),
	}
	if text := strings.TrimSpace(o.Description()); len(text) <= maxLead && !strings.Contains(text, "\n") {
		d.Lead = text
	} else {
		d.About = paragraphs(text)
	}
	switch {
	case g.HeadlineB == nil:
	case o.second:
		d.Headline = "b"
	default:
		d.Headline = "a"
	}
	names := []string{capture.FieldTrap, capture.FieldEmail, capture.FieldName}
	for _, in := range d.Fields {
		names = append(names, in.Name)
	}
	for _, name := range append(names, capture.FieldPasscode, capture.FieldAgreement, capture.FieldConsent) {
		if wrong[name] != "" && d.First == "" {
			d.First = name
		}
	}
	return d
}

// textOf returns an optional text, or "".
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (o offer) cover(t *web.Texts) *cover {
	p, elsewhere := o.pictures.Thumbnail, o.GenericLink.ThumbnailURL
	if p == nil || elsewhere != nil && web.Origin(*elsewhere) == "" { // which no policy can name
		return nil
	}
	alt := "landing.alt.first"
	if p.Uploaded {
		alt = "landing.alt.cover"
	}
	c := &cover{URL: p.URL, SrcSet: p.SrcSet(), Alt: t.Say(alt, "title", o.Title()), Width: p.Width,
		Height: p.Height, Wide: p.Width > p.Height}
	if p.Path != "" {
		c.URL = p.Path
	}
	return c
}

// button returns words that say what the press does.
func button(o offer, t *web.Texts) string {
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
func facts(o offer, t *web.Texts) (list []string) {
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

// maxSummary bounds the description for search engines and previews, in characters.
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

const (
	// maxChapters is how many entries of a table of contents a page shows.
	maxChapters = 16
	// fewChapters is how many entries of the first level are a table of contents by themselves.
	fewChapters = 4
)

// chapter is a line of the table of contents.
type chapter struct {
	Title string
	Page  int
	Part  bool // of the one before
}

// contents returns the document's table of contents as the page shows it: its chapters, and their
// parts if there are few chapters.
func (o offer) contents() (list []chapter) {
	if !o.GenericLink.ShowContents || o.Outline == nil {
		return nil
	}
	var entries []pdf.Entry
	if err := json.Unmarshal(o.Outline, &entries); err != nil {
		return nil // a later release wrote it
	}
	chapters := 0
	for _, e := range entries {
		if e.Level == 1 {
			chapters++
		}
	}
	for _, e := range entries {
		if (e.Level == 1 || chapters < fewChapters) && len(list) < maxChapters {
			list = append(list, chapter{e.Title, e.Page, e.Level > 1})
		}
	}
	return list
}

// inside returns the pictures of inside pages as the page shows them.
func (o offer) inside() []picture.Picture {
	if !o.GenericLink.ShowPages {
		return nil
	}
	return o.pictures.Inside
}
