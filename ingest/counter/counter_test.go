package counter_test

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/ingest/counter"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

type rig struct {
	*enginetest.Stack
	t      *testing.T
	log    *slog.Logger
	create func() service.Service // a new counter
	// consume starts the consumer once: what was sent before is stored in one block.
	consume func()
	// stopConsumer lets what comes from now on wait in Kafka.
	stopConsumer func()
	n            int64

	account, magnet uuid.UUID
}

// newStack has no rows of other tests. Counters count the rows of all topics that their Postgres
// does not know, so each test would count those of all tests before it.
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
	log := slog.New(slog.DiscardHandler)
	c := consumertest.New(t, s)
	r := &rig{Stack: s, t: t, log: log, consume: sync.OnceFunc(func() { enginetest.Run(t, c) })}
	r.stopConsumer = func() {
		r.consume()
		require.NoError(t, c.Stop(context.Background())) // twice is harmless
	}
	r.create = func() service.Service {
		return counter.New(counter.Config{Interval: 100 * time.Millisecond}, counter.Deps{Group: "g", Kafka: s.Kafka,
			ClickHouse: s.ClickHouse, Postgres: s.Postgres, Log: log, Registerer: prometheus.NewRegistry()})
	}
	r.account, r.magnet = s.Magnet()
	return r
}

func (r *rig) start() (stop func()) {
	r.t.Helper()
	r.consume()
	c := r.create()
	require.NoError(r.t, c.Start(r.t.Context()))
	stop = func() { require.NoError(r.t, c.Stop(context.Background())) }
	r.t.Cleanup(stop)
	return stop
}

func (r *rig) link(submission *uuid.UUID) uuid.UUID {
	r.t.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, submission_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, $4, 'a@example.com', 'a@example.com', sha256($5::text::bytea), '', 0)`, id, r.account, r.magnet, submission, uuid.NewString())
	return id
}

// recently is a time whose rows are found at the first try. The tests of late events have others.
var recently = time.Now().UTC().Truncate(time.Minute).Add(-5 * time.Minute)

// send produces an event of a link, a second later than the one before.
func (r *rig) send(link uuid.UUID, change func(e *event.Event)) {
	r.t.Helper()
	r.n++
	e := event.Event{
		AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: link, EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: recently.UnixMilli() + r.n*1000, ReceivedAt: recently.UnixMilli() + r.n*1000,
	}
	change(&e)
	record := &kgo.Record{Topic: event.Topic, Partition: partitionOf(link), Key: link[:], Value: e.Append(nil)}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), record).FirstErr())
}

type counts struct {
	Views       int64
	Viewed      bool
	First, Last *time.Time
}

func (r *rig) await(table string, id uuid.UUID, views int64, first, last int) {
	r.t.Helper()
	var got counts
	want := counts{Views: views, Viewed: views > 0}
	if views > 0 {
		at, until := recently.Add(time.Duration(first)*time.Second), recently.Add(time.Duration(last)*time.Second)
		want.First, want.Last = &at, &until
	}
	require.Eventually(r.t, func() bool {
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT view_count, view_count > 0, first_viewed_at, last_viewed_at FROM counted_"+table+" WHERE id = $1", id,
		).Scan(&got.Views, &got.Viewed, &got.First, &got.Last)
		return err == nil && same(got, want)
	}, waitLimit, 20*time.Millisecond, "want %+v", want)
}

func same(a, b counts) bool {
	equal := func(x, y *time.Time) bool { return (x == nil) == (y == nil) && (x == nil || x.Equal(*y)) }
	return a.Views == b.Views && a.Viewed == b.Viewed && equal(a.First, b.First) && equal(a.Last, b.Last)
}

func TestCountersFollowTheEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	generic, submission := uuid.New(), uuid.New()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, 'slug')",
		generic, r.account, r.magnet)
	r.Exec("INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) VALUES ($1, $2, $3, 'a@example.com', 'a@example.com')",
		submission, r.account, generic)
	first, second, bots := r.link(&submission), r.link(&submission), r.link(nil)
	session := uuid.New()

	r.send(first, func(e *event.Event) { e.SessionID = session })                                // 1
	r.send(first, func(e *event.Event) { e.SessionID = session })                                // 2: the same view
	r.send(first, func(*event.Event) {})                                                         // 3: a view of its own
	r.send(first, func(e *event.Event) { e.Type, e.SessionID = event.DownloadStarted, session }) // 4: no view
	r.send(bots, func(e *event.Event) { e.Bot = "crawler:x" })                                   // 5: no visitor
	stop := r.start()
	r.await("access_links", first, 2, 1, 3)
	r.await("submissions", submission, 2, 1, 3)
	r.await("access_links", bots, 0, 0, 0)
	stop()

	// A counter catches up with the events that came while none ran, and two counters do no harm.
	r.send(second, func(*event.Event) {}) // 6
	r.start()
	r.start()
	r.send(first, func(*event.Event) {}) // 7
	r.await("access_links", first, 3, 1, 7)
	r.await("access_links", second, 1, 6, 6)
	r.await("submissions", submission, 4, 1, 7)
}

// One visitor counts once a minute on a landing page, however many requests they send.
func TestViewsOfLandingPagesAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, other := uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{link, other} {
		r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", id,
			r.account, r.magnet, id.String())
	}
	ann, ben := [16]byte{1}, [16]byte{2}
	views := 0
	look := func(link uuid.UUID, address [16]byte, agent, bot string, at time.Duration) {
		views++
		v := event.LinkView{
			AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: link, EventID: uuid.New(), Bot: bot,
			IPHash: address, UserAgent: []byte(agent),
			CreatedAt: recently.Add(at).UnixMilli(), ReceivedAt: recently.Add(at).UnixMilli(),
		}
		record := &kgo.Record{Topic: event.LinkViewTopic, Key: link[:], Value: v.Append(nil)}
		require.NoError(t, r.Client.ProduceSync(t.Context(), record).FirstErr())
	}
	for i := range 10 {
		look(link, ann, "a", "", time.Duration(i)*time.Second) // 1: a view
	}
	look(link, ann, "a", "", 59_999*time.Millisecond)
	look(link, ann, "a", "", time.Minute)       // 2: in another minute
	look(link, ann, "b", "", 2*time.Second)     // 3: another browser at the address
	look(link, ben, "a", "", 2*time.Second)     // 4: another address
	look(link, [16]byte{}, "", "", time.Second) // 5: those who withhold address and browser are one
	look(link, [16]byte{}, "", "", 2*time.Second)
	look(link, ben, "x", "crawler:x", time.Second)
	look(other, ann, "a", "", time.Second) // of another link
	r.start()
	requireViews := func(id uuid.UUID, want int64) {
		t.Helper()
		var got int64
		require.Eventually(t, func() bool {
			err := r.Postgres.Unscoped().QueryRow(context.Background(),
				"SELECT view_count FROM counted_generic_links WHERE id = $1", id).Scan(&got)
			return err == nil && got == want
		}, waitLimit, 20*time.Millisecond, "not %d views", want)
	}
	requireViews(link, 5)
	requireViews(other, 1)
	// Every request is stored.
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var rows uint64
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.link_views WHERE account_id = $1",
		r.account).Scan(&rows))
	require.EqualValues(t, views, rows)
}

// ClickHouse takes a time before a DateTime for one at most a second before it, and skips what it
// thinks is later: rows of the last second of a minute that are together.
func TestViewsInTheLastSecondOfAMinuteAreCounted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := uuid.New()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", link,
		r.account, r.magnet, link.String())
	r.start()
	for i := range 3 {
		at := recently.Add(59_400*time.Millisecond + time.Duration(i)*100*time.Millisecond).UnixMilli()
		v := event.LinkView{
			AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: link, EventID: uuid.New(), IPHash: [16]byte{1, byte(i)},
			UserAgent: []byte("a"), CreatedAt: at, ReceivedAt: at,
		}
		require.NoError(t, r.Client.ProduceSync(t.Context(), &kgo.Record{Topic: event.LinkViewTopic, Key: link[:],
			Value: v.Append(nil)}).FirstErr())
	}
	require.Eventually(t, func() bool {
		var views int64
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT view_count FROM counted_generic_links WHERE id = $1", link).Scan(&views)
		return err == nil && views == 3
	}, waitLimit, 20*time.Millisecond)
}

// Counting again changes nothing. What is wrong is corrected by lodestone recount.
func TestCountersHealWhenTheyAreWrong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	stop := r.start()
	r.send(link, func(*event.Event) {})
	r.await("access_links", link, 1, 1, 1)
	r.Exec("DELETE FROM counted_partitions")
	r.send(link, func(*event.Event) {})
	r.await("access_links", link, 2, 1, 2)
	r.Exec("UPDATE access_link_counts SET views = 99, last_viewed_at = NULL WHERE id = $1", link)
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, conn, func(int) {}))
	r.await("access_links", link, 2, 1, 2)
	stop()
}
