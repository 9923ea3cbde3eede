package mailbox

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"lodestone/crud/mail"
	"lodestone/crud/page"
	"lodestone/pkg/api"
)

//go:embed web
var web embed.FS

// Path is where the mailbox is shown.
const Path = "/dev/mailbox"

// pages shows a mailbox.
type pages struct {
	mailbox   *Mailbox
	list, one *page.Template
}

// Register mounts the mailbox. private guards each of its pages, since mails hold links that open documents and codes that
// confirm addresses.
func (m *Mailbox) Register(a *api.API, site string, private func(*page.Site, http.Handler) http.Handler, log *slog.Logger) error {
	files, err := fs.Sub(web, "web")
	if err != nil {
		return fmt.Errorf("read the pages of the mailbox: %w", err)
	}
	frame, err := page.New(page.Deps{Site: site, Log: log})
	if err != nil {
		return err
	}
	p := &pages{mailbox: m}
	if p.list, err = frame.Parse(files, "list.html", "mailbox.css"); err != nil {
		return err
	}
	if p.one, err = frame.Parse(files, "mail.html", "mailbox.css"); err != nil {
		return err
	}
	for pattern, show := range map[string]func(http.ResponseWriter, *http.Request) error{
		"GET " + Path:                p.showList,
		"GET " + Path + ".json":      p.showJSON,
		"GET " + Path + "/{id}":      p.showMail,
		"GET " + Path + "/{id}/html": p.showHTML,
		"GET " + Path + "/{id}/raw":  p.showRaw,
	} {
		a.Handle(pattern, private(frame, frame.Handler(show)))
	}
	return nil
}

func (p *pages) showList(w http.ResponseWriter, r *http.Request) error {
	mails, err := p.mailbox.list("", Keep)
	if err != nil {
		return err
	}
	return p.list.Write(w, r, http.StatusOK, page.Page{Title: title(len(mails)), Class: "mailbox", Policy: page.Policy{Scripts: true}, Data: mails})
}

func title(mails int) string {
	if mails == 0 {
		return "Mailbox"
	}
	return fmt.Sprintf("Mailbox (%d)", mails)
}

func (p *pages) showMail(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	m := view(r.PathValue("id"), found)
	return p.one.Write(w, r, http.StatusOK, page.Page{Title: m.Subject, Class: "mailbox", Policy: page.Policy{Frames: true}, Data: m})
}

func (p *pages) find(r *http.Request) (mail.Rendered, error) {
	m, err := p.mailbox.get(r.PathValue("id"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, &page.Status{Kind: page.NotFound, Action: page.Action{Words: "Open the mailbox", URL: Path}}
	}
	return m, err
}

// showHTML serves a mail's HTML for a frame, in which nothing runs, nothing is loaded, and links open in a
// window of their own.
func (p *pages) showHTML(w http.ResponseWriter, r *http.Request) error {
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

// newWindows makes the links of a document open windows. A frame's own window would show the page in it.
func newWindows(html string) string {
	return strings.ReplaceAll(html, "<a ", `<a target="_blank" rel="noopener noreferrer" `)
}

func (p *pages) showRaw(w http.ResponseWriter, r *http.Request) error {
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

// showJSON answers with the mails, the newest first: all, those to one address (?to=), or the first of them
// (?limit=).
func (p *pages) showJSON(w http.ResponseWriter, r *http.Request) error {
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
