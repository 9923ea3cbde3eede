package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	collect "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// receiver is an OpenTelemetry collector.
type receiver struct {
	mu    sync.Mutex
	text  strings.Builder // of everything that it got
	spans []*otlp.Span
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	var sent collect.ExportTraceServiceRequest
	if err != nil || q.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	fmt.Fprintln(&r.text, sent.String())
	for _, resource := range sent.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			r.spans = append(r.spans, scope.GetSpans()...)
		}
	}
}

// trace returns the spans of the newest trace that has one of a name, by name.
func (r *receiver) trace(name string) map[string]*otlp.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	found := map[string]*otlp.Span{}
	for _, root := range slices.Backward(r.spans) {
		if root.GetName() == name {
			for _, s := range r.spans {
				if string(s.GetTraceId()) == string(root.GetTraceId()) {
					found[s.GetName()] = s
				}
			}
			break
		}
	}
	return found
}

// has reports whether a span has an attribute that is true.
func has(of *otlp.Span, name string) bool {
	for _, a := range of.GetAttributes() {
		if a.GetKey() == name {
			return a.GetValue().GetBoolValue()
		}
	}
	return false
}

// A record in the spool carries no trace. The trace of its request says that it went there.
func TestATraceSaysThatItsEventsWentToTheSpool(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	server := httptest.NewServer(r)
	defer server.Close()
	s := newStation(t)
	// Kafka is away
	s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_TRACE_ENDPOINT="+server.URL, "LODESTONE_TRACE_SHARE=1")
	for range 2 { // the first finds out, the second goes straight to the spool
		answer, err := s.post(1, newIDs(1)...)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, answer.status)
	}
	s.await("both traces say so", func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.spans) == 2 && has(r.spans[0], "spooled") && has(r.spans[1], "spooled")
	})
}

// An event's trace goes from its request through Kafka to the insert, and that of an answer to the
// queries. Neither has what is secret or a person's.
func TestTracesGoFromTheRequestToTheInsertAndFromTheAnswerToItsQueries(t *testing.T) {
	t.Parallel()
	r := &receiver{}
	server := httptest.NewServer(r)
	defer server.Close()
	u := newUp(t)
	// a slow disk sends no event to the spool
	u.more = []string{"--trace-endpoint", server.URL, "--trace-share", "1", "--spool-after", "40s"}
	u.start()
	api := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Guide"})
	require.NoError(t, err)
	links, err := api.CreateAccessLinks(t.Context(), magnet.ID,
		clienttest.NewAccessLinks{Emails: []string{"ada@example.com"}})
	require.NoError(t, err)
	token := links[0].TrackingToken

	const sender = "0af7651916cd43dd8448eb211c80319c"
	body := fmt.Sprintf(`{"token":%q,"event_type":"page_viewed","event_data":{"page":1},"session_id":%q}`, token,
		uuid.NewString())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.env["LODESTONE_COLLECTOR_URL"]+
		"/v1/events", strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Marker/1.0")
	request.Header.Set("Traceparent", "00-"+sender+"-b7ad6b7169203331-01")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusAccepted, response.StatusCode)
	require.Eventually(t, func() bool { return len(r.trace("POST /v1/events")) == 2 },
		enginetest.Timeout, 50*time.Millisecond)
	event := r.trace("POST /v1/events")
	require.False(t, has(event["POST /v1/events"], "spooled"))
	require.NotNil(t, event["store"], "%v", slices.Collect(maps.Keys(event)))
	require.Equal(t, event["POST /v1/events"].GetSpanId(), event["store"].GetParentSpanId())
	require.Equal(t, sender, hex.EncodeToString(event["POST /v1/events"].GetLinks()[0].GetTraceId()))
	require.NotEqual(t, sender, hex.EncodeToString(event["store"].GetTraceId()),
		"a stranger does not decide what is traced")

	const route = "GET /api/v1/analytics/email"
	require.Eventually(t, func() bool {
		status, _ := get(t, u.env["LODESTONE_URL"]+"/api/v1/analytics/email?email=ada@example.com",
			u.env["LODESTONE_API_KEY"])
		require.Equal(t, http.StatusOK, status)
		spans := r.trace(route)
		for name := range spans {
			if strings.HasPrefix(name, "clickhouse ") {
				return true
			}
		}
		return false
	}, enginetest.Timeout, 500*time.Millisecond)
	require.Contains(t, slices.Collect(maps.Keys(r.trace(route))), "postgres LinksOfAddress")
	u.interrupt(enginetest.Timeout)
	for _, secret := range []string{token, "ada@example.com", u.env["LODESTONE_API_KEY"], "127.0.0.1", "Marker"} {
		require.NotContains(t, r.text.String(), secret)
	}
}
