package upgrade_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// load sends events to whichever collectors serve, and counts those that were acknowledged. Those
// of a request that was not are sent again under their ids, perhaps to another collector, as
// browsers do.
type load struct {
	t      *testing.T
	since  time.Time
	token  string
	magnet string
	quit   chan struct{}
	wait   sync.WaitGroup
	acked  atomic.Int64

	mu         sync.Mutex
	collectors []string
	next       int
}

const batch = 20 // events in a request

func newLoad(t *testing.T, api *client.Client) *load {
	t.Helper()
	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Upgrade"})
	require.NoError(t, err)
	link, err := api.CreateAccessLink(t.Context(),
		client.NewAccessLink{LeadMagnetID: magnet.ID, Email: "load@example.com"})
	require.NoError(t, err)
	return &load{t: t, since: time.Now(), token: link.TrackingToken, magnet: magnet.ID, quit: make(chan struct{})}
}

// notef logs a step of the drill: docs/bench/drills has the log of a run.
func (l *load) notef(format string, args ...any) {
	l.t.Helper()
	l.t.Logf("after %s, %d events acknowledged: %s", time.Since(l.since).Round(100*time.Millisecond), l.acked.Load(),
		fmt.Sprintf(format, args...))
}

// to names the collectors that senders use from now on, in turn.
func (l *load) to(collectors ...*process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.collectors = nil
	for _, c := range collectors {
		l.collectors = append(l.collectors, "http://"+c.listen)
	}
}

func (l *load) collector() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.collectors[l.next%len(l.collectors)]
}

func (l *load) start(senders int) {
	ctx := context.WithoutCancel(l.t.Context())
	for range senders {
		l.wait.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			c := &http.Client{Transport: transport, Timeout: 10 * time.Second}
			for {
				select {
				case <-l.quit:
					return
				default:
				}
				events := make([]map[string]any, batch)
				for i := range events {
					events[i] = map[string]any{"token": l.token, "event_type": "page_viewed", "event_id": uuid.NewString(),
						"event_data": map[string]int{"page": i%9 + 1}}
				}
				body, err := json.Marshal(events)
				if err != nil {
					l.t.Error(err)
					return
				}
				for !l.post(ctx, c, body) {
					<-time.After(20 * time.Millisecond) // a client's pause
				}
				l.acked.Add(batch)
			}
		})
	}
}

func (l *load) post(ctx context.Context, c *http.Client, body []byte) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, l.collector()+"/v1/events", bytes.NewReader(body))
	if err != nil {
		l.t.Error(err)
		return true
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	return err == nil && response.StatusCode == http.StatusAccepted &&
		strings.TrimSpace(string(text)) == fmt.Sprintf(`{"accepted":%d,"rejected":[]}`, batch)
}

// more waits until so many more events are acknowledged than now.
func (l *load) more(n int64) {
	l.t.Helper()
	want := l.acked.Load() + n
	require.Eventually(l.t, func() bool { return l.acked.Load() >= want }, enginetest.Timeout, 5*time.Millisecond,
		"only %d of %d events are acknowledged", l.acked.Load(), want)
}

// caughtUp waits until a query service answers with the events that are acknowledged by now.
func (l *load) caughtUp(query *process, key string) {
	l.t.Helper()
	want := l.acked.Load()
	require.Eventually(l.t, func() bool { return l.total(query, key) >= want }, enginetest.Timeout, 200*time.Millisecond,
		"%d events are acknowledged, and %s does not answer with them", want, query.name)
}

func (l *load) stop() {
	close(l.quit)
	l.wait.Wait()
}

func (l *load) total(query *process, key string) int64 {
	var page struct{ Pagination struct{ Total int64 } }
	status, text := get(l.t, "http://"+query.listen+"/api/v1/analytics?per_page=1&lead_magnet_id="+l.magnet, key)
	if status != http.StatusOK || json.Unmarshal([]byte(text), &page) != nil {
		return -1
	}
	return page.Pagination.Total
}

func (l *load) linkViews(crud *process, key string) int64 {
	var page struct {
		Data []struct {
			ViewCount int64 `json:"view_count"`
		}
	}
	status, text := get(l.t, "http://"+crud.listen+"/api/v1/access-links?lead_magnet_id="+l.magnet, key)
	if status != http.StatusOK || json.Unmarshal([]byte(text), &page) != nil || len(page.Data) != 1 {
		return -1
	}
	return page.Data[0].ViewCount
}
