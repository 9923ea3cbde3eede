package verify

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/ingest/counter"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

// rig is a stack with an account that has one of everything.
type rig struct {
	*enginetest.Stack
	t        *testing.T
	verifier *Verifier
	began    time.Time
	n        int64

	account, magnet, generic, submission, link, other uuid.UUID
}

// newStack has no rows of other tests. Counters and the check look at the rows of all topics that
// their Postgres does not know, so each test would look at those of all tests before it.
func newStack(t *testing.T, c enginetest.StackConfig) *enginetest.Stack {
	t.Helper()
	enginetest.EmptyClickHouse(t)
	return enginetest.NewStack(t, c)
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, newStack(t, enginetest.StackConfig{Partitions: 2}))
}

func newRigOn(t *testing.T, s *enginetest.Stack) *rig {
	t.Helper()
	r := &rig{Stack: s, t: t, began: time.Now(), generic: uuid.New(), submission: uuid.New()}
	r.account, r.magnet = s.Magnet()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", r.generic,
		r.account, r.magnet, uuid.NewString())
	r.Exec("INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) VALUES ($1, $2, $3, 'a@example.com', 'a@example.com')",
		r.submission, r.account, r.generic)
	r.link, r.other = s.Link(r.account, r.magnet, &r.submission), s.Link(r.account, r.magnet, &r.submission)
	log := slog.New(slog.DiscardHandler)
	r.verifier = &Verifier{
		Copy:   1,
		Client: r.Client, Options: r.Kafka.Options(log), Conn: r.Conn, Pool: r.Postgres, Group: "g",
		Settle: 10 * time.Millisecond, Log: log,
	}
	return r
}

// clickhouse runs a statement on the rows of the rig's topic of events.
func (r *rig) clickhouse(query string) {
	r.t.Helper()
	require.NoError(r.t, r.Conn.Exec(context.Background(), query, native.Named("topic", r.TopicID.String())))
}

func (r *rig) event() event.Event {
	r.n++
	at := r.began.Add(-10*time.Minute).UnixMilli() + r.n*1000 // rows that are stored soon are found at the first try
	return event.Event{
		AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: r.link, EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: at, ReceivedAt: at,
	}
}

func (r *rig) events(n int) [][]byte {
	values := make([][]byte, n)
	for i := range values {
		e := r.event()
		values[i] = e.Append(nil)
	}
	return values
}

func (r *rig) view() []byte {
	e := r.event()
	v := event.LinkView{
		AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: r.generic, EventID: uuid.New(),
		CreatedAt: e.CreatedAt, ReceivedAt: e.ReceivedAt,
	}
	return v.Append(nil)
}

func (r *rig) produce(topic string, values ...[]byte) {
	r.t.Helper()
	r.produceAt(time.Time{}, topic, values...)
}

func (r *rig) produceAt(at time.Time, topic string, values ...[]byte) {
	r.t.Helper()
	var records []*kgo.Record
	for _, v := range values {
		records = append(records, &kgo.Record{Topic: topic, Partition: 0, Value: v, Timestamp: at})
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), records...).FirstErr())
}

// consume runs consumer and counters until they have everything.
func (r *rig) consume() {
	r.t.Helper()
	r.consumeUntil(func() bool { return r.behind() == 0 })
}

// consumeAgain runs them until everything is committed again.
func (r *rig) consumeAgain() {
	r.t.Helper()
	ranges, err := kafka.Ranges(r.t.Context(), r.Client, event.Topic)
	require.NoError(r.t, err)
	r.consumeUntil(func() bool {
		commits, err := kadm.NewClient(r.Client).FetchOffsets(context.Background(), "g")
		o, _ := commits.Lookup(event.Topic, 0)
		return err == nil && o.At == ranges[0].To
	})
}

func (r *rig) consumeUntil(done func() bool) {
	r.t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := consumertest.New(r.t, r.Stack)
	n := counter.New(counter.Config{Interval: 100 * time.Millisecond}, counter.Deps{Group: "g", Kafka: r.Kafka,
		ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(r.t, c.Start(r.t.Context()))
	require.NoError(r.t, n.Start(r.t.Context()))
	require.Eventually(r.t, done, waitLimit, 100*time.Millisecond)
	require.NoError(r.t, n.Stop(context.Background()))
	require.NoError(r.t, c.Stop(context.Background()))
}

// behind returns how many records the counters do not reflect yet.
func (r *rig) behind() (n int64) {
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		ranges, err := kafka.Ranges(context.Background(), r.Client, topic)
		require.NoError(r.t, err)
		id, _, err := kafka.Topic(context.Background(), r.Client, topic)
		require.NoError(r.t, err)
		var next int64
		require.NoError(r.t, r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT coalesce(max(next_offset), 0) FROM counted_partitions WHERE topic_id = $1 AND partition = 0",
			id).Scan(&next))
		n += ranges[0].To - next
	}
	return n
}

func (r *rig) run(s Span) *Report {
	r.t.Helper()
	report, err := r.verifier.Run(r.t.Context(), s)
	require.NoError(r.t, err)
	return report
}

func (r *rig) requireDifferences(s Span, want ...string) *Report {
	r.t.Helper()
	var got []string
	report := r.run(s)
	for _, d := range report.Differences {
		got = append(got, d.String())
	}
	require.Len(r.t, got, len(want), "%v", got)
	for _, w := range want { // each of another one
		i := slices.IndexFunc(got, func(d string) bool { return strings.Contains(d, w) })
		require.GreaterOrEqual(r.t, i, 0, "%s: %v", w, got)
		got = slices.Delete(got, i, i+1)
	}
	return report
}

func (r *rig) deleteRecords(topic string, partition int32, before int64) {
	r.t.Helper()
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: before, LeaderEpoch: -1})
	_, err := kadm.NewClient(r.Client).DeleteRecords(r.t.Context(), offsets)
	require.NoError(r.t, err)
}
