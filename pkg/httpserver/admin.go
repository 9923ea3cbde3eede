package httpserver

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// checkTimeout bounds one check of readiness.
const checkTimeout = 3 * time.Second

// Check tells whether a part that the process needs is there: nil if so.
type Check func(ctx context.Context) error

// Admin returns the handler of the pages for operators:
//   - /metrics: what the gatherer has, in Prometheus's format;
//   - /healthz: 200 as long as the process answers;
//   - /readyz: 200 if every check passes, else 503, with the outcome by name. Errors are shown:
//     the address is for operators, and none of them holds a password.
func Admin(metrics prometheus.Gatherer, checks map[string]Check) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok\n")) // a caller that left needs no answer
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		outcome, ready := runChecks(r.Context(), checks)
		w.Header().Set("Content-Type", "application/json")
		if !ready {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"ready": ready, "checks": outcome}) // as above
	})
	return mux
}

// runChecks runs all checks at once: one that hangs does not hide the others.
func runChecks(ctx context.Context, checks map[string]Check) (outcome map[string]string, ready bool) {
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
				outcome[name], ready = err.Error(), false
			}
		})
	}
	running.Wait()
	return outcome, ready
}
