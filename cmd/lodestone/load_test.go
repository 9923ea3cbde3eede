package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
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

// load sends events to a collector and keeps account of those that were acknowledged. An event
// that was not is sent again under its id, as a browser would, until it is.
type load struct {
	t         *testing.T
	collector string
	token     string
	magnet    string
	pause     time.Duration // of a sender, after each batch
	quit      chan struct{}
	wait      sync.WaitGroup
	acked     atomic.Int64
}

// newLoad makes a lead magnet with an access link to send events for.
func newLoad(t *testing.T, api *client.Client, collector string) *load {
	t.Helper()
	magnet, err := api.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Load"})
	require.NoError(t, err)
	link, err := api.CreateAccessLink(t.Context(),
		client.NewAccessLink{LeadMagnetID: magnet.ID, Email: "load@example.com"})
	require.NoError(t, err)
	return &load{t: t, collector: collector, token: link.TrackingToken, magnet: magnet.ID, quit: make(chan struct{})}
}

// start lets so many senders work until stop.
func (l *load) start(senders int) {
	for range senders {
		l.wait.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: time.Minute}
			for {
				select {
				case <-l.quit:
					return
				default:
				}
				const events = 20
				batch := make([]map[string]any, events)
				for i := range batch {
					batch[i] = map[string]any{
						"token": l.token, "event_type": "page_viewed", "event_id": uuid.NewString(),
						"event_data": map[string]int{"page": i%9 + 1},
					}
				}
				body, err := json.Marshal(batch)
				if err != nil {
					panic(err)
				}
				for !l.post(client, body, events) {
					<-time.After(20 * time.Millisecond) // a client's pause
				}
				l.acked.Add(events)
				<-time.After(l.pause)
			}
		})
	}
}

func (l *load) post(client *http.Client, body []byte, events int) bool {
	resp, err := client.Post(l.collector+"/v1/events", "application/json", bytes.NewReader(body))
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return err == nil && resp.StatusCode == http.StatusAccepted &&
		strings.TrimSpace(string(text)) == fmt.Sprintf(`{"accepted":%d,"rejected":[]}`, events)
}

// awaitAcked waits until so many more events are acknowledged than now.
func (l *load) awaitAcked(more int64) {
	l.t.Helper()
	want := l.acked.Load() + more
	require.Eventually(l.t, func() bool { return l.acked.Load() >= want }, enginetest.Timeout, 5*time.Millisecond,
		"only %d of %d events are acknowledged", l.acked.Load(), want)
}

// stop lets the senders finish what they began.
func (l *load) stop() {
	close(l.quit)
	l.wait.Wait()
}

// requireAnswered waits until the API answers with every acknowledged event, and checks that it
// does with no more, and that the link's counter says the same (each event is a view of its own).
func (l *load) requireAnswered(url, key string) {
	l.t.Helper()
	want := l.acked.Load()
	require.Positive(l.t, want)
	var total int64
	everything := func() bool {
		total = l.total(url, key)
		return total >= want
	}
	require.Eventually(l.t, everything, enginetest.Timeout, 500*time.Millisecond,
		"%d events acknowledged, %d answered", want, total)
	require.Eventually(l.t, func() bool { return l.linkViews(url, key) == want }, enginetest.Timeout, 200*time.Millisecond,
		"view_count does not get to %d", want)
	// What is asked may be away for a short time.
	require.Eventually(l.t, everything, enginetest.Timeout, 500*time.Millisecond, "%d events acknowledged", want)
	require.Equal(l.t, want, total)
}

func (l *load) total(url, key string) int64 {
	var page struct {
		Pagination struct{ Total int64 }
	}
	return answer(l.t, url+"/api/v1/analytics?per_page=1&lead_magnet_id="+l.magnet, key, &page,
		func() int64 { return page.Pagination.Total })
}

func (l *load) linkViews(url, key string) int64 {
	var page struct {
		Data []struct {
			ViewCount int64 `json:"view_count"`
		}
	}
	return answer(l.t, url+"/api/v1/access-links?lead_magnet_id="+l.magnet, key, &page, func() int64 {
		if len(page.Data) != 1 {
			return -1
		}
		return page.Data[0].ViewCount
	})
}

// answer reads a JSON answer and returns what value finds in it, or -1 if there was none.
func answer(t *testing.T, url, key string, into any, value func() int64) int64 {
	t.Helper()
	status, body := get(t, url, key)
	if status != http.StatusOK || json.Unmarshal([]byte(body), into) != nil {
		t.Log("no answer: " + strconv.Itoa(status) + " " + body)
		return -1
	}
	return value()
}
