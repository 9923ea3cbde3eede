package retention_test

import (
	"context"
	"log/slog"
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
	"lodestone/ingest/retention"
	"lodestone/ingest/verify"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

// rig has engines of its own: months are dropped for everybody.
type rig struct {
	*enginetest.Stack
	t *testing.T

	account, magnet, generic, link uuid.UUID

	began time.Time
}

func newRig(t *testing.T) *rig {
	t.Helper()
	server := enginetest.NewMigratedClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	return newRigOn(t, enginetest.StackConfig{Partitions: 1, ClickHouse: server.URL()})
}

func newRigOn(t *testing.T, c enginetest.StackConfig) *rig {
	t.Helper()
	r := &rig{Stack: enginetest.NewStack(t, c), t: t, generic: uuid.New(), began: time.Now().UTC()}
	r.account, r.magnet = r.Magnet()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", r.generic,
		r.account, r.magnet, uuid.NewString())
	r.link = r.Link(r.account, r.magnet, nil)
	return r
}

// month returns a time in the month that lies n months before the one in which the test began.
func (r *rig) month(n int) time.Time {
	return time.Date(r.began.Year(), r.began.Month()-time.Month(n), 1, 12, 0, 0, 0, time.UTC)
}

func (r *rig) yyyymm(n int) uint32 { return uint32(r.month(n).Year()*100 + int(r.month(n).Month())) }

// read produces a page view of a session.
func (r *rig) read(session uuid.UUID, at time.Time) { r.readFrom(0, session, at) }

func (r *rig) readFrom(partition int32, session uuid.UUID, at time.Time) {
	r.t.Helper()
	e := event.Event{
		AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: r.link, SessionID: session,
		EventID: uuid.New(), Type: event.PageViewed,
		CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), &kgo.Record{Topic: event.Topic, Partition: partition,
		Value: e.Append(nil)}).FirstErr())
}

// land produces a view of the landing page.
func (r *rig) land(at time.Time) { r.landFrom(0, "", at) }

func (r *rig) landFrom(partition int32, agent string, at time.Time) {
	r.t.Helper()
	v := event.LinkView{
		AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: r.generic, EventID: uuid.New(),
		CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
		UserAgent: []byte(agent),
	}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), &kgo.Record{Topic: event.LinkViewTopic, Partition: partition,
		Value: v.Append(nil)}).FirstErr())
}

// consume runs consumer and counters until they have everything.
func (r *rig) consume() {
	r.t.Helper()
	log := slog.New(slog.DiscardHandler)
	c := consumertest.New(r.t, r.Stack)
	n := counter.New(counter.Config{Interval: 100 * time.Millisecond}, counter.Deps{Group: "g", Kafka: r.Kafka,
		ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(r.t, c.Start(r.t.Context()))
	require.NoError(r.t, n.Start(r.t.Context()))
	require.Eventually(r.t, func() bool { return r.behind() == 0 }, waitLimit, 100*time.Millisecond)
	require.NoError(r.t, n.Stop(context.Background()))
	require.NoError(r.t, c.Stop(context.Background()))
}

func (r *rig) behind() (n int64) {
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		ranges, err := kafka.Ranges(context.Background(), r.Client, topic)
		require.NoError(r.t, err)
		id, _, err := kafka.Topic(context.Background(), r.Client, topic)
		require.NoError(r.t, err)
		var next int64
		require.NoError(r.t, r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT coalesce(sum(next_offset), 0)::bigint FROM counted_partitions WHERE topic_id = $1", id).Scan(&next))
		for _, r := range ranges {
			n += r.To
		}
		n -= next
	}
	return n
}

// kafkaForgets deletes everything that Kafka has, as its retention does.
func (r *rig) kafkaForgets() {
	r.t.Helper()
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		ranges, err := kafka.Ranges(r.t.Context(), r.Client, topic)
		require.NoError(r.t, err)
		offsets := kadm.Offsets{}
		for partition, held := range ranges {
			offsets.Add(kadm.Offset{Topic: topic, Partition: partition, At: held.To, LeaderEpoch: -1})
		}
		_, err = kadm.NewClient(r.Client).DeleteRecords(r.t.Context(), offsets)
		require.NoError(r.t, err)
	}
}

// expire keeps so many months before the one in which the test began, which may be over by now.
func (r *rig) expire(months int) retention.Result {
	r.t.Helper()
	if time.Now().UTC().Month() != r.began.Month() {
		months++
	}
	r.keep(months)
	result, err := r.job(0).Expire(r.t.Context())
	require.NoError(r.t, err)
	return result
}

// keep puts a retention on record that is in effect.
func (r *rig) keep(months int) {
	r.t.Helper()
	r.Exec(`INSERT INTO retention_setting (months) VALUES ($1)
		ON CONFLICT (single) DO UPDATE SET months = $1, next_months = NULL, next_at = NULL`, months)
}

func (r *rig) job(flag int) *retention.Job {
	return retention.New(retention.Config{Months: flag}, retention.Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse,
		Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
}

func (r *rig) rows(table string) (n uint64) {
	r.t.Helper()
	require.NoError(r.t, r.Conn.QueryRow(r.t.Context(), "SELECT count() FROM lodestone."+table).Scan(&n))
	return n
}

// requireViews asserts the counters of both links.
func (r *rig) requireViews(views int64, first, last time.Time, landed int64) {
	r.t.Helper()
	var n, generic int64
	var since, until time.Time
	require.NoError(r.t, r.Postgres.Unscoped().QueryRow(r.t.Context(),
		"SELECT view_count, first_viewed_at, last_viewed_at FROM counted_access_links WHERE id = $1", r.link).
		Scan(&n, &since, &until))
	require.NoError(r.t, r.Postgres.Unscoped().QueryRow(r.t.Context(),
		"SELECT view_count FROM counted_generic_links WHERE id = $1", r.generic).Scan(&generic))
	require.Equal(r.t, []int64{views, landed}, []int64{n, generic})
	require.Equal(r.t, []time.Time{first, last}, []time.Time{since.UTC(), until.UTC()})
}

// requireVerified asserts that the check finds nothing.
func (r *rig) requireVerified() {
	r.t.Helper()
	log := slog.New(slog.DiscardHandler)
	v := &verify.Verifier{Client: r.Client, Options: r.Kafka.Options(log), Conn: r.Conn, Pool: r.Postgres,
		Copy: r.ClickHouse.Number(), Group: r.ClickHouse.Group("g"), Settle: 10 * time.Millisecond, Log: log}
	report, err := v.Run(r.t.Context(), verify.Span{})
	require.NoError(r.t, err)
	require.Empty(r.t, report.Differences)
}

func TestCountersStayWhenEventsLeave(t *testing.T) {
	t.Parallel()
	countersStay(t, newRig(t))
}

func countersStay(t *testing.T, r *rig) {
	t.Helper()
	old, across, recent := uuid.New(), uuid.New(), uuid.New()
	r.read(old, r.month(5))
	r.read(old, r.month(5).Add(time.Minute))
	r.read(across, r.month(4).Add(time.Hour)) // one session over three months
	r.read(across, r.month(3))
	r.read(uuid.Nil, r.month(4)) // an event without a session is one of its own
	r.read(across, r.month(2))
	r.read(recent, r.month(0))
	r.land(r.month(5))
	r.land(r.month(5).Add(30 * time.Second)) // the same visitor in the same minute
	r.land(r.month(0))
	r.consume()
	r.requireViews(4, r.month(5), r.month(0), 2)

	// Kafka still has them: a consumer that lost its commits would store them again.
	require.Equal(t, retention.Result{Waiting: []uint32{r.yyyymm(5), r.yyyymm(4), r.yyyymm(3)}}, r.expire(2))
	require.Equal(t, uint64(7), r.rows("events"))
	r.kafkaForgets()
	require.Equal(t, retention.Result{Dropped: []uint32{r.yyyymm(5), r.yyyymm(4), r.yyyymm(3)}}, r.expire(2))
	require.Equal(t, []uint64{2, 1}, []uint64{r.rows("events"), r.rows("link_views")})
	r.requireViews(4, r.month(5), r.month(0), 2)
	r.requireVerified()
	require.Empty(t, r.expire(2))

	// What comes now is counted on top, and what was across the bound once.
	r.read(uuid.New(), r.month(0).Add(time.Hour))
	r.land(r.month(0).Add(time.Hour))
	r.consume()
	r.requireViews(5, r.month(5), r.month(0).Add(time.Hour), 3)
	r.requireVerified()

	r.kafkaForgets()
	require.Equal(t, retention.Result{Dropped: []uint32{r.yyyymm(2)}}, r.expire(1))
	r.read(uuid.New(), r.month(0).Add(2*time.Hour))
	r.consume()
	r.requireViews(6, r.month(5), r.month(0).Add(2*time.Hour), 3)
	r.requireVerified()

	// Counting everything again changes nothing.
	r.Exec("DELETE FROM counted_partitions")
	r.consume()
	r.requireViews(6, r.month(5), r.month(0).Add(2*time.Hour), 3)
}

// Each copy of the events drops its months by itself, and the counters are right by either.
func TestMonthsLeaveEachCopy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := *r
	other.Stack = r.AddCopy(2)
	r.read(uuid.New(), r.month(5))
	r.read(uuid.New(), r.month(0))
	r.land(r.month(5))
	r.consume()
	c := consumertest.New(t, other.Stack)
	require.NoError(t, c.Start(t.Context()))
	require.Eventually(t, func() bool { return other.rows("events") == 2 && other.rows("link_views") == 1 },
		waitLimit, 100*time.Millisecond)
	require.NoError(t, c.Stop(context.Background()))
	r.kafkaForgets()
	for _, of := range []*rig{r, &other} {
		require.Equal(t, []uint64{2, 1}, []uint64{of.rows("events"), of.rows("link_views")})
		require.Equal(t, retention.Result{Dropped: []uint32{r.yyyymm(5)}}, of.expire(2))
		require.Equal(t, []uint64{1, 0}, []uint64{of.rows("events"), of.rows("link_views")})
		for _, counted := range []*rig{r, &other} { // also while one has the month, and the other has not
			counted.requireVerified()
			require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, counted.Conn, func(int) {}))
			r.requireViews(2, r.month(5), r.month(0), 1)
		}
	}
}

func TestAStepThatWasCutOff(t *testing.T) {
	t.Parallel()
	for _, phase := range []string{"writing", "dropping"} {
		t.Run(phase, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.read(uuid.New(), r.month(5))
			r.consume()
			var before int64
			require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
				"SELECT view_count FROM counted_access_links WHERE id = $1", r.link).Scan(&before))
			r.kafkaForgets()
			// Killed when the views were written down, before the month was dropped.
			r.native("INSERT INTO lodestone.expired_views SELECT {account:UUID}, {link:UUID}, step + 1, 1, {at:DateTime64(3)}, {at:DateTime64(3)} FROM (SELECT max(step) AS step FROM lodestone.retention_steps)")
			r.native("INSERT INTO lodestone.retention_steps (step, month, phase) SELECT step + 1, {month:UInt32}, '" + phase +
				"' FROM (SELECT max(step) AS step FROM lodestone.retention_steps)")

			r.read(uuid.New(), r.month(0))
			r.consume()
			r.requireViews(before+1, r.month(5), r.month(0), 0)
			r.requireVerified()
			r.kafkaForgets()
			r.expire(2)
			require.Equal(t, uint64(1), r.rows("events"))
			r.read(uuid.New(), r.month(0))
			r.consume()
			r.requireViews(before+2, r.month(5), r.month(0), 0)
			r.requireVerified()
		})
	}
}

// A month is written down some accounts, or some links of an account, at a time. A step that is
// interrupted goes on where it was, also if the last statement took effect and no one knows; and
// begins again if the month got more rows.
func TestALargeMonthIsWrittenDownInParts(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	own, ownMagnet, ownLink := r.account, r.magnet, r.link
	for range 2 { // each account has views of two links in the month
		for range 2 {
			session := uuid.New()
			r.read(session, r.month(5))
			r.read(session, r.month(5).Add(time.Minute))
			r.read(uuid.Nil, r.month(5))
			r.read(session, r.month(0))
			r.read(uuid.New(), r.month(0).Add(time.Hour))
			r.link = r.Link(r.account, r.magnet, nil)
		}
		r.account, r.magnet = r.Magnet()
		r.link = r.Link(r.account, r.magnet, nil)
	}
	r.account, r.magnet, r.link = own, ownMagnet, ownLink
	r.land(r.month(5))
	r.consume()
	r.requireViews(3, r.month(5), r.month(0).Add(time.Hour), 1)
	r.kafkaForgets()
	months := 3
	if time.Now().UTC().Month() != r.began.Month() {
		months++
	}
	r.keep(months)
	part := func(upTo int) (parts int, result retention.Result, err error) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		job := r.job(0)
		job.WriteDown(3, func() {
			if parts++; parts == upTo {
				cancel()
			}
		})
		result, err = job.Expire(ctx)
		return parts, result, err
	}
	_, _, err := part(3)
	require.ErrorIs(t, err, context.Canceled)
	var step, again uint32
	require.NoError(t, r.Conn.QueryRow(t.Context(), "SELECT max(step) FROM lodestone.retention_steps").Scan(&step))
	r.requireVerified() // nothing of it counts yet
	_, _, err = part(2)
	require.ErrorIs(t, err, context.Canceled)
	parts, result, err := part(0)
	require.NoError(t, err)
	require.Equal(t, []uint32{r.yyyymm(5)}, result.Dropped)
	require.Positive(t, parts)
	require.NoError(t, r.Conn.QueryRow(t.Context(), "SELECT max(step) FROM lodestone.retention_steps").Scan(&again))
	require.Equal(t, step, again, "it did not go on")
	r.requireVerified()
	r.Exec("UPDATE access_link_counts SET views = 0")
	require.NoError(t, counter.RecountAll(t.Context(), r.Postgres, 1, r.Conn, func(int) {}))
	r.requireViews(3, r.month(5), r.month(0).Add(time.Hour), 1)
	r.requireVerified()

	// The sessions of the month leave when the counters have what was stored before.
	left := func() (n int) {
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
			"SELECT count(*) FROM counted_sessions WHERE month = $1", r.yyyymm(5)).Scan(&n))
		return n
	}
	r.Exec("INSERT INTO counted_sessions SELECT id, gen_random_uuid(), $1 FROM access_link_counts", r.yyyymm(5))
	require.Positive(t, left())
	suspect := func(at time.Time) {
		r.Exec("INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES (gen_random_uuid(), $1, $2, 'delivery', $3)",
			r.account, uuid.New(), at)
	}
	r.Exec("INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) SELECT gen_random_uuid(), $1, $1, 'delivery', $2 FROM generate_series(1, 10001)",
		r.account, r.month(5))
	suspect(r.month(4).AddDate(0, 0, -3))
	suspect(r.month(4).Add(-13 * time.Hour)) // late on the last day: it may go on in the next month
	suspect(r.month(4))
	r.Exec("INSERT INTO rounds (service, finished_at) VALUES ('counters', now()) ON CONFLICT (service) DO UPDATE SET finished_at = now()")
	_, err = r.job(0).Expire(t.Context())
	require.NoError(t, err)
	require.Zero(t, left())
	var suspects, noted int
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM suspects WHERE account_id = $1", r.account).Scan(&suspects))
	require.Equal(t, 2, suspects, "they leave with their events")
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT count(DISTINCT id) FROM entity_changes WHERE entity = 'suspects'").Scan(&noted))
	require.Equal(t, 10004, noted, "their copies for SQL leave as well")
}

func (r *rig) native(query string) {
	r.t.Helper()
	ctx := native.Context(r.t.Context(), native.WithParameters(native.Parameters{
		"account": r.account.String(), "link": r.link.String(), "month": r.month(5).Format("200601"),
		"at": r.month(5).Format("2006-01-02 15:04:05"),
	}))
	require.NoError(r.t, r.Conn.Exec(ctx, query))
}

func TestValidate(t *testing.T) {
	t.Parallel()
	require.NoError(t, retention.Config{}.Validate())
	require.NoError(t, retention.Config{Months: 13}.Validate())
	require.ErrorContains(t, retention.Config{Months: -1}.Validate(), "--retention-months")
}

// newDueRig returns a rig with a month that is due: one view of each link.
func newDueRig(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.read(uuid.New(), r.month(5))
	r.land(r.month(5))
	r.consume()
	r.kafkaForgets()
	r.keep(3)
	return r
}

// A process whose Postgres was replaced by another one does not know yet that it lost the lock:
// what another process did meanwhile is not done again, nor counted twice.
func TestAStepWhoseLockWasLostDropsNothing(t *testing.T) {
	t.Parallel()
	r := newDueRig(t)
	first := r.job(0)
	first.BeforeDrop(func() {
		r.Exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())")
		result, err := r.job(0).Expire(t.Context())
		require.NoError(t, err)
		require.Equal(t, []uint32{r.yyyymm(5)}, result.Dropped)
	})
	_, err := first.Expire(t.Context())
	require.ErrorContains(t, err, "comes too late")
	r.Exec("DELETE FROM counted_partitions")
	r.read(uuid.New(), r.month(0))
	r.land(r.month(0))
	r.consume()
	r.requireViews(2, r.month(5), r.month(0), 2)
	r.requireVerified()
}

// A ClickHouse that is slow once holds no month for the hour until the next pass. On a busy machine
// it may be slow again.
func TestAStepThatComesTooLateIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newDueRig(t)
	job, tries := r.job(0), 0
	job.BeforeDrop(func() {
		if tries++; tries > 1 {
			return
		}
		begin, err := retention.Clock(t.Context(), r.Conn)
		require.NoError(t, err)
		require.Eventually(t, func() bool {
			now, err := retention.Clock(t.Context(), r.Conn)
			return err == nil && now.After(begin.Add(retention.ProvenFor))
		}, waitLimit, 50*time.Millisecond)
	})
	result, err := job.Expire(t.Context())
	require.NoError(t, err)
	require.Equal(t, []uint32{r.yyyymm(5)}, result.Dropped)
	require.Greater(t, tries, 1)
	require.Zero(t, r.rows("events"))
}
