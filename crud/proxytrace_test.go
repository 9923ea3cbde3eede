package crud_test

import (
	"encoding/hex"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collect "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/tracing"
)

// traced is an OpenTelemetry collector that keeps the spans of each process.
type traced struct {
	mu    sync.Mutex
	spans map[string][]*otlp.Span
}

func (c *traced) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent collect.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, resource := range sent.GetResourceSpans() {
		for _, attribute := range resource.GetResource().GetAttributes() {
			for _, scope := range resource.GetScopeSpans() {
				if attribute.GetKey() == "service.name" {
					name := attribute.GetValue().GetStringValue()
					c.spans[name] = append(c.spans[name], scope.GetSpans()...)
				}
			}
		}
	}
}

// of returns the spans of a process, and forgets them.
func (c *traced) of(name string) []*otlp.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	spans := c.spans[name]
	delete(c.spans, name)
	return spans
}

// A report's trace goes from crud's request to that of the query process, whatever trace the client
// names.
func TestTheQueryProcessIsInTheTraceOfTheRequest(t *testing.T) {
	t.Parallel()
	got := &traced{spans: map[string][]*otlp.Span{}}
	collector := httptest.NewServer(got)
	defer collector.Close()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	process := func(name string, share float64, internal bool) *tracing.Tracer {
		tracer, err := tracing.New(tracing.Config{Endpoint: collector.URL, Share: share},
			tracing.Deps{Service: name, Internal: internal, Log: log})
		require.NoError(t, err)
		return tracer
	}
	const client = "0af7651916cd43dd8448eb211c80319c"
	ask := func(share float64) {
		site, query := process("crud", share, false), process("query", 1, true)
		inner := api.New(api.Deps{Log: log, Trace: query})
		inner.Handle("/api/v1/analytics",
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
		behind := httptest.NewServer(inner)
		defer behind.Close()
		f := startAlone(t, func(c *crud.Config) { c.QueryURL = behind.URL })
		outer := api.New(api.Deps{Verifier: f.verifier, Log: log, Trace: site})
		require.NoError(t, f.service.Register(outer))
		front := httptest.NewServer(outer)
		defer front.Close()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, front.URL+"/api/v1/analytics", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+f.user(t, account.Free).key)
		r.Header.Set("Traceparent", "00-"+client+"-b7ad6b7169203331-01")
		r.Header.Set("Tracestate", "x=y")
		answer, err := front.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode)
		require.NoError(t, site.Stop(t.Context()))
		require.NoError(t, query.Stop(t.Context()))
	}
	ask(1)
	below := got.of("query")
	require.Len(t, below, 1)
	inner := below[0]
	require.Empty(t, inner.GetTraceState())
	var parent *otlp.Span
	for _, s := range got.of("crud") {
		require.NotEqual(t, client, hex.EncodeToString(s.GetTraceId()), "a client does not decide what is traced")
		if string(s.GetSpanId()) == string(inner.GetParentSpanId()) {
			parent = s
		}
	}
	require.NotNil(t, parent, "query's span has no parent in crud")
	require.Equal(t, parent.GetTraceId(), inner.GetTraceId())
	require.Equal(t, client, hex.EncodeToString(parent.GetLinks()[0].GetTraceId()))

	ask(0)
	require.Empty(t, got.of("crud"))
	require.Empty(t, got.of("query"), "crud does not record this trace, so query does not either")
}
