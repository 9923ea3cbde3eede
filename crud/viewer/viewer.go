// Package viewer is the page on which a recipient reads the document of an access link, and what
// that page loads: the document, in parts, and pdf.js. The page itself counts nothing: its script
// asks for a session by a POST, so programs that follow links and show previews open none.
package viewer

import (
	"embed"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/crud/file"
	"lodestone/crud/session"
	"lodestone/crud/watermark"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/country"
	"lodestone/pkg/event"
	"lodestone/pkg/limit"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/source"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

//go:embed viewer.html viewer.css all:dist
var files embed.FS

// Deps are the dependencies of the viewer. All are required.
type Deps struct {
	Pages     *web.Site
	Sessions  *session.Sessions
	Postgres  *postgres.Pool
	Files     *file.Files
	Marks     *watermark.Marks
	Tokens    *token.Ring
	Addresses *clientaddr.Finder
	Countries *country.Database // nil: countries are not reported
	Limiter   *ratelimit.Visitors
	Bots      *bot.Rules
	Networks  *suspect.Networks // nil: none is suspected
	Collector string            // URL of the collector as browsers reach it, without a slash at the end
	Log       *slog.Logger
}

// Viewer serves the pages. It is safe for concurrent use.
type Viewer struct {
	config   Config
	deps     Deps
	template *web.Template
	build    *build
	guesses  *limit.AddressLimiter    // unknown links by address
	sending  *limit.Slots[netip.Addr] // files that are being sent, by address
}

// New returns the viewer.
func New(c Config, d Deps) (*Viewer, error) {
	shell, err := d.Pages.Parse(files, "viewer.html", "viewer.css")
	if err != nil {
		return nil, err
	}
	b, err := readBuild()
	if err != nil {
		return nil, err
	}
	if !b.Done() {
		d.Log.Warn("the reading page was not built, so documents open in the browser's own viewer; run make web, then build again")
	}
	return &Viewer{config: c, deps: d, template: shell, build: b,
		guesses: limit.NewAddressLimiter(maxUnknown), sending: c.sending()}, nil
}

// path returns the path of a request's page, as browsers know it.
func (v *Viewer) path(r *http.Request) string {
	return v.deps.Pages.Path(web.ReadingPath(r.PathValue("token")))
}

// Register mounts the pages.
func (v *Viewer) Register(a *api.API) {
	mount := func(pattern string, fn web.Handler) { v.deps.Pages.MountBranded(a, pattern, fn, v.brand) }
	mount("GET "+web.ReadingPath("{token}"), v.show)
	mount("POST "+web.ReadingPath("{token}/sessions"), v.start)
	mount("POST "+web.ReadingPath("{token}/open"), v.open)
	mount("GET "+web.ReadingPath("{token}/{$}"), v.redirectTrailingSlash)
	mount("GET "+web.ReadingPath("{rest...}"), web.NothingHere) // a link that was cut off, or has something behind it
	a.Handle("POST "+web.ReadingPath("{token}/failure"), http.HandlerFunc(v.failure))
	a.Handle("GET "+web.ReadingPath("{token}/file"), http.HandlerFunc(v.file))
	a.Handle("GET "+web.ReadingPath("{token}/download"), http.HandlerFunc(v.download))
	a.Handle("GET "+assetPath, v.build)
	v.registerPreview(a)
}

// redirectTrailingSlash redirects from an address that ends with a slash to the page.
func (v *Viewer) redirectTrailingSlash(w http.ResponseWriter, r *http.Request) error {
	if _, err := v.find(r); err != nil {
		return asPage(err, web.Brand{})
	}
	http.Redirect(w, r, v.path(r), http.StatusMovedPermanently) //nolint:gosec // to a path of ours, with a token that exists
	return nil
}

// find returns the link of a request. Who asks for many that do not exist has to wait before asking
// for more of them; links that exist open all the same, for others may share the address.
func (v *Viewer) find(r *http.Request) (session.Link, error) {
	link, err := v.deps.Sessions.Find(r.Context(), r.PathValue("token"))
	if refusal, ok := errors.AsType[*session.Refusal](err); ok && refusal.State == session.Unknown {
		if wait, ok := v.guesses.Take(v.deps.Addresses.Client(r), uuid.Nil, time.Now()); !ok {
			return session.Link{}, &tooMany{wait}
		}
	}
	return link, err
}

// begin starts a session, or goes on with the one wanted, unless the visitor's address has opened
// the link too often.
func (v *Viewer) begin(r *http.Request, link session.Link, wanted uuid.UUID) (session.Session, error) {
	wait, err := v.deps.Limiter.TakeAddress(r.Context(), v.config.openings(), v.deps.Addresses.Client(r), link.ID.String())
	if err != nil {
		return session.Session{}, err
	}
	if wait > 0 {
		return session.Session{}, &tooMany{wait}
	}
	return v.deps.Sessions.Start(r.Context(), link, wanted, session.Opener{
		Bot: v.deps.Bots.Classify(bot.RequestOf(r)) != "", Suspect: v.deps.Networks.Rule(v.deps.Addresses.Client(r)),
	})
}

// maxUnknown is how many unknown links an address may ask for in a minute. A person mistypes one or
// two. A token has 130 random bits: guessing would be hopeless without a limit, and with it costs
// us nothing either.
const maxUnknown = 30

// tooMany is the error of an address that guesses, or opens a link too often.
type tooMany struct{ wait time.Duration }

// Error implements error.
func (*tooMany) Error() string { return "too many requests" }

// asPage turns an error into the page that a visitor sees.
func asPage(err error, brand web.Brand) error {
	if many, ok := errors.AsType[*tooMany](err); ok {
		st := web.Error(web.TooManyRequests, web.Brand{})
		st.Wait = many.wait
		return st
	}
	refusal, ok := errors.AsType[*session.Refusal](err)
	if !ok {
		return err
	}
	switch refusal.State {
	case session.Inactive:
		return web.Error(web.Disabled, brand)
	case session.Expired, session.Over:
		return web.Error(web.Expired, brand)
	case session.UsedUp:
		return web.Error(web.UsedUp, brand)
	case session.NotReady:
		return web.Error(web.NotReady, brand)
	default:
		return web.Error(web.NotFound, web.Brand{}) // the same for whatever is unknown
	}
}

// brand returns the brand of the account whose document a request asks for.
func (v *Viewer) brand(r *http.Request) web.Brand {
	link, err := v.deps.Sessions.Find(r.Context(), r.PathValue("token"))
	if err != nil {
		return web.Brand{}
	}
	d, _ := v.deps.Sessions.Look(r.Context(), link, true) // a link that does not open has a brand as well
	return v.brandOf(d)
}

func (v *Viewer) brandOf(d session.Document) web.Brand {
	b := web.Brand{Name: d.Owner, Font: d.Font == "inter", Language: d.Language}
	if d.Colour != nil {
		b.Accent = *d.Colour
	}
	if l := d.Pictures.Logo; l != nil {
		b.Logo = v.deps.Pages.Path(l.Path)
		if l.Height > 0 {
			b.LogoWidth = 32 * l.Width / l.Height
		}
	}
	return b
}

// shell is the data of the page.
type shell struct {
	Title     string
	Path      string // of the link
	Preview   string
	Pages     int32
	Build     *build
	AssetPath string
	First     *first
	Ratio     template.CSS // width by height of the first page, for its place before it is there
	End       session.End

	Downloadable bool
}

// first is a picture of the first page, which stands in for it until it is drawn.
type first struct {
	Src, SrcSet   string
	Width, Height int
}

// Long reports whether the page is a strip, which is read from its top, at its width: as LONG in
// layout.ts.
func (f *first) Long() bool { return f.Height > 2*f.Width }

// show answers with the page. It counts nothing.
func (v *Viewer) show(w http.ResponseWriter, r *http.Request) error {
	link, err := v.find(r)
	if err != nil {
		return asPage(err, web.Brand{})
	}
	preview := r.URL.Query().Get("preview")
	owner := preview != "" && v.deps.Sessions.IsPreview(link, preview)
	// A page that was refused a session comes here to say so: then only what is true now counts.
	closed := r.URL.Query().Has("closed")
	d, err := v.deps.Sessions.Look(r.Context(), link, closed)
	if err != nil && !owner {
		return asPage(err, v.brandOf(d))
	}
	path := v.path(r)
	if closed {
		// It was refused, but is open again.
		http.Redirect(w, r, path, http.StatusSeeOther) //nolint:gosec // to a path of ours, with a token that exists
		return nil
	}
	s := shell{Title: d.Title, Path: path, Pages: d.Pages, Build: v.build, AssetPath: v.deps.Pages.Path(assetPath),
		Ratio: "1 / 1.4142", End: d.End, Downloadable: d.Downloadable}
	if owner {
		s.Preview = preview
	}
	if t := d.Pictures.Thumbnail; t != nil && !t.Uploaded && t.Width > 0 {
		s.First = &first{v.deps.Pages.Path(t.Path), t.SrcSet(), t.Width, t.Height}
		s.Ratio = template.CSS(fmt.Sprintf("%d / %d", t.Width, t.Height)) //nolint:gosec // numbers
	}
	return v.template.Write(w, r, http.StatusOK, web.Page{
		Title: d.Title, Class: "viewer", Brand: v.brandOf(d), Texts: v.deps.Pages.Texts(r, v.brandOf(d)), Data: s, Font: true,
		Policy: web.Policy{Scripts: true, Wasm: true, Connect: []string{v.deps.Collector}},
	})
}

// sessionAnswer is the answer to the page's script.
type sessionAnswer struct {
	SessionID     uuid.UUID `json:"session_id"`
	TrackingToken string    `json:"tracking_token"` // empty: nothing is recorded
	Collector     string    `json:"collector"`
	File          string    `json:"file"`
	Download      string    `json:"download,omitempty"` // the document is for reading only
	FileName      string    `json:"file_name"`
	Size          int64     `json:"size"`
	Pages         int32     `json:"pages"`
	Resumed       bool      `json:"resumed"`
	Failure       string    `json:"failure"` // where the script says that it cannot show the document
}

// refusalAnswer tells the page's script why there is no session.
type refusalAnswer struct {
	State string `json:"state"`
}

// start answers the page's script with a session.
func (v *Viewer) start(w http.ResponseWriter, r *http.Request) error {
	in, err := v.opening(r)
	if err == nil && in.Watermarked {
		var marked content
		if marked, _, err = v.content(r.Context(), &in); err == nil { // for its size alone
			marked.Close()
		}
	}
	if err != nil {
		v.refuse(w, r, err)
		return nil
	}
	path := v.path(r)
	pass := "?s=" + in.Pass()
	tracking := in.TrackingToken()
	if v.deps.Collector == "" {
		tracking = "" // there is no one to tell
	}
	download := ""
	if in.Downloadable {
		download = path + "/download" + pass
	}
	v.answer(w, r, http.StatusCreated, sessionAnswer{
		SessionID: in.ID, TrackingToken: tracking, Collector: v.deps.Collector,
		File: path + "/file" + pass, Download: download, FileName: in.File.FileName,
		Size: in.File.FileSize, Pages: in.File.PageCount, Resumed: in.Resumed,
		Failure: path + "/failure" + pass,
	})
	return nil
}

func (v *Viewer) opening(r *http.Request) (session.Session, error) {
	link, err := v.find(r)
	if err != nil {
		return session.Session{}, err
	}
	var asked struct {
		SessionID uuid.UUID `json:"session_id"`
		Preview   string    `json:"preview"`
	}
	if err := json.UnmarshalRead(r.Body, &asked); err != nil {
		asked.SessionID = uuid.Nil // it gets a session under an id of ours
	}
	if asked.Preview != "" && v.deps.Sessions.IsPreview(link, asked.Preview) {
		return v.deps.Sessions.Preview(r.Context(), link)
	}
	return v.begin(r, link, asked.SessionID)
}

// refuse tells a script why it gets nothing.
func (v *Viewer) refuse(w http.ResponseWriter, r *http.Request, err error) {
	states := map[session.State]string{
		session.Unknown: "unknown", session.Inactive: "inactive", session.Expired: "expired", session.UsedUp: "used_up",
		session.NotReady: "not_ready", session.Over: "over",
	}
	many, isMany := errors.AsType[*tooMany](err)
	refusal, isRefusal := errors.AsType[*session.Refusal](err)
	switch {
	case isMany:
		w.Header().Set("Retry-After", seconds(many.wait))
		v.answer(w, r, http.StatusTooManyRequests, refusalAnswer{"wait"})
	case isRefusal && (refusal.State == session.Unknown || refusal.State == session.NotReady):
		v.answer(w, r, http.StatusNotFound, refusalAnswer{states[refusal.State]})
	case isRefusal:
		v.answer(w, r, http.StatusGone, refusalAnswer{states[refusal.State]})
	default:
		if r.Context().Err() == nil {
			v.deps.Log.Error("cannot start a session", "request_id", api.RequestID(r.Context()), "error", err)
		}
		w.Header().Set("Retry-After", "3")
		v.answer(w, r, http.StatusServiceUnavailable, refusalAnswer{"unavailable"})
	}
}

func (v *Viewer) answer(w http.ResponseWriter, r *http.Request, status int, body any) {
	out, err := json.Marshal(body)
	if err != nil { // its fields are strings and numbers
		v.deps.Log.Error("cannot write an answer", "request_id", api.RequestID(r.Context()), "error", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	w.WriteHeader(status)
	_, _ = w.Write(out) // a reader that left needs no answer
}

// open starts a session for a visitor whose browser runs no script, or a preview, and leads to the
// document itself.
func (v *Viewer) open(w http.ResponseWriter, r *http.Request) error {
	link, err := v.find(r)
	if err != nil {
		return asPage(err, web.Brand{})
	}
	if err := r.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	var in session.Session
	download := r.PostForm.Get("as") == "download"
	if download { // before a session begins, which would count a view
		if d, err := v.deps.Sessions.Look(r.Context(), link, false); err == nil && !d.Downloadable {
			return v.noDownload(r)
		}
	}
	if preview := r.PostForm.Get("preview"); preview != "" && v.deps.Sessions.IsPreview(link, preview) {
		in, err = v.deps.Sessions.Preview(r.Context(), link)
	} else {
		in, err = v.begin(r, link, uuid.Nil)
	}
	if err != nil {
		d, _ := v.deps.Sessions.Look(r.Context(), link, true) // for its brand alone
		return asPage(err, v.brandOf(d))
	}
	to := v.path(r) + "/file?s=" + in.Pass()
	if download {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make id: %w", err)
		}
		if in.ID != uuid.Nil { // not the owner's preview
			if err := v.deps.Sessions.Begun(r.Context(), in, v.visitor(r)); err != nil {
				return err
			}
		}
		to = v.path(r) + "/download?s=" + in.Pass() + "&d=" + id.String()
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, to, http.StatusSeeOther) //nolint:gosec // to a path of ours, with a pass
	return nil
}

// visitor returns what is reported of a visitor: nothing of where they are, if they asked not to be
// tracked.
func (v *Viewer) visitor(r *http.Request) session.Visitor {
	who := session.Visitor{
		UserAgent: string(source.Agent([]byte(r.UserAgent()), maxAgent)),
		Objects:   source.Withheld(r.Header),
	}
	if !who.Objects {
		who.Origin = event.Origin{Language: event.FirstLanguage([]byte(r.Header.Get("Accept-Language"))),
			Country: v.deps.Countries.Country(v.deps.Addresses.Client(r))}
	}
	return who
}

// maxAgent bounds a user agent, in bytes, as the collector does.
const maxAgent = 512
