package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
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
	s := &station{t: t, dir: t.TempDir(), data: t.TempDir(), database: enginetest.MigratedPostgresURL(t),
		port: enginetest.FreePort(t), link: uuid.New(), keys: token.NewKeys(1)}
	s.broker = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	s.events, s.admin = net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))),
		net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
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
	return []string{"LODESTONE_KAFKA_BROKERS=" + s.broker, "LODESTONE_POSTGRES_URL=" + s.database,
		"LODESTONE_TOKEN_KEYS=" + s.keys.Keys}
}

func (s *station) collector(more ...string) *program {
	s.t.Helper()
	p := launch(s.t, s.dir, append(append(s.environment(),
		"LODESTONE_COLLECTOR_LISTEN="+s.events, "LODESTONE_ADMIN_LISTEN="+s.admin,
		"LODESTONE_SPOOL_DIR="+filepath.Join(s.dir, "spool"),
		"LODESTONE_COLLECTOR_ACK_TIMEOUT=50s", "LODESTONE_COLLECTOR_WRITE_TIMEOUT=60s", // a slow disk is no refusal
		"LODESTONE_SPOOL_SEND_TIMEOUT=0s"), more...), "collector")
	s.await("the collector is ready", func() bool {
		status, _ := get(s.t, "http://"+s.admin+"/readyz", "")
		return status == http.StatusOK
	})
	return p
}

func (s *station) await(what string, is func() bool) {
	s.t.Helper()
	require.Eventually(s.t, is, enginetest.Timeout, interval, what)
}

// reply is the answer of a collector.
type reply struct {
	status           int
	retryAfter, text string
}

// post sends events of the ids, with so many bytes of data each.
func (s *station) post(bytes int, ids ...uuid.UUID) (reply, error) {
	var body strings.Builder
	for i, id := range ids {
		fmt.Fprintf(&body, `%c{"token":%q,"event_type":"page_viewed","event_id":%q,"event_data":{"a":%q}}`, "[,"[min(i, 1)],
			s.token, id, strings.Repeat("x", bytes))
	}
	body.WriteByte(']')
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
	resp, err := client.Post("http://"+s.events+"/v1/events", "application/json", strings.NewReader(body.String()))
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header.Get("Retry-After"), string(text)}, err
}

func newIDs(n int) []uuid.UUID {
	ids := make([]uuid.UUID, n)
	for i := range ids {
		ids[i] = uuid.New()
	}
	return ids
}

// Kafka is away and the spool is full: 503 with Retry-After, and none of its events are stored.
// When Kafka is back there is space again.
func TestAFullSpoolIsReported(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_SPOOL_MAX_BYTES=4194304",
		"LODESTONE_SPOOL_SEGMENT_BYTES=1048576")
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

// A collector that is stopped answers what it has accepted: what Kafka has not taken by then is on
// its disk.
func TestACollectorIsStoppedWithRequestsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	cluster := s.kafka()
	p := s.collector("LODESTONE_SPOOL_AFTER=10s") // long enough to be stopped while it runs, and less than a stop may take
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
	s.await("all are under way",
		func() bool { return metric(t, s.admin, "lodestone_collector_requests_in_flight") == requests })
	p.interrupt(enginetest.Timeout)
	for range requests {
		require.Equal(t, http.StatusAccepted, <-statuses)
	}
	release()
	s.collector()
	s.await("the next life sends them", func() bool {
		return metric(t, s.admin, "lodestone_spool_drained_records_total") == 3*requests &&
			metric(t, s.admin, "lodestone_spool_records") == 0
	})
}

// Kafka has the events and does not say so in time: the spool keeps and sends them a second time,
// and the consumer stores each once.
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

	// Not all of them need to be there twice: the client may have sent a part only, and kept the rest
	// until that is settled.
	require.Greater(t, s.inKafka(), len(ids))
	rows, events := s.stored()
	require.EqualValues(t, len(ids), rows)
	require.EqualValues(t, len(ids), events)
}

// inKafka returns how many events Kafka has.
func (s *station) inKafka() (records int) {
	t := s.t
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.broker))
	require.NoError(t, err)
	defer client.Close()
	ranges, err := kafka.Ranges(t.Context(), client, event.Topic)
	require.NoError(t, err)
	for _, r := range ranges {
		records += int(r.To - r.From)
	}
	return records
}

// stored runs a consumer until it has stored or dropped all that Kafka has, and returns the rows of
// the link and their events.
func (s *station) stored() (rows, events uint64) {
	t := s.t
	t.Helper()
	store, records := enginetest.MigratedClickHouse(t), s.inKafka()
	admin := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	launch(t, s.dir, append(s.environment(), "LODESTONE_CLICKHOUSE_URL="+store.URL, "LODESTONE_ADMIN_LISTEN="+admin),
		"consumer")
	stored, dropped := 0., 0.
	defer func() {
		if t.Failed() {
			t.Logf("of %d records %v are stored and %v dropped", records, stored, dropped)
		}
	}()
	s.await("everything is stored or dropped", func() bool {
		stored, dropped = metric(t, admin, "lodestone_consumer_rows_total"),
			metric(t, admin, "lodestone_consumer_repeats_total")
		return stored+dropped == float64(records)
	})
	conn := enginetest.Open(t, store)
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT count(), count(DISTINCT event_id) FROM lodestone.events WHERE access_link_id = '"+
			s.link.String()+"'").Scan(&rows, &events))
	return rows, events
}

// An operator sends what a stopped collector left, although a part is damaged, and gives a file
// back: what was sent twice is stored once.
func TestTheSpoolCommand(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	dir := filepath.Join(s.dir, "spool")
	command := func(code int, dir string) string {
		t.Helper()
		p := launch(t, s.dir, s.environment(), "spool", "send", "--spool-dir", dir)
		require.Equal(t, code, p.wait(), "%s", p.out)
		return p.out.String()
	}
	collector := s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_SPOOL_SEGMENT_BYTES=1048576")
	const requests, each = 6, 200
	for range requests {
		got, err := s.post(1500, newIDs(each)...)
		require.NoError(t, err)
		require.Equal(t, http.StatusAccepted, got.status, got.text)
	}
	collector.interrupt(enginetest.Timeout)
	require.Contains(t, command(exitSettings, filepath.Join(dir, "none")), "--spool-dir")

	const first = "0000000000000001.segment"
	data, err := os.ReadFile(filepath.Join(dir, first))
	require.NoError(t, err)
	damaged := slices.Clone(data)
	damaged[1000] ^= 1
	require.NoError(t, os.WriteFile(filepath.Join(dir, first), damaged, 0o600))
	s.kafka()
	for range 2 { // the second time there is nothing to send
		require.Contains(t, command(0, dir), "left: 0 records\n")
		require.Equal(t, (requests-1)*each, s.inKafka())
	}
	require.FileExists(t, filepath.Join(dir, "damaged", first))

	require.NoError(t, os.WriteFile(filepath.Join(dir, first), data, 0o600))
	s.collector()
	s.await("the file that was given back is sent", func() bool {
		return metric(t, s.admin, "lodestone_spool_drained_records_total") > 0 &&
			metric(t, s.admin, "lodestone_spool_records") == 0
	})
	require.Greater(t, s.inKafka(), requests*each)
	rows, events := s.stored()
	require.EqualValues(t, requests*each, rows)
	require.EqualValues(t, requests*each, events)
}
