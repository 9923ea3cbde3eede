package mail

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"lodestone/crud/web"
	"lodestone/pkg/api"
)

//go:embed web
var webFiles embed.FS

// MailboxPath is where the mailbox is shown.
const MailboxPath = "/dev/mailbox"

// MailboxPages shows a mailbox.
type MailboxPages struct {
	mailbox *FileMailbox
	site    *web.Site
	panes   *web.Template
}

// NewMailboxPages returns the pages of a mailbox. The site has to be private, since mails hold
// links that open documents and codes that confirm addresses.
func NewMailboxPages(m *FileMailbox, site *web.Site) (*MailboxPages, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the pages of the mailbox: %w", err)
	}
	p := &MailboxPages{mailbox: m, site: site}
	p.panes, err = site.Parse(files, "mailbox.html", "mailbox.css")
	return p, err
}

// Register mounts the pages.
func (p *MailboxPages) Register(a *api.API) {
	p.site.Mount(a, "GET "+MailboxPath, p.showList)
	p.site.Mount(a, "GET "+MailboxPath+".json", p.showJSON)
	p.site.Mount(a, "GET "+MailboxPath+"/{id}", p.showMail)
	p.site.Mount(a, "GET "+MailboxPath+"/{id}/html", p.showHTML)
	p.site.Mount(a, "GET "+MailboxPath+"/{id}/raw", p.showRaw)
}

func (p *MailboxPages) showList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, nil)
}

func (p *MailboxPages) showMail(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	m := viewOf(r.PathValue("id"), found)
	return p.show(w, r, &m)
}

// show shows the list, with the mail that is open beside it.
func (p *MailboxPages) show(w http.ResponseWriter, r *http.Request, open *mailView) error {
	mails, err := p.mailbox.list("", mailboxSize)
	if err != nil {
		return err
	}
	shown := web.Page{Title: "Mailbox", Class: "mailbox", Policy: web.Policy{Scripts: true}, Data: struct {
		Mails []mailView
		Open  *mailView // nil: none is
	}{mails, open}}
	if open != nil {
		shown.Title, shown.Policy.Frames = open.Subject, true
	}
	return p.panes.Write(w, r, http.StatusOK, shown)
}

func (p *MailboxPages) find(r *http.Request) (RenderedMail, error) {
	m, err := p.mailbox.get(r.PathValue("id"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, &web.Status{Kind: web.NotFound, Action: web.Action{Words: "Open the mailbox", URL: MailboxPath}}
	}
	return m, err
}

// showHTML serves a mail's HTML for a frame, in which nothing runs, nothing is loaded, and links
// open in a window of their own.
func (p *MailboxPages) showHTML(w http.ResponseWriter, r *http.Request) error {
	m, err := p.find(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "SAMEORIGIN")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	_, err = w.Write([]byte(newWindows(m.HTML)))
	return ignored(err)
}

// newWindows makes the links of a document open windows. A frame's own window would show the page
// in it.
func newWindows(html string) string {
	return strings.ReplaceAll(html, "<a ", `<a target="_blank" rel="noopener noreferrer" `)
}

func (p *MailboxPages) showRaw(w http.ResponseWriter, r *http.Request) error {
	m, err := p.find(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	_, err = w.Write(m.Source)
	return ignored(err)
}

// showJSON answers with the mails, the newest first: all, those to one address (?to=), or the first
// of them (?limit=).
func (p *MailboxPages) showJSON(w http.ResponseWriter, r *http.Request) error {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = mailboxSize
	}
	mails, err := p.mailbox.list(r.URL.Query().Get("to"), limit)
	if err != nil {
		return err
	}
	answer := struct {
		Mails []mailView `json:"mails"`
	}{mails}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	return ignored(json.NewEncoder(w).Encode(answer))
}

// ignored drops the error of a client that closed its connection.
func ignored(error) error { return nil }
