package api

import (
	"crypto/sha256"
	_ "embed" // the page of a problem
	"encoding/base64"
	"html/template"
	"net/http"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/asset"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

// SpecPath is where the description of the API is served, in OpenAPI 3.1.
const SpecPath = "/api/v1/openapi.json"

// document is the description of everything that was registered, ready to be served.
type document struct {
	spec []byte
	page []byte
	err  error
}

func (a *API) newDocument() *document {
	a.complete()
	d := &document{}
	raw, err := json.Marshal(a.openapi)
	if err != nil {
		return &document{err: err}
	}
	text := jsontext.Value(raw)
	if err := text.Canonicalize(); err != nil {
		return &document{err: err}
	}
	if err := text.Indent(jsontext.WithIndent("  ")); err != nil {
		return &document{err: err}
	}
	d.spec = slices.Concat(text, []byte{'\n'})
	d.page, d.err = a.renderDocs()
	return d
}

// Spec returns the description, an OpenAPI 3.1 document in JSON. Call it, like serving, when
// everything has been registered.
func (a *API) Spec() ([]byte, error) {
	d := a.document()
	return d.spec, d.err
}

func (a *API) serveSpec(w http.ResponseWriter, r *http.Request) {
	a.servePage(w, r, "application/json", func(d *document) []byte { return d.spec })
}

func (a *API) servePage(w http.ResponseWriter, r *http.Request, contentType string, part func(*document) []byte) {
	d := a.document()
	if d.err != nil {
		a.WriteProblem(w, r, d.err)
		return
	}
	if err := a.limitKnown(w, r); err != nil {
		a.WriteProblem(w, r, err)
		return
	}
	a.writeUntouched(w, ratelimit.Requests)
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Cache-Control", "public, max-age=300")
	send(w, http.StatusOK, part(d))
}

// DocsPath is where the description of the API is served as a page.
const DocsPath = "/api/v1/docs"

// docsPolicy lets a page use its own style and script, send requests to this site, and have its
// typeface and icon; and nothing from anywhere else. No form leads anywhere, so a key that someone
// types gets into no address.
func docsPolicy(up string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; connect-src 'self'; font-src 'self'; img-src 'self'; style-src " +
		hash(docsStyle(up)) + "; script-src 'self'" +
		"; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

func (a *API) serveDocs(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", docsPolicy(upFromDocs))
	w.Header().Set("Referrer-Policy", "no-referrer")
	a.servePage(w, r, "text/html; charset=utf-8", func(d *document) []byte { return d.page })
}

// serveDocsScript serves the script of the page.
func (a *API) serveDocsScript(w http.ResponseWriter, r *http.Request) {
	if err := a.limitKnown(w, r); err != nil {
		a.WriteProblem(w, r, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/javascript; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	send(w, http.StatusOK, []byte(docsScript))
}

//go:embed docs/problem.html
var problemHTML string

var problemPage = template.Must(template.New("problem").Parse(problemHTML))

// explainProblem serves the page that the type of a problem leads to.
func (a *API) explainProblem(w http.ResponseWriter, r *http.Request) {
	if err := a.limitKnown(w, r); err != nil {
		a.WriteProblem(w, r, err)
		return
	}
	code := problem.Code(r.PathValue("code"))
	for _, known := range problem.Codes() {
		if known != code {
			continue
		}
		a.writeUntouched(w, ratelimit.Requests)
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", docsPolicy(upFromProblem))
		h.Set("Cache-Control", "public, max-age=300")
		_ = problemPage.Execute(w, struct { // a reader that left needs no answer
			CSS                  template.CSS
			Icon                 template.HTML
			Code                 problem.Code
			Status               int
			Title, Cause, Remedy string
		}{template.CSS(docsStyle(upFromProblem)), template.HTML(asset.IconLink(upFromProblem)), code, code.Status(), code.Title(), code.Cause(), code.Remedy()}) //nolint:gosec // our own
		return
	}
	a.WriteProblem(w, r, problem.New(problem.NotFound, "There is no problem with this code."))
}
