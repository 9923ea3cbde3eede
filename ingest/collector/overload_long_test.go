//go:build long

package collector_test

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/collector"
)

// Many times more requests than Kafka takes: those that are accepted wait for less than the
// deadline, the others are refused at once, and memory of waiting requests is bounded by their
// number.
func TestLatencyUnderOverloadIsBounded(t *testing.T) {
	t.Parallel()
	const deadline = 20 * time.Second
	refused := make(chan struct{}) // closed when one is: Kafka keeps all waiting until then
	tell := sync.OnceFunc(func() { close(refused) })
	t.Cleanup(tell)
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) {
		c.MaxRequests, c.AckTimeout = 32, deadline
	})
	s.cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		s.cluster.KeepControl()
		s.cluster.SleepControl(func() { // a Kafka that is slow
			<-refused
			<-time.After(20 * time.Millisecond)
		})
		return nil, nil, false
	})
	const clients, each = 128, 15
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	var (
		mu       sync.Mutex
		accepted []time.Duration
		counts   = map[int]int{}
		wg       sync.WaitGroup
	)
	for range clients {
		wg.Go(func() {
			for range each {
				begin := time.Now()
				response, err := client.Post(s.url+"/v1/events", "application/json", strings.NewReader(s.event()))
				if err != nil {
					mu.Lock()
					counts[0]++
					mu.Unlock()
					continue
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode == http.StatusServiceUnavailable {
					tell()
				}
				mu.Lock()
				counts[response.StatusCode]++
				if response.StatusCode == http.StatusAccepted {
					accepted = append(accepted, time.Since(begin))
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	require.Equal(t, clients*each, counts[202]+counts[503], "%v", counts)
	require.Positive(t, counts[503])
	require.Greater(t, len(accepted), 30)
	slices.Sort(accepted)
	require.Less(t, accepted[len(accepted)*99/100], deadline)
}
