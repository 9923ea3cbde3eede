package erasure_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lodestone/ingest/erasure"
	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/store"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// rig is a stack with events of an account.
type rig struct {
	*enginetest.Stack
	t       *testing.T
	account uuid.UUID
	set     erasure.Set
	job     *erasure.Job
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1}))
}

func newRigOn(t *testing.T, s *enginetest.Stack) *rig {
	t.Helper()
	r := &rig{Stack: s, t: t, account: uuid.New()}
	r.job = erasure.New(erasure.Config{Interval: time.Hour, SpoolMaxAge: 14 * 24 * time.Hour}, erasure.Deps{
		Set: &r.set, Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(),
	})
	return r
}

// store stores events of a link at offsets from first on, as a consumer does that knows of those in
// the set: one of each kind.
func (r *rig) store(link uuid.UUID, first int64) {
	r.t.Helper()
	options, err := r.ClickHouse.BlockOptions()
	require.NoError(r.t, err)
	of := stream.Events().Blanking(&r.set)
	s := &stream.Store{Connection: stream.Connection{Dial: test.Dialer(options),
		Log: slog.New(slog.DiscardHandler)}, Stream: of, TopicID: r.TopicID}
	defer s.Close()
	rows, decoder := of.Tables.Take(), of.Decoder()
	at := time.Date(2026, 10, 31, 23, 59, 59, 0, time.UTC)
	for i, e := range []event.Event{
		{Type: event.PageViewed, Page: 3, DurationMS: 8200, Data: []byte(`{"page":3,"duration_ms":8200,"note":"MARKER"}`),
			Bot: "rule"},
		{Type: event.PageViewed, Page: 4, Data: []byte(`{"page":4,"x":["MARKER"]}`)},
		{Type: event.DownloadCompleted, Data: []byte(`{"name":"MARKER"}`)},
		{Type: event.DownloadStarted, DurationMS: 7, Data: []byte(`{"duration_ms":7}`)},
	} {
		e.AccountID, e.LeadMagnetID, e.AccessLinkID, e.EventID, e.SessionID = r.account, uuid.New(),
			link, uuid.New(), uuid.New()
		e.UserAgent, e.IPHash, e.MagnetVersion = []byte("MARKER"), [16]byte{'M', 'A', 'R', 'K', 'E', 'R'}, 2
		e.Origin = event.Origin{Country: event.Country{'C', 'H'}, Language: event.Language{'g', 's', 'w'}}
		e.CreatedAt = at.Add(time.Duration(i) * 700 * time.Millisecond).UnixMilli() // two months
		e.ReceivedAt = e.CreatedAt
		_, err := decoder.Decode(e.Append(nil))
		require.NoError(r.t, err)
		decoder.Add(rows, stream.Place{TopicID: r.TopicID, Offset: first + int64(i)})
	}
	ctx, cancel := context.WithTimeout(r.t.Context(), enginetest.Timeout)
	defer cancel()
	before, err := s.Before(ctx, enginetest.Timeout)
	require.NoError(r.t, err)
	require.NoError(r.t, s.Insert(ctx, rows, []int32{0}, before))
}

// erase records that a link was erased.
func (r *rig) erase(link uuid.UUID) uuid.UUID {
	r.t.Helper()
	id := uuid.New()
	r.Exec(`INSERT INTO erasures (id, account_id, person_id, erased_at, removed) VALUES ($1, $2, $1, now(), '{}')`, id,
		r.account)
	r.Exec(`INSERT INTO erased_links (id, account_id, erasure_id) VALUES ($1, $2, $3)`, link, r.account, id)
	return id
}

// stopMerges keeps ClickHouse from changing events until start is called, or the test ends.
func (r *rig) stopMerges() (start func()) {
	r.t.Helper()
	start = func() {
		require.NoError(r.t, r.Conn.Exec(context.WithoutCancel(r.t.Context()), "SYSTEM START MERGES lodestone.events"))
	}
	r.t.Cleanup(start)
	require.NoError(r.t, r.Conn.Exec(r.t.Context(), "SYSTEM STOP MERGES lodestone.events"))
	return start
}

// texts returns what is stored of the events of a link by which a person could be known.
func (r *rig) texts(link uuid.UUID) (list []string) {
	r.t.Helper()
	rows, err := r.Conn.Query(r.t.Context(), `SELECT concat(event_data, '|', user_agent, '|', agent_names, '|', origin, '|', toString(ip_hash = toFixedString('', 16)), '|', bot)
		FROM lodestone.events WHERE access_link_id = ? ORDER BY kafka_offset`, link)
	require.NoError(r.t, err)
	for rows.Next() {
		var text string
		require.NoError(r.t, rows.Scan(&text))
		list = append(list, text)
	}
	require.NoError(r.t, rows.Err())
	require.NoError(r.t, rows.Close())
	return list
}

// places returns what must not change: places in the log, counts and times.
func (r *rig) places() (all string) {
	r.t.Helper()
	require.NoError(r.t, r.Conn.QueryRow(r.t.Context(), `SELECT toString(groupBitXor(sipHash64(account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type,
		magnet_version, page, duration_ms, bot, created_at, received_at, stored_at, kafka_topic_id, kafka_partition, kafka_offset))) || ' ' || toString(count())
		FROM lodestone.events WHERE account_id = ?`, r.account).Scan(&all))
	return all
}

var blank = []string{
	`{"page":3,"duration_ms":8200}||||1|rule`, `{"page":4}||||1|`, `{}||||1|`, `{"duration_ms":7}||||1|`,
}

// Events of an erased person lose all by which the person could be known, in each month and
// wherever they come from, and nothing that is counted. Those of others stay as they are.
func TestEventsOfErasedPeopleAreBlanked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gone, kept := uuid.New(), uuid.New()
	r.store(gone, 0)
	r.store(kept, 4)
	before, others := r.places(), r.texts(kept)
	require.Contains(t, others[0], "MARKER")

	n, err := r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	id := r.erase(gone)
	n, err = r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, blank, r.texts(gone))
	require.Equal(t, others, r.texts(kept))
	require.Equal(t, before, r.places())
	var done bool
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		`SELECT blanked_at IS NOT NULL AND records_until > now() + interval '15 days' FROM erasures WHERE id = $1`,
		id).Scan(&done))
	require.True(t, done)

	// A consumer that does not know yet, and then one that does.
	r.store(gone, 8)
	require.Contains(t, r.texts(gone)[4], "MARKER")
	require.NoError(t, r.set.Load(t.Context(), r.Postgres))
	r.store(gone, 12)
	require.Equal(t, blank, r.texts(gone)[8:])
	before = r.places()
	require.NoError(t, r.job.Rescan(t.Context(), time.Now().Add(-time.Hour)))
	require.Equal(t, append(append(append([]string{}, blank...), blank...), blank...), r.texts(gone))
	require.Equal(t, before, r.places())
	require.Equal(t, others, r.texts(kept))

	// What consumers store blank needs no change.
	changes := func() (n uint64) {
		require.NoError(t, r.Conn.QueryRow(t.Context(), `SELECT count() FROM system.mutations WHERE database = 'lodestone' AND table = 'events'
			AND position(command, ?) > 0`, gone.String()).Scan(&n))
		return n
	}
	asked := changes()
	require.NotZero(t, asked)
	r.store(gone, 16)
	require.NoError(t, r.job.Rescan(t.Context(), time.Now().Add(-time.Hour)))
	require.Equal(t, asked, changes())
}

// A ClickHouse that is restored to a time before the erasure has the events again, longer ago than
// the service looks back.
func TestEventsOfARestoredClickHouseAreBlankedAgain(t *testing.T) {
	r := newRig(t)
	gone, page := uuid.New(), uuid.New()
	r.store(gone, 0)
	r.erase(gone)
	r.erase(page)
	n, err := r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, blank, r.texts(gone))
	require.NoError(t, r.Conn.Exec(t.Context(), "TRUNCATE TABLE lodestone.events"))
	r.store(gone, 0)
	require.NoError(t, r.job.Rescan(t.Context(), time.Now().Add(time.Hour))) // as if they were stored before
	n, err = r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	require.Contains(t, r.texts(gone)[0], "MARKER")

	reopened, err := store.New(r.Postgres.Unscoped()).ReopenErasures(t.Context(), 1)
	require.NoError(t, err)
	require.EqualValues(t, 2, reopened)
	n, err = r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, blank, r.texts(gone))
}

// An erasure is done when the events are blank in every copy, whichever is the last, and if several
// end at the same time.
func TestAnErasureIsDoneInEveryCopy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	other := newRigOn(t, r.AddCopy(2))
	other.account = r.account
	done := func(erasure uuid.UUID) (is bool) {
		t.Helper()
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
			"SELECT blanked_at IS NOT NULL FROM erasures WHERE id = $1", erasure).Scan(&is))
		return is
	}
	blanks := func(of *rig, want int) {
		t.Helper()
		n, err := of.job.Blank(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	gone := uuid.New()
	r.store(gone, 0)
	other.store(gone, 0)
	erased := r.erase(gone)
	blanks(r, 1)
	require.Equal(t, blank, r.texts(gone))
	require.Contains(t, other.texts(gone)[0], "MARKER")
	require.False(t, done(erased))
	blanks(r, 0)
	blanks(other, 1)
	require.Equal(t, blank, other.texts(gone))
	require.True(t, done(erased))

	for range 20 {
		erased := r.erase(uuid.New())
		var both errgroup.Group
		for _, of := range []*rig{r, other} {
			both.Go(func() error {
				_, err := of.job.Blank(t.Context())
				return err
			})
		}
		require.NoError(t, both.Wait())
		require.True(t, done(erased))
	}
}

// A change rewrites whole parts of the table. Consumers that find the same erasure ask for it once.
func TestTwoProcessesDoNotChangeTheSameEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := uuid.New()
	r.store(link, 0)
	r.erase(link)
	var all errgroup.Group
	for range 4 {
		job := erasure.New(erasure.Config{Interval: time.Hour, SpoolMaxAge: time.Hour}, erasure.Deps{
			Set: &r.set, Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler),
			Registerer: prometheus.NewRegistry(),
		})
		all.Go(func() error {
			_, err := job.Blank(t.Context())
			return err
		})
	}
	require.NoError(t, all.Wait())
	require.Equal(t, blank, r.texts(link))
	var changes uint64
	require.NoError(t, r.Conn.QueryRow(t.Context(),
		"SELECT count() FROM system.mutations WHERE table = 'events' AND position(command, toString(?)) > 0",
		link).Scan(&changes))
	require.EqualValues(t, 2, changes, "one for each month")
}

// Copies for SQL leave the disk, with the versions before the one that says that the entity was
// deleted.
func TestCopiesOfErasedPeopleAreRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	gone, kept := uuid.New(), uuid.New()
	for _, table := range []string{"access_links", "submissions"} {
		for i, id := range []uuid.UUID{gone, kept} {
			require.NoError(t, r.Conn.Exec(t.Context(), `INSERT INTO lodestone.`+table+` (id, account_id, email, version, deleted)
				SETTINGS async_insert = 0 VALUES (?, ?, 'ada@example.com', 1, 0)`, id, r.account))
			if i == 0 {
				require.NoError(t, r.Conn.Exec(t.Context(), `INSERT INTO lodestone.`+table+` (id, account_id, version, deleted)
					SETTINGS async_insert = 0 VALUES (?, ?, 2, 1)`, id, r.account))
			}
		}
	}
	r.erase(gone)
	n, err := r.job.Blank(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	for _, table := range []string{"access_links", "submissions"} {
		var left, others uint64
		require.NoError(t, r.Conn.QueryRow(t.Context(),
			`SELECT countIf(id = ? AND deleted = 0), countIf(id = ?) FROM lodestone.`+table, gone, kept).Scan(&left, &others))
		require.Zero(t, left)
		require.Equal(t, uint64(1), others)
	}
}

// Events are changed when the merges that run are over, which takes long under load. The address
// does not wait for them.
func TestCopiesAreRemovedBeforeEventsChange(t *testing.T) {
	r := newRig(t)
	link := uuid.New()
	r.store(link, 0)
	require.NoError(t, r.Conn.Exec(t.Context(), `INSERT INTO lodestone.access_links (id, account_id, email, version, deleted)
		SETTINGS async_insert = 0 VALUES (?, ?, 'ada@example.com', 1, 0)`, link, r.account))
	r.erase(link)
	start := r.stopMerges()
	done := make(chan error, 1)
	go func() {
		_, err := r.job.Blank(t.Context())
		done <- err
	}()
	require.Eventually(t, func() bool {
		var left uint64
		return r.Conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.access_links WHERE id = ?",
			link).Scan(&left) == nil && left == 0
	}, enginetest.Timeout, 50*time.Millisecond)
	require.Contains(t, r.texts(link)[0], "MARKER")
	start()
	require.NoError(t, <-done)
	require.Equal(t, blank[0], r.texts(link)[0])
}

// The service begins with what is on record, and blanks a new erasure without being asked.
func TestTheServiceBlanks(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	known, later := uuid.New(), uuid.New()
	r.store(known, 0)
	r.store(later, 4)
	r.erase(known)
	enginetest.Run(t, r.job)
	require.True(t, r.set.Has(known))
	require.False(t, r.set.Has(later))
	require.Eventually(t, func() bool { return r.texts(known)[0] == blank[0] }, enginetest.Timeout, 100*time.Millisecond)
	require.Contains(t, r.texts(later)[0], "MARKER")
}

// Consumers learn of an erasure while events of another are changed, which takes long in a large
// table.
func TestErasuresAreKnownWhileEventsChange(t *testing.T) {
	r := newRig(t)
	first, second := uuid.New(), uuid.New()
	r.store(first, 0)
	r.erase(first)
	start := r.stopMerges()
	enginetest.Run(t, r.job)
	require.Eventually(t, func() bool {
		var asked uint64
		err := r.Conn.QueryRow(t.Context(),
			"SELECT count() FROM system.mutations WHERE table = 'events' AND NOT is_done AND command LIKE '%' || ? || '%'",
			first.String()).Scan(&asked)
		return err == nil && asked > 0
	}, enginetest.Timeout, 50*time.Millisecond)
	r.erase(second)
	require.Eventually(t, func() bool { return r.set.Has(second) }, enginetest.Timeout, 50*time.Millisecond)
	require.Contains(t, r.texts(first)[0], "MARKER")
	start()
	require.Eventually(t, func() bool { return r.texts(first)[0] == blank[0] }, enginetest.Timeout, 50*time.Millisecond)
}

// A Kafka that does not say how long it keeps records delays no erasure. When it does, the time
// counts from when the events were blank.
func TestTheEndOfRecordsIsAddedLater(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	silent := erasure.Deps{
		Set: &r.set, Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry(),
	}
	silent.Kafka.Brokers = []string{"127.0.0.1:1"}
	id := r.erase(uuid.New())
	n, err := erasure.New(erasure.Config{Interval: time.Hour}, silent).Blank(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	state := func() (blanked, dated bool) {
		t.Helper()
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
			`SELECT blanked_at IS NOT NULL, coalesce(records_until > blanked_at + interval '1 day', false) FROM erasures WHERE id = $1`, id).Scan(&blanked, &dated))
		return blanked, dated
	}
	blanked, dated := state()
	require.True(t, blanked)
	require.False(t, dated)
	enginetest.Run(t, r.job)
	require.Eventually(t, func() bool { _, dated := state(); return dated }, enginetest.Timeout, 20*time.Millisecond)

	// The look that found it is on record, so that no other process looks again before the interval is
	// over.
	var looked bool
	require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
		"SELECT looked_at IS NOT NULL AND began_at IS NULL FROM erasure_looks").Scan(&looked))
	require.True(t, looked)
}
