package mailbox

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	letters "lodestone/crud/mail"
	"lodestone/crud/page"
	"lodestone/pkg/api"
)

//go:embed web
var web embed.FS

// Path is where the mailbox is shown.
const Path = "/dev/mailbox"

// Pages shows a mailbox.
type Pages struct {
	mailbox *Mailbox
	site    *page.Site
	panes   *page.Template
}

// NewPages returns the pages of a mailbox. The site has to be private, since mails hold links that open documents and codes that
// confirm addresses.
func NewPages(m *Mailbox, site *page.Site) (*Pages, error) {
	files, err := fs.Sub(web, "web")
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
	p.site.Mount(a, "POST "+Path+"/seen", p.seeAll)
	p.site.Mount(a, "GET "+Path+"/{id}", p.showMail)
	p.site.Mount(a, "GET "+Path+"/{id}/html", p.showHTML)
	p.site.Mount(a, "GET "+Path+"/{id}/raw", p.showRaw)
}

func (p *Pages) showList(w http.ResponseWriter, r *http.Request) error {
	d, err := p.listOf(r, "")
	if err != nil {
		return err
	}
	return p.panes.Write(w, r, http.StatusOK, page.Page{Title: title(d.Unread), Class: "mailbox", Policy: page.Policy{Scripts: true}, Data: d})
}

func (p *Pages) showMail(w http.ResponseWriter, r *http.Request) error {
	found, err := p.find(r)
	if err != nil {
		return err
	}
	m := view(r.PathValue("id"), found)
	if err := p.mailbox.see(m.ID); err != nil {
		return err
	}
	d, err := p.listOf(r, m.ID)
	if err != nil {
		return err
	}
	d.Open = &m
	return p.panes.Write(w, r, http.StatusOK, page.Page{Title: m.Subject, Class: "mailbox", Policy: page.Policy{Scripts: true, Frames: true}, Data: d})
}

// seeAll marks all mails as opened.
func (p *Pages) seeAll(w http.ResponseWriter, r *http.Request) error {
	if err := p.mailbox.see(); err != nil {
		return err
	}
	http.Redirect(w, r, p.site.Path(Path), http.StatusSeeOther)
	return nil
}

// listData is the content of the page: the list, and the mail that is open.
type listData struct {
	Q       string // what is searched for; "": all are shown
	Kind    string // the kind that is shown; "": all
	Mails   []entry
	Filters []filter
	All     int
	Unread  int    // of all mails
	Newest  string // id of the newest mail of all
	Back    string // the list as it is, without a mail
	Open    *Mail  // nil: none is
}

// entry is a mail of the list.
type entry struct {
	Mail
	URL     string
	Current bool
}

// filter leads to the mails of one kind.
type filter struct {
	Words, URL string
	Count      int
	Chosen     bool
}

// listOf returns the list that a request asks for, with the mail of an id open.
func (p *Pages) listOf(r *http.Request, open string) (listData, error) {
	mails, err := p.mailbox.list("", Keep)
	if err != nil {
		return listData{}, err
	}
	d := listData{Q: strings.TrimSpace(r.URL.Query().Get("q")), All: len(mails)}
	if len(mails) > 0 {
		d.Newest = mails[0].ID
	}
	for _, m := range mails {
		if m.Unread {
			d.Unread++
		}
	}
	if d.Q != "" {
		mails = slices.DeleteFunc(mails, func(m Mail) bool { return !m.has(d.Q) })
	}
	counts := map[letters.Kind]int{}
	for _, m := range mails {
		counts[m.kind]++
	}
	asked := letters.Kind(r.URL.Query().Get("kind"))
	d.Filters = []filter{{"All", d.address("", ""), len(mails), true}}
	for _, k := range kinds {
		if counts[k.kind] == 0 && k.kind != asked {
			continue
		}
		f := filter{k.words, d.address("", string(k.kind)), counts[k.kind], k.kind == asked}
		if f.Chosen {
			d.Kind, d.Filters[0].Chosen = string(k.kind), false
		}
		d.Filters = append(d.Filters, f)
	}
	d.Back = d.address("", d.Kind)
	for _, m := range mails {
		if d.Kind == "" || string(m.kind) == d.Kind {
			d.Mails = append(d.Mails, entry{m, d.address("/"+m.ID, d.Kind), m.ID == open})
		}
	}
	return d, nil
}

// address returns that of the list, or of a mail beside it, with what is searched for.
func (d listData) address(mail, kind string) string {
	q := url.Values{}
	if d.Q != "" {
		q.Set("q", d.Q)
	}
	if kind != "" {
		q.Set("kind", kind)
	}
	if len(q) == 0 {
		return Path + mail
	}
	return Path + mail + "?" + q.Encode()
}

func title(unread int) string {
	if unread == 0 {
		return "Mailbox"
	}
	return fmt.Sprintf("Mailbox (%d)", unread)
}

func (p *Pages) find(r *http.Request) (letters.Rendered, error) {
	m, err := p.mailbox.get(r.PathValue("id"))
	if errors.Is(err, fs.ErrNotExist) {
		return m, &page.Status{Kind: page.NotFound, Action: page.Action{Words: "Open the mailbox", URL: Path}}
	}
	return m, err
}

// showHTML serves a mail's HTML for a frame, in which nothing runs, nothing is loaded, and links open in a
// window of their own.
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

// newWindows makes the links of a document open windows. A frame's own window would show the page in it.
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

// showJSON answers with the mails, the newest first: all, those to one address (?to=), or the first of them
// (?limit=).
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
