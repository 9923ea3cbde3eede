package httpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkTimeout bounds one check of readiness.
const checkTimeout = 3 * time.Second

// Check tells whether a part that the process needs is there: nil if so, a Degraded if the process
// can do its work without.
type Check func(ctx context.Context) error

// DegradedError is the error of a check that readiness shows and does not depend on.
type DegradedError struct{ Err error }

// Error says what is wrong.
func (d DegradedError) Error() string { return "degraded: " + d.Err.Error() }

// Unwrap returns what is wrong.
func (d DegradedError) Unwrap() error { return d.Err }

// AdminConfig are settings of the pages for operators.
type AdminConfig struct {
	NeedCertificate bool // clients need a certificate for all but probes
	Profiles        bool
}

// Admin returns the handler of the pages for operators:
//   - /metrics: what the gatherer has, in Prometheus's format;
//   - /healthz: 200 as long as the process answers;
//   - /readyz: 200 if every check passes, else 503, with the outcome by name. Errors are shown:
//     the address is for operators, and none of them holds a password;
//   - /debug/pprof/, if asked for: profiles of Go, without the command line, which may hold
//     secrets.
//
// If clients need a certificate, probes of a platform do without: metrics and profiles are refused
// to them, and /readyz says only which checks fail.
func Admin(metrics prometheus.Gatherer, checks map[string]Check, c AdminConfig) http.Handler {
	mux := http.NewServeMux()
	stranger := func(r *http.Request) bool {
		return c.NeedCertificate && (r.TLS == nil || len(r.TLS.VerifiedChains) == 0)
	}
	private := func(pattern string, h http.Handler) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if stranger(r) {
				http.Error(w, "A client certificate of an authority of --admin-tls-client-ca is needed.", http.StatusForbidden)
				return
			}
			h.ServeHTTP(w, r)
		})
	}
	private("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	if c.Profiles {
		private("GET /debug/pprof/", http.HandlerFunc(pprof.Index))
		private("GET /debug/pprof/cmdline", http.NotFoundHandler())
		private("GET /debug/pprof/profile", http.HandlerFunc(pprof.Profile))
		private("GET /debug/pprof/trace", http.HandlerFunc(pprof.Trace))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a caller that left needs no answer
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		outcome, ready := RunChecks(r.Context(), checks)
		for name, result := range outcome {
			if result != "ok" && stranger(r) {
				outcome[name] = "failed"
			}
		}
		w.Header().Set("Content-Type", "application/json")
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ready": ready, "checks": outcome}) // a caller that left needs no answer
	})
	return mux
}

// RunChecks runs all checks at once, since one that hangs must not hide the others. It returns each
// outcome by name, "ok" or the error, and whether all passed. It takes at most three seconds.
func RunChecks(ctx context.Context, checks map[string]Check) (outcome map[string]string, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	var mu sync.Mutex
	var running sync.WaitGroup
	outcome, ready = make(map[string]string, len(checks)), true
	for name, check := range checks {
		running.Go(func() {
			err := check(ctx)
			mu.Lock()
			defer mu.Unlock()
			outcome[name] = "ok"
			if err != nil {
				outcome[name] = err.Error()
				_, degraded := errors.AsType[DegradedError](err)
				ready = ready && degraded
			}
		})
	}
	running.Wait()
	return outcome, ready
}
