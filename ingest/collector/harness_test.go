package collector_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"go.uber.org/goleak"

	"lodestone/ingest/collector"
	"lodestone/ingest/producer"
	"lodestone/pkg/bot"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) {
	enginetest.Main(m,
		// The cleaner of idle workers sleeps for ten seconds before it sees that it is stopped.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.(*workerPool).Start.func2"),
		// The clock of the Date header belongs to the process, and is never stopped.
		goleak.IgnoreAnyFunction("github.com/valyala/fasthttp.updateServerDate.func1"))
}

// waitLimit bounds a wait for what must happen; it is no measure of speed.
const waitLimit = enginetest.Timeout

// now is the time of the tests: all that depends on it is exact.
var now = time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)

// stack is a collector with everything it needs: a Kafka broker of its own, so that a test can
// provoke its errors, and the database and the keys that all collectors of the package share.
type stack struct {
	*collector.Collector
	url     string
	cluster *kfake.Cluster
	ring    *token.Ring
	log     *enginetest.Log
	metrics *prometheus.Registry
	claims  token.Claims
	token   string
}

// Collectors that share a database have the same keys. Rules have no state.
var (
	keys  = sync.OnceValues(token.NewKeys(1).Ring)
	rules = sync.OnceValues(bot.NewRules)
)

type option func(*collector.Config, *collector.Deps)

func newStack(t *testing.T, options ...option) *stack {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, event.Topic, event.LinkViewTopic))
	require.NoError(t, err)
	t.Cleanup(cluster.Close)
	s := &stack{cluster: cluster, log: &enginetest.Log{}, metrics: prometheus.NewRegistry()}
	log := slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug}))

	p, err := producer.New(producerConfig(), producer.Deps{
		Kafka:  kafka.Config{Brokers: cluster.ListenAddrs()}.Options(log),
		Topics: []string{event.Topic}, Log: log, Registerer: s.metrics,
	})
	require.NoError(t, err)
	enginetest.Run(t, p)

	s.ring, err = keys()
	require.NoError(t, err)
	salts := newSalts(t, s.ring, enginetest.SharedPostgres(t))
	bots, err := rules()
	require.NoError(t, err)
	s.claims = claims()
	s.token = s.ring.Sign(s.claims)

	config := collectorConfig()
	deps := collector.Deps{
		Tokens: s.ring, Sink: p, Addresses: salts, Bots: bots,
		Now: func() time.Time { return now }, Log: log, Registerer: s.metrics,
	}
	for _, o := range options {
		o(&config, &deps)
	}
	s.Collector, err = collector.New(config, deps)
	require.NoError(t, err)
	enginetest.Run(t, s.Collector)
	s.url = "http://" + s.Addr().String()
	return s
}

// newUnstarted returns a second collector on the parts of a stack.
func newUnstarted(t *testing.T, s *stack, c collector.Config) *collector.Collector {
	t.Helper()
	bots, err := bot.NewCrawlers()
	require.NoError(t, err)
	other, err := collector.New(c, collector.Deps{
		Tokens: s.ring, Sink: failing{}, Addresses: noHasher{}, Bots: bots,
		Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	return other
}

type failing struct{}

func (failing) Write(context.Context, []producer.Record) error { return producer.ErrFull }

type noHasher struct{}

func (noHasher) Hash(uuid.UUID, netip.Addr, time.Time) (out [16]byte, ok bool) { return out, false }

// newSalts returns salts that run and have one for the time of the tests: they start without,
// should Postgres take its time.
func newSalts(t *testing.T, ring *token.Ring, pool *postgres.Pool) *collector.Salts {
	t.Helper()
	salts, err := collector.NewSalts(collector.SaltsDeps{
		Postgres: pool, Tokens: ring, Now: func() time.Time { return now }, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(),
	})
	require.NoError(t, err)
	enginetest.Run(t, salts)
	require.Eventually(t, func() bool {
		_, ok := salts.Hash(uuid.Nil, netip.MustParseAddr("203.0.113.1"), now)
		return ok
	}, waitLimit, 20*time.Millisecond)
	return salts
}

func producerConfig() producer.Config {
	return producer.Config{
		RequestTimeout:     5 * time.Second,
		MaxBufferedRecords: 50_000, MaxBufferedBytes: 64 << 20,
	}
}

func collectorConfig() collector.Config {
	return collector.Config{
		Listen: "127.0.0.1:0", AckTimeout: 30 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: time.Minute, MaxBodyBytes: collector.MaxBodyBytes, MaxHeaderBytes: 16 << 10, MaxConnections: 1000,
		MaxRequests: 4096, MaxInFlight: 64 << 20,
		ForwardedHeader: "x-forwarded-for", PrivacySignals: "honour",
	}
}

func claims() token.Claims {
	return token.Claims{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), GenericLinkID: uuid.New(),
		AccessLinkID: uuid.New(), MagnetVersion: 3,
	}
}

// answer is a response of the collector.
type answer struct {
	status int
	header http.Header
	body   string

	Accepted int         `json:"accepted"`
	Rejected []rejection `json:"rejected"`
	Type     string      `json:"type"`
	Title    string      `json:"title"`
	Status   int         `json:"status"`
	Detail   string      `json:"detail"`
	Code     string      `json:"code"`
}

type rejection struct {
	Index   int    `json:"index"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// post sends a body as application/json to the endpoint of events; headers are name, value, ….
func (s *stack) post(t testing.TB, body string, headers ...string) answer {
	t.Helper()
	return s.do(t, http.MethodPost, "/v1/events", strings.NewReader(body), headers...)
}

func (s *stack) do(t testing.TB, method, path string, body io.Reader, headers ...string) answer {
	t.Helper()
	a, err := s.try(method, path, body, headers...)
	require.NoError(t, err)
	return a
}

func (s *stack) try(method, path string, body io.Reader, headers ...string) (answer, error) {
	request, err := http.NewRequest(method, s.url+path, body)
	if err != nil {
		return answer{}, err
	}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("User-Agent", "test")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			request.Header.Del(headers[i])
		} else {
			request.Header.Set(headers[i], headers[i+1])
		}
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DisableCompression: true}}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: response.StatusCode, header: response.Header, body: string(text)}
	if len(text) > 0 && strings.Contains(response.Header.Get("Content-Type"), "json") {
		err = json.Unmarshal(text, &a)
	}
	return a, err
}

// event returns the JSON of an event: the fields given, which are name, JSON value, …, on top of
// token and event_type.
func (s *stack) event(fields ...string) string {
	members := map[string]json.RawMessage{"token": json.RawMessage(`"` + s.token + `"`),
		"event_type": json.RawMessage(`"page_viewed"`)}
	for i := 0; i < len(fields); i += 2 {
		if fields[i+1] == "" {
			delete(members, fields[i])
		} else {
			members[fields[i]] = json.RawMessage(fields[i+1])
		}
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + name + `":`)
		b.Write(members[name])
	}
	b.WriteByte('}')
	return b.String()
}

// records returns the first n records of events in Kafka, in no order across partitions.
func (s *stack) records(t testing.TB, n int) []*kgo.Record {
	t.Helper()
	return s.recordsOf(t, event.Topic, n)
}

func (s *stack) recordsOf(t testing.TB, topic string, n int) []*kgo.Record {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.cluster.ListenAddrs()...), kgo.ConsumeTopics(topic))
	require.NoError(t, err)
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	var list []*kgo.Record
	for len(list) < n {
		fetches := client.PollFetches(ctx)
		require.NoError(t, fetches.Err())
		list = append(list, fetches.Records()...)
	}
	require.Len(t, list, n)
	return list
}

// stored returns the only event in Kafka.
func (s *stack) stored(t testing.TB) event.Event {
	t.Helper()
	var e event.Event
	require.NoError(t, e.Decode(s.records(t, 1)[0].Value))
	return e
}

// holdAcks makes Kafka keep back its answers to produce requests until release is called, and
// returns a channel that tells of each request that came in.
func (s *stack) holdAcks(t testing.TB) (arrived <-chan struct{}, release func()) {
	t.Helper()
	gate, seen := make(chan struct{}), make(chan struct{}, 100)
	s.cluster.ControlKey(kmsg.Produce.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		s.cluster.KeepControl()
		seen <- struct{}{}
		s.cluster.SleepControl(func() { <-gate })
		return nil, nil, false
	})
	release = sync.OnceFunc(func() { close(gate) })
	t.Cleanup(release)
	return seen, release
}

// metric returns a counter or gauge, summed over its labels.
func (s *stack) metric(t testing.TB, name string) float64 {
	t.Helper()
	families, err := s.metrics.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return sum
}
