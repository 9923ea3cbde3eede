// Package web is the visual language of everything that people see in a browser: one set of values
// (tokens.css), one frame, the pages that say what went wrong, and the headers that keep a page
// from being framed, scripted or reported to others. Pages set no cookies, and load nothing from
// other hosts but what their policy names. The private pages of `lodestone up` are the exception:
// one cookie opens them.
//
// It has their texts too, in each language: those of the pages and mails that visitors get, and
// those of the dashboard.
package web

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"lodestone/pkg/asset"
	"lodestone/pkg/locale"
)

//go:embed web
var webFiles embed.FS

// Deps are the shared dependencies of an installation's pages. Site and Log are required.
type Deps struct {
	Site        string             // public address of the site, without a slash at the end
	Log         *slog.Logger       // learns the causes of errors
	Unavailable []func(error) bool // errors that will pass by themselves
	Cookie      string             // name of the cookie that opens the pages of a private site; "": the pages are public
	Secret      string             // its value, or that of a bearer token; "" opens nothing
}

// Site makes and serves pages. It is safe for concurrent use once everything is parsed and added.
type Site struct {
	url, prefix string
	log         *slog.Logger
	unavailable []func(error) bool
	secret      string
	cookie      string
	base        *template.Template
	baseCSS     string
	frameCSS    string // of what base.html has around the content
	status      *Template
	catalogue   *Catalogue
	forms       *http.CrossOriginProtection
}

// New returns the pages of an installation.
func New(d Deps) (*Site, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the frame of pages: %w", err)
	}
	public, err := url.Parse(strings.TrimRight(d.Site, "/"))
	if err != nil {
		return nil, fmt.Errorf("parse address of the site: %w", err)
	}
	s := &Site{
		url: public.String(), prefix: public.EscapedPath(), log: d.Log, unavailable: d.Unavailable,
		secret: d.Secret, cookie: d.Cookie,
		forms: http.NewCrossOriginProtection(),
	}
	if s.catalogue, err = VisitorTexts(); err != nil {
		return nil, err
	}
	if origin := Origin(d.Site); origin != "" {
		if err := s.forms.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("trust forms of %s: %w", origin, err)
		}
	}
	if s.base, err = template.ParseFS(files, "base.html"); err != nil {
		return nil, fmt.Errorf("parse the frame of pages: %w", err)
	}
	// tokens.css has the values that everything people see is made of. Pages inline it, so it has no
	// comments; mails take its values by Token. Every ink stands at 4.5:1 or more on every ground;
	// edges of fields at 3:1.
	css := map[string]string{}
	for _, name := range []string{"tokens.css", "base.css", "frame.css"} {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		css[name] = string(text)
	}
	s.baseCSS, s.frameCSS = css["tokens.css"]+css["base.css"], css["frame.css"]
	s.status, err = s.Parse(files, "status.html")
	return s, err
}

// URL returns the public address of a path of the site.
func (s *Site) URL(path string) string { return s.url + path }

// Path returns a path of the site as a browser asks for it: a proxy in front may have the site
// below a path of its own.
func (s *Site) Path(path string) string { return s.prefix + path }

// Texts returns the texts of a page for a visitor: in the language that the account chose, or the
// one that suits the visitor best.
func (s *Site) Texts(r *http.Request, b Brand) *Texts {
	return s.catalogue.In(locale.Or(b.Language, r.Header.Get("Accept-Language")))
}

// Template is a page in the frame.
type Template struct {
	site *Site
	html *template.Template
	css  string
}

// Parse makes a page of an HTML file and style sheets. The file defines "content", and may define
// "head", "foot", or "body", which takes the place of the whole frame. The styles are inlined
// behind those of the frame.
func (s *Site) Parse(files fs.FS, html string, css ...string) (*Template, error) {
	return s.parse(s.baseCSS+s.frameCSS, nil, files, html, css)
}

// ParseWith is Parse for a file that defines "body", and calls functions. So may those that are
// added. The styles of the frame are left out.
func (s *Site) ParseWith(funcs template.FuncMap, files fs.FS, html string, css ...string) (*Template, error) {
	return s.parse(s.baseCSS, funcs, files, html, css)
}

func (s *Site) parse(style string, funcs template.FuncMap, files fs.FS, html string, css []string) (*Template, error) {
	base, err := s.base.Clone()
	if err != nil {
		return nil, fmt.Errorf("copy the frame of pages: %w", err)
	}
	t := &Template{site: s, css: style}
	if t.html, err = base.Funcs(funcs).ParseFS(files, html); err != nil {
		return nil, fmt.Errorf("parse page %s: %w", html, err)
	}
	for _, name := range css {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read style %s: %w", name, err)
		}
		t.css += string(text)
	}
	return t, nil
}

// Brand is how an account looks. The zero value is a page without a brand.
type Brand struct {
	Name      string
	Logo      string // URL of an image, of this site
	LogoWidth int    // in pixels, at LogoHeight; 0: unknown
	Accent    string // #rrggbb; "": ours. What does not read well on our grounds is moved until it does.
	Font      bool   // the shipped typeface; else the visitor's own system's

	Language *string // of pages for visitors; nil: each visitor's own
}

// LogoHeight is how high a logo is shown, in pixels.
const LogoHeight = 32

// Worded reports whether the logo says the name itself, which broad ones do.
func (b Brand) Worded() bool { return b.Logo != "" && b.LogoWidth >= 2*LogoHeight }

// Page is the content of one answer within the frame.
type Page struct {
	Title       string
	Description string
	Canonical   string // full URL
	Index       bool   // search engines may list it
	Class       string // of the body
	Brand       Brand
	Policy      Policy
	Font        bool   // the shipped typeface, whatever the brand
	Texts       *Texts // of the page's language; nil: English
	Keep        bool   // a browser may keep it, and asks whether it has changed; else it is not stored
	Data        any    // for "content" and the other parts
}

// view is the data of templates.
type view struct {
	Page
	Nonce    string
	Style    template.CSS
	Ground   Pair
	T        *Texts
	Icon     string // URL
	FontPath string // "": the system's typeface
}

// Write answers with the page. The templates see the fields of Page, and Nonce, which every style
// and script element carries. An error is one of the template: nothing was sent.
func (t *Template) Write(w http.ResponseWriter, r *http.Request, status int, p Page) error {
	css := t.css + accentCSS(p.Brand.Accent)
	v := view{Page: p, Nonce: rand.Text(), Ground: Token("ground"),
		Icon: cmp.Or(p.Brand.Logo, t.site.Path(asset.IconPath))}
	if v.T = p.Texts; v.T == nil {
		v.T = t.site.catalogue.In(locale.English)
	} else if p.Brand.Language == nil {
		w.Header().Add("Vary", "Accept-Language")
	}
	if p.Font || p.Brand.Font || t.site.cookie != "" { // private pages are the owner's
		css += asset.FontCSS(t.site.prefix) + ":root{--sans:" + asset.FontStack + "}"
		v.FontPath = t.site.Path(asset.FontPath)
		p.Policy.font = true
	}
	v.Style = template.CSS(css) //nolint:gosec // ours, and colours that were parsed
	var out bytes.Buffer
	if err := t.html.ExecuteTemplate(&out, "base.html", v); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	h := w.Header()
	secure(h, p.Policy, v.Nonce)
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(out.Len()))
	if p.Keep {
		h.Set("Cache-Control", "private, no-cache")
	} else {
		h.Set("Cache-Control", "no-store")
	}
	if !p.Index {
		h.Set("X-Robots-Tag", "noindex, nofollow")
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(out.Bytes()) // a reader that left needs no answer
	}
	return nil
}
