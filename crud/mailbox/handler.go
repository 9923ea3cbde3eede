package mailbox

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	letters "lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

//go:embed web
var webFiles embed.FS

// Path is where the mailbox is shown.
const Path = "/dev/mailbox"

// Pages shows a mailbox.
type Pages struct {
	mailbox *Mailbox
	site    *web.Site
	panes   *web.Template
}

// NewPages returns the pages of a mailbox. The site has to be private, since mails hold links that
// open documents and codes that confirm addresses.
func NewPages(m *Mailbox, site *web.Site) (*Pages, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the pages of the mailbox: %w", err)
	}
	p := &Pages{mailbox: m, site: site}
	p.panes, err = site.Parse(files, "mailbox.html", "mailbox.css")
	return p, err
}

// Register mounts the pages.
func (p *Pages) Register(a *api.API) {
	p.site.Mount(a, "GET "+Path, p.showList)
	p.site.Mount(a, "GET "+Path+".json", p.showJSON)
	p.site.Mount(a, "GET "+Path+"/{id}", p.showMail)
	p.site.Mount(a, "GET "+Path+"/{id}/html", p.showHTML)
	p.site.Mount(a, "GET "+Path+"/{id}/raw", p.showRaw)
}

func (p *Pages) showList(w http.ResponseWriter, r *http.Request) error {
	return p.show(w, r, nil)
}

func (p *Pages) showMail(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	m := view(r.PathValue("id"), found)
	return p.show(w, r, &m)
}

// show shows the list, with the mail that is open beside it.
func (p *Pages) show(w http.ResponseWriter, r *http.Request, open *Mail) error {
	mails, err := p.mailbox.list("", Keep)
	if err != nil {
		return err
	}
	shown := web.Page{Title: "Mailbox", Class: "mailbox", Policy: web.Policy{Scripts: true}, Data: struct {
		Mails []Mail
		Open  *Mail // nil: none is
	}{mails, open}}
	if open != nil {
		shown.Title, shown.Policy.Frames = open.Subject, true
	}
	return p.panes.Write(w, r, http.StatusOK, shown)
}

func (p *Pages) find(r *http.Request) (letters.Rendered, error) {
	m, err := p.mailbox.get(r.PathValue("id"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, &web.Status{Kind: web.NotFound, Action: web.Action{Words: "Open the mailbox", URL: Path}}
	}
	return m, err
}

// showHTML serves a mail's HTML for a frame, in which nothing runs, nothing is loaded, and links
// open in a window of their own.
func (p *Pages) showHTML(w http.ResponseWriter, r *http.Request) error {
	m, err := p.find(r)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox")
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

func (p *Pages) showRaw(w http.ResponseWriter, r *http.Request) error {
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
func (p *Pages) showJSON(w http.ResponseWriter, r *http.Request) error {
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit < 1 {
		limit = Keep
	}
	mails, err := p.mailbox.list(r.URL.Query().Get("to"), limit)
	if err != nil {
		return err
	}
	answer := struct {
		Mails []Mail `json:"mails"`
	}{mails}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	return ignored(json.NewEncoder(w).Encode(answer))
}

// ignored drops the error of a client that closed its connection.
func ignored(error) error { return nil }
