package mail

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"slices"
	"strings"
	texttemplate "text/template"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

//go:embed template
var files embed.FS

// letter is the content of a mail. HTML and plain text have the same words.
type letter struct {
	Subject   string
	Preview   string   // what lists of mails show after the subject
	Heading   string   //
	Before    []string // paragraphs
	Code      string
	Facts     []Fact
	Report    *report  // of a week; nil: none
	Button    string   // what opening URL does
	URL       string   //
	After     []string // paragraphs
	Reason    string   // why the receiver gets this
	ReplyTo   string   // instead of the installation's address
	OneClick  string   // URL that a mail program posts to when the reader has had enough
	MessageID string
	Language  locale.Language // of the words

	Unsubscribe, UnsubscribeWords string
}

// report is the numbers of a week, with the headings of its charts.
type report struct {
	Weekly
	ByDay, Documents, MoreWords string
}

// Pairs returns the tiles in rows of two.
func (r *report) Pairs() (rows [][]Number) { return slices.Collect(slices.Chunk(r.Tiles, 2)) }

// bars is a chart, with the colours of a mail.
type bars struct {
	Bars []Bar
	appearance
}

// Chart gives a template what it draws bars with.
func (l appearance) Chart(list []Bar) bars { return bars{list, l} }

// appearance holds the styles of the HTML, which are those of our pages. Mail programs know no
// custom properties.
type appearance struct {
	letter
	Brand
	Ground, Raised, Ink, Soft, Line, OnAccent web.Pair
	Sans, Mono                                template.CSS
	OutlookBegin, OutlookEnd                  template.HTML // it knows no max-width
}

// renderer makes mails of letters. It is safe for concurrent use.
type renderer struct {
	html *template.Template
	text *texttemplate.Template
	look appearance // without a letter
}

func newRenderer() (*renderer, error) {
	r := &renderer{}
	var err error
	if r.html, err = template.ParseFS(files, "template/mail.html"); err != nil {
		return nil, fmt.Errorf("parse the HTML of mails: %w", err)
	}
	if r.text, err = texttemplate.ParseFS(files, "template/mail.txt"); err != nil {
		return nil, fmt.Errorf("parse the text of mails: %w", err)
	}
	r.look = appearance{
		Ground: web.Token("ground"), Raised: web.Token("raised"), Ink: web.Token("ink"), Soft: web.Token("soft"),
		Line: web.Token("line"), OnAccent: web.Token("on-accent"),
		// Single quotes: the fonts stand in attributes.
		Sans: template.CSS(strings.ReplaceAll(web.Token("sans").Light, `"`, "'")), //nolint:gosec // from our own style sheet
		Mono: template.CSS(strings.ReplaceAll(web.Token("mono").Light, `"`, "'")), //nolint:gosec // from our own style sheet

		OutlookBegin: `<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->`,
		OutlookEnd:   `<!--[if mso]></td></tr></table><![endif]-->`,
	}
	return r, nil
}

func (r *renderer) render(l letter, b Brand) (html, text string, err error) {
	v := r.look
	v.letter, v.Brand = l, b
	var h, t bytes.Buffer
	if err := r.html.Execute(&h, v); err != nil {
		return "", "", fmt.Errorf("write the HTML of a mail: %w", err)
	}
	if err := r.text.Execute(&t, v); err != nil {
		return "", "", fmt.Errorf("write the text of a mail: %w", err)
	}
	return h.String(), t.String(), nil
}
