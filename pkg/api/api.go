// Package api is the foundation of Lodestone's HTTP interface: it turns typed functions into
// operations of one API, with the same authentication, strict reading of requests, problems,
// logging and description (OpenAPI 3.1) for all of them.
//
// Services register their operations on one API with Register and RegisterRaw, so that several of
// them can share a listener or have one each.
package api

import (
	"cmp"
	"context"
	_ "embed" // the page of a problem
	"html/template"
	"log/slog"
	"net/http"
	"path"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

// Verifier tells who presents a key; it is implemented by auth.Verifier.
type Verifier interface {
	// Verify returns the identity of the key's holder, an error that auth.IsInvalid reports,
	// or the reason why it could not be looked up.
	Verify(ctx context.Context, key string) (auth.Identity, error)
}

// Options is what an API is made of.
type Options struct {
	Verifier Verifier              // required
	Log      *slog.Logger          // required
	Metrics  prometheus.Registerer // nil: no metrics
	// Limits counts the requests of keys and accounts; nil: nothing is limited.
	Limits *ratelimit.Limiter
	// Idempotency keeps what was answered under an Idempotency-Key; nil: the header is ignored.
	Idempotency *idempotency.Store
	// Addresses finds the clients' addresses, by which unknown keys are counted; nil: no proxy is trusted.
	Addresses *clientaddr.Finder
	// Unavailable knows errors, besides those of Postgres, that say that an engine cannot be
	// reached at the moment: they are answered with 503.
	Unavailable []func(error) bool
}

// API is a set of operations and the handler that serves them. Register everything first, then
// serve: registering is not safe for concurrent use, serving is.
type API struct {
	mux         *http.ServeMux
	verifier    Verifier
	log         *slog.Logger
	metrics     *metrics
	limits      *ratelimit.Limiter
	addresses   *clientaddr.Finder
	idempotency *idempotency.Store
	unavailable []func(error) bool
	openapi     *Description
	schemas     *jsonschema.Set
	document    func() *document // made when it is first asked for
	tls         bool
}

// hstsValue keeps browsers on https for a year after each answer. It says nothing about subdomains, which may be others'.
const hstsValue = "max-age=31536000"

// RequireTLS has every answer tell browsers to come by https only (HSTS). Call it where the public URL is https.
func (a *API) RequireTLS() { a.tls = true }

// New returns an API without operations of its own but the pages that explain the problem codes.
func New(o Options) *API {
	a := &API{
		mux:         http.NewServeMux(),
		verifier:    o.Verifier,
		log:         o.Log,
		metrics:     newMetrics(o.Metrics),
		limits:      o.Limits,
		addresses:   cmp.Or(o.Addresses, clientaddr.New(nil, "")),
		idempotency: o.Idempotency,
		unavailable: append([]func(error) bool{postgres.IsUnavailable}, o.Unavailable...),
		schemas:     jsonschema.NewSet(),
	}
	a.openapi = newDescription(a.schemas)
	a.document = sync.OnceValue(a.newDocument)
	a.Handle("GET "+SpecPath, http.HandlerFunc(a.serveSpec))
	a.Handle("GET "+DocsPath, http.HandlerFunc(a.serveDocs))
	a.Handle("GET "+problem.TypePath+"{code}", http.HandlerFunc(a.explainProblem))
	return a
}

// OpenAPI returns the description of what is registered. It must not be changed.
func (a *API) OpenAPI() *Description { return a.openapi }

// DescriptionOnly returns an API that shares the description of this one: what is registered on it
// is described here and served elsewhere.
func (a *API) DescriptionOnly() *API {
	d := *a
	d.mux = http.NewServeMux()
	return &d
}

// Handle mounts a handler under a pattern of http.ServeMux, outside the description and without
// authentication: a proxy, or a page for browsers. It still has the request id, the log, the
// recovery and the problems for what is not found.
func (a *API) Handle(pattern string, handler http.Handler) { a.mux.Handle(pattern, handler) }

// everyMethod is what the answer to OPTIONS * allows.
const everyMethod = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

// route finds the handler of a request, or the problem that there is none.
func (a *API) route(r *http.Request) (pattern string, p *problem.Problem) {
	if r.URL.Path == "*" && r.Method == http.MethodOptions { // of the server, not of a path
		return "", problem.New(problem.MethodNotAllowed, "").WithHeader("Allow", everyMethod)
	}
	if !strings.HasPrefix(r.URL.Path, "/") || !clean(r.URL.Path) {
		return "", problem.New(problem.NotFound, "There is nothing at this path.")
	}
	handler, pattern := a.mux.Handler(r)
	if pattern != "" {
		return pattern, nil
	}
	// The mux knows whether another method would do: its own answer tells.
	probe := &probe{header: http.Header{}}
	handler.ServeHTTP(probe, r)
	if allow := probe.header.Get("Allow"); probe.status == http.StatusMethodNotAllowed {
		allow += ", " + http.MethodOptions
		return "", problem.New(problem.MethodNotAllowed, "This path takes "+allow+".").WithHeader("Allow", allow)
	}
	return "", problem.New(problem.NotFound, "There is nothing at this path.")
}

// clean reports whether the mux would serve the path as it is, rather than redirect.
func clean(p string) bool {
	c := path.Clean(p)
	if strings.HasSuffix(p, "/") && c != "/" {
		c += "/"
	}
	return c == p
}

// probe keeps what a handler answers about itself.
type probe struct {
	header http.Header
	status int
}

func (p *probe) Header() http.Header         { return p.header }
func (p *probe) Write(b []byte) (int, error) { return len(b), nil }
func (p *probe) WriteHeader(status int)      { p.status = status }

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
		h.Set("Content-Security-Policy", docsPolicy())
		h.Set("Cache-Control", "public, max-age=300")
		_ = problemPage.Execute(w, struct { // a reader that left needs no answer
			CSS                  template.CSS
			Code                 problem.Code
			Status               int
			Title, Cause, Remedy string
		}{template.CSS(docsCSS), code, code.Status(), code.Title(), code.Cause(), code.Remedy()}) //nolint:gosec // our own style sheet
		return
	}
	a.WriteProblem(w, r, problem.New(problem.NotFound, "There is no problem with this code."))
}
