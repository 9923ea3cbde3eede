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
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/asset"
	"lodestone/pkg/auth"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/tracing"
)

// Verifier tells who presents a key; it is implemented by auth.Verifier.
type Verifier interface {
	// Verify returns the identity of the key's holder, an error that auth.IsInvalid reports,
	// or the reason why it could not be looked up.
	Verify(ctx context.Context, key string) (auth.Identity, error)
}

// Sessions tells who presents the cookie of a session; it is implemented by auth.Verifier.
type Sessions interface {
	// VerifyCookie is Verify for the value of a cookie.
	VerifyCookie(ctx context.Context, secret string) (auth.Identity, error)
}

// Deps are the dependencies of an API.
type Deps struct {
	Verifier Verifier              // required
	Sessions Sessions              // nil: cookies stand for nothing
	Log      *slog.Logger          // required
	Metrics  prometheus.Registerer // nil: no metrics
	Trace    *tracing.Tracer       // nil: no traces
	// Limits counts the requests of keys and accounts; nil: nothing is limited.
	Limits *ratelimit.Limiter
	// Idempotency keeps what was answered under an Idempotency-Key; nil: the header is ignored.
	Idempotency *idempotency.Store
	// Addresses finds the clients' addresses, by which unknown keys are counted; nil: no proxy is
	// trusted.
	Addresses *clientaddr.Finder
	// Unavailable knows errors, besides those of Postgres, that say that an engine cannot be
	// reached at the moment: they are answered with 503.
	Unavailable []func(error) bool
	// Prepare returns the context of a request that is let through, from its own; nil: that is it.
	Prepare func(context.Context) context.Context
	// Beats returns the beats of a stream, and the function that ends them; nil: one each 15 seconds.
	Beats func() (beats <-chan time.Time, stop func())
}

// API is a set of operations and the handler that serves them. Register everything first, then
// serve: registering is not safe for concurrent use, serving is.
type API struct {
	mux         *http.ServeMux
	mounted     []string // patterns of Handle
	verifier    Verifier
	sessions    Sessions
	log         *slog.Logger
	metrics     *metrics
	trace       *tracing.Tracer
	limits      *ratelimit.Limiter
	addresses   *clientaddr.Finder
	idempotency *idempotency.Store
	unavailable []func(error) bool
	openapi     *Description
	schemas     *jsonschema.Set
	document    func() *document // rendered at its first request
	hsts        string           // value of the header; "": none
	streams     *streams
	problemPage func(http.ResponseWriter, *http.Request, *problem.Problem) // nil: problems are JSON for all
	newBeats    func() (<-chan time.Time, func())
	prepare     func(context.Context) context.Context // may be nil
}

// RequireTLS has every answer tell browsers to come by https only (HSTS), if the public URL is one
// where they can.
func (a *API) RequireTLS(publicURL string) { a.hsts = certificate.StrictTransport(publicURL) }

// New returns an API without operations of its own but the pages that explain the problem codes,
// and what browsers and crawlers ask for by themselves.
func New(d Deps) *API {
	a := &API{
		mux:         http.NewServeMux(),
		verifier:    d.Verifier,
		sessions:    d.Sessions,
		log:         d.Log,
		metrics:     newMetrics(d.Metrics),
		trace:       d.Trace,
		limits:      d.Limits,
		addresses:   cmp.Or(d.Addresses, clientaddr.New(nil, "")),
		idempotency: d.Idempotency,
		unavailable: append([]func(error) bool{postgres.IsUnavailable}, d.Unavailable...),
		schemas:     jsonschema.NewSet(),
		streams:     &streams{ended: make(chan struct{})},
		newBeats:    d.Beats,
		prepare:     d.Prepare,
	}
	a.openapi = newDescription(a.schemas)
	a.document = sync.OnceValue(a.newDocument)
	asset.MountLook(a.Handle)
	a.Handle("GET "+SpecPath, http.HandlerFunc(a.serveSpec))
	a.Handle("GET "+DocsPath, http.HandlerFunc(a.serveDocs))
	a.Handle("GET "+scriptPath, http.HandlerFunc(a.serveDocsScript))
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
func (a *API) Handle(pattern string, handler http.Handler) {
	a.mux.Handle(pattern, handler)
	a.mounted = append(a.mounted, pattern)
}

// Mounted returns the patterns that Handle mounted so far, in their order: all but the operations,
// which OpenAPI lists.
func (a *API) Mounted() []string { return slices.Clone(a.mounted) }
