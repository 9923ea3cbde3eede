package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// ledger sends events and remembers the ids of those that were acknowledged.
type ledger struct {
	url, token string
	quit       chan struct{}
	wait       sync.WaitGroup
	mu         sync.Mutex
	acked      map[uuid.UUID]bool
}

func (l *ledger) start(senders int) {
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
				const events = 5
				var body bytes.Buffer
				ids := make([]uuid.UUID, events)
				for i := range ids {
					ids[i] = uuid.New()
					fmt.Fprintf(&body, `%c{"token":%q,"event_type":"page_viewed","event_id":%q}`, "[,"[min(i, 1)], l.token, ids[i])
				}
				body.WriteByte(']')
				resp, err := client.Post(l.url, "application/json", &body)
				if err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					_ = resp.Body.Close()
				}
				if err != nil || resp.StatusCode != http.StatusAccepted {
					<-time.After(20 * time.Millisecond) // a client's pause; these it gives up
					continue
				}
				l.mu.Lock()
				for _, id := range ids {
					l.acked[id] = true
				}
				l.mu.Unlock()
			}
		})
	}
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

func (l *ledger) await(t *testing.T, more int) {
	t.Helper()
	want := l.count() + more
	require.Eventually(t, func() bool { return l.count() >= want }, enginetest.Timeout, 5*time.Millisecond)
}

// metric reads one number of a process, or -1.
func metric(t *testing.T, admin, name string) float64 {
	t.Helper()
	_, text := get(t, "http://"+admin+"/metrics", "")
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if value, found := strings.CutPrefix(lines.Text(), name+" "); found {
			n, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err)
			return n
		}
	}
	return -1
}

// Kafka is away when the collector starts, comes, goes and comes back under load, and the collector
// is killed while it spools and while it drains. What was acknowledged is in Kafka at the end.
func TestCollectorKilledWithASpool(t *testing.T) {
	t.Parallel()
	database := enginetest.MigratedPostgresURL(t)

	port, data := enginetest.FreePort(t), t.TempDir()
	broker := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	startKafka := func() *kfake.Cluster {
		cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(port), kfake.DataDir(data), kfake.SyncWrites(),
			kfake.SeedTopics(4, event.Topic, event.LinkViewTopic))
		require.NoError(t, err)
		return cluster
	}
	keys := token.NewKeys(1)
	ring, err := keys.Ring()
	require.NoError(t, err)
	dir, events, admin := t.TempDir(), net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))),
		net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	collector := func() *program {
		p := launch(t, dir, []string{
			"LODESTONE_KAFKA_BROKERS=" + broker, "LODESTONE_POSTGRES_URL=" + database, "LODESTONE_TOKEN_KEYS=" + keys.Keys,
			"LODESTONE_COLLECTOR_LISTEN=" + events, "LODESTONE_ADMIN_LISTEN=" + admin,
			"LODESTONE_SPOOL_DIR=" + filepath.Join(dir, "spool"), "LODESTONE_SPOOL_AFTER=300ms",
			"LODESTONE_SPOOL_DRAIN_BYTES_PER_SECOND=1048576", "LODESTONE_SPOOL_SEGMENT_BYTES=1048576",
		}, "collector")
		require.Eventually(t, func() bool {
			status, _ := get(t, "http://"+admin+"/readyz", "")
			return status == http.StatusOK
		}, enginetest.Timeout, interval, "%s", p.out)
		return p
	}
	l := &ledger{
		url: "http://" + events + "/v1/events", quit: make(chan struct{}), acked: map[uuid.UUID]bool{},
		token: ring.Sign(token.Claims{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New()}),
	}
	p := collector() // with no listener at Kafka's address
	l.start(4)
	l.await(t, 200)
	require.Positive(t, metric(t, admin, "lodestone_spool_records"))
	cluster := startKafka()
	require.Eventually(t, func() bool { return metric(t, admin, "lodestone_spool_circuit_open") == 0 },
		enginetest.Timeout, interval)
	l.await(t, 200)
	cluster.Close() // without warning to anybody
	l.await(t, 3000)
	p.kill()
	p = collector()
	l.await(t, 3000)
	cluster = startKafka()
	require.Eventually(t, func() bool { return metric(t, admin, "lodestone_spool_drained_records_total") > 0 },
		enginetest.Timeout, time.Millisecond)
	p.kill() // in the middle of draining, or at its end
	p = collector()
	l.await(t, 200)
	close(l.quit)
	l.wait.Wait()
	require.Eventually(t, func() bool { return metric(t, admin, "lodestone_spool_records") == 0 },
		enginetest.Timeout, interval)
	require.Zero(t, metric(t, admin, "lodestone_spool_damage_total"))
	p.interrupt(enginetest.Timeout)

	client, err := kgo.NewClient(append(kafka.Config{Brokers: []string{broker}}.Options(slog.New(slog.DiscardHandler)),
		kgo.ConsumeTopics(event.Topic))...)
	require.NoError(t, err)
	defer client.Close()
	defer cluster.Close()
	ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	defer cancel()
	missing := len(l.acked)
	for missing > 0 {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err(), "%d of %d acknowledged events are missing", missing, len(l.acked))
		for _, r := range fetches.Records() {
			var e event.Event
			require.NoError(t, e.Decode(r.Value))
			if l.acked[e.EventID] {
				l.acked[e.EventID] = false // a second one is the consumer's to drop
				missing--
			}
		}
	}
}
