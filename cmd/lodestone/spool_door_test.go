package main

import (
	"fmt"
	"io"
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
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

// station is a collector with a spool, as a process, before a Kafka that the test can spoil.
type station struct {
	t             *testing.T
	dir, database string
	broker        string
	port          int
	data          string // Kafka's
	events, admin string
	keys          token.Config
	token         string
	link          uuid.UUID
}

func newStation(t *testing.T) *station {
	t.Helper()
	s := &station{t: t, dir: t.TempDir(), data: t.TempDir(), database: enginetest.Postgres(t), port: enginetest.FreePort(t), link: uuid.New(), keys: token.NewKeys(1)}
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: s.database, MaxConns: 2})
	require.NoError(t, err)
	_, err = pool.Migrate(t.Context())
	require.NoError(t, err)
	pool.Close()
	s.broker = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	s.events, s.admin = net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))), net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	ring, err := s.keys.Ring()
	require.NoError(t, err)
	s.token = ring.Sign(token.Claims{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: s.link})
	return s
}

func (s *station) kafka() *kfake.Cluster {
	s.t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(s.port), kfake.DataDir(s.data),
		kfake.SeedTopics(4, event.Topic, event.LinkViewTopic, event.DeadLetterTopic))
	require.NoError(s.t, err)
	s.t.Cleanup(cluster.Close)
	return cluster
}

func (s *station) environment() []string {
	return []string{"LODESTONE_KAFKA_BROKERS=" + s.broker, "LODESTONE_POSTGRES_URL=" + s.database, "LODESTONE_TOKEN_KEYS=" + s.keys.Keys}
}

func (s *station) collector(more ...string) *program {
	s.t.Helper()
	p := launch(s.t, s.dir, append(append(s.environment(),
		"LODESTONE_COLLECTOR_LISTEN="+s.events, "LODESTONE_ADMIN_LISTEN="+s.admin, "LODESTONE_SPOOL_DIR="+filepath.Join(s.dir, "spool"),
		"LODESTONE_COLLECTOR_ACK_TIMEOUT=50s", "LODESTONE_COLLECTOR_WRITE_TIMEOUT=60s"), more...), "collector") // a slow disk is no refusal
	s.await("the collector is ready", func() bool {
		status, _ := get(s.t, "http://"+s.admin+"/readyz", "")
		return status == http.StatusOK
	})
	return p
}

func (s *station) await(what string, is func() bool) {
	s.t.Helper()
	require.Eventually(s.t, is, patience, interval, what)
}

// said is what a collector answered.
type said struct {
	status           int
	retryAfter, text string
}

// post sends events of the ids, with so many bytes of data each.
func (s *station) post(bytes int, ids ...uuid.UUID) (said, error) {
	var body strings.Builder
	for i, id := range ids {
		fmt.Fprintf(&body, `%c{"token":%q,"event_type":"page_viewed","event_id":%q,"event_data":{"a":%q}}`, "[,"[min(i, 1)], s.token, id, strings.Repeat("x", bytes))
	}
	body.WriteByte(']')
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Post("http://"+s.events+"/v1/events", "application/json", strings.NewReader(body.String()))
	if err != nil {
		return said{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return said{resp.StatusCode, resp.Header.Get("Retry-After"), string(text)}, err
}

func newIDs(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
	}
	return ids
}

// Kafka is away and the spool is full: 503 with Retry-After, and nothing of it is kept. When Kafka is
// back there is room again.
func TestAFullSpoolIsTold(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_SPOOL_MAX_BYTES=4194304", "LODESTONE_SPOOL_SEGMENT_BYTES=1048576")
	for taken := 0; ; taken++ {
		got, err := s.post(1500, newIDs(400)...)
		require.NoError(t, err)
		if got.status == http.StatusServiceUnavailable {
			require.Positive(t, taken)
			require.Regexp(t, `^[1-9]\d*$`, got.retryAfter)
			require.Contains(t, got.text, `"code":"unavailable"`)
			require.NotContains(t, got.text, "accepted")
			break
		}
		require.Equal(t, http.StatusAccepted, got.status, got.text)
		require.Less(t, taken, 10)
	}
	require.InDelta(t, 400, metric(t, s.admin, "lodestone_spool_refused_full_records_total"), 0)
	require.Zero(t, metric(t, s.admin, "lodestone_spool_drops_total"))
	s.kafka()
	s.await("the spool is empty", func() bool { return metric(t, s.admin, "lodestone_spool_records") == 0 })
	got, err := s.post(1500, newIDs(400)...)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, got.status, got.text)
}

// A collector that is stopped answers what it has accepted: what Kafka has not taken by then is on its disk.
func TestACollectorIsStoppedWithRequestsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	cluster := s.kafka()
	p := s.collector("LODESTONE_SPOOL_AFTER=10s") // long enough to be seen under way, and told to stop
	gate := make(chan struct{})
	release := sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		cluster.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	const requests = 5
	statuses := make(chan int, requests)
	for range requests {
		go func() {
			got, err := s.post(10, newIDs(3)...)
			if err != nil {
				statuses <- 0
				return
			}
			statuses <- got.status
		}()
	}
	s.await("all are under way", func() bool { return metric(t, s.admin, "lodestone_collector_requests_in_flight") == requests })
	p.interrupt(patience)
	for range requests {
		require.Equal(t, http.StatusAccepted, <-statuses)
	}
	release()
	s.collector()
	s.await("the next life sends them", func() bool {
		return metric(t, s.admin, "lodestone_spool_drained_records_total") == 3*requests && metric(t, s.admin, "lodestone_spool_records") == 0
	})
}

// Kafka has the events and does not say so in time: the spool keeps and sends them a second time, and
// the consumer stores each once.
func TestWhatKafkaAndTheSpoolBothHaveIsStoredOnce(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	cluster := s.kafka()
	s.collector("LODESTONE_SPOOL_AFTER=10s") // long enough for Kafka to get them on a busy machine
	silent := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicasAfterAppend, Count: -1})
	ids := newIDs(50)
	got, err := s.post(10, ids...)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, got.status, got.text)
	require.InDelta(t, len(ids), metric(t, s.admin, "lodestone_spool_spooled_records_total"), 0)
	silent.Remove()
	s.await("the spool is empty", func() bool { return metric(t, s.admin, "lodestone_spool_records") == 0 })

	store := clickhouse.Config{URL: enginetest.ClickHouse(t)}
	_, err = clickhouse.Migrate(t.Context(), store)
	require.NoError(t, err)
	admin := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	launch(t, s.dir, append(s.environment(), "LODESTONE_CLICKHOUSE_URL="+store.URL, "LODESTONE_ADMIN_LISTEN="+admin), "consumer")
	s.await("everything is stored or dropped", func() bool {
		return metric(t, admin, "lodestone_consumer_rows_total")+metric(t, admin, "lodestone_consumer_repeats_total") == float64(2*len(ids))
	})
	conn, err := clickhouse.Open(store, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var rows, events uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(), count(DISTINCT event_id) FROM lodestone.events WHERE access_link_id = '"+s.link.String()+"'").Scan(&rows, &events))
	require.EqualValues(t, len(ids), rows)
	require.EqualValues(t, len(ids), events)
}
