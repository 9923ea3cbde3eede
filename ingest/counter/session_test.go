package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/counter"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

type activity struct {
	Last     time.Time
	Pages    []int32
	Duration int64
}

func (r *rig) session(link uuid.UUID, started time.Time) uuid.UUID {
	r.t.Helper()
	id := uuid.New()
	r.Exec("INSERT INTO sessions (id, account_id, access_link_id, magnet_version, started_at, last_active_at) VALUES ($1, $2, $3, 1, $4, $4)",
		id, r.account, link, started)
	return id
}

func (r *rig) activity(session uuid.UUID) activity {
	r.t.Helper()
	var a activity
	require.NoError(r.t, r.Postgres.Unscoped().QueryRow(context.Background(),
		"SELECT last_active_at, pages, duration_ms FROM sessions WHERE id = $1",
		session).Scan(&a.Last, &a.Pages, &a.Duration))
	a.Last = a.Last.UTC()
	return a
}

// A session tells which pages were seen, how long they were visible, and when something last
// happened; once it is over, it stays as it was reported.
func TestSessionsFollowTheEvents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	session, other := r.session(link, recently), r.session(link, recently)
	page := func(session uuid.UUID, page, duration uint32) {
		r.send(link, func(e *event.Event) { e.SessionID, e.Page, e.DurationMS = session, page, duration })
	}
	r.start()
	page(session, 3, 1000)                                                                                          // 1
	page(session, 1, 500)                                                                                           // 2
	page(session, 3, 250)                                                                                           // 3
	page(other, 9, 9)                                                                                               // 4
	r.send(link, func(e *event.Event) { e.SessionID, e.Type = session, event.DownloadStarted })                     // 5
	r.send(link, func(e *event.Event) { e.SessionID, e.Page, e.DurationMS, e.Bot = session, 7, 5000, "crawler:x" }) // 6
	want := activity{recently.Add(5 * time.Second), []int32{1, 3}, 1750}
	require.Eventually(t, func() bool { return r.activity(session).Last.Equal(want.Last) }, waitLimit, 20*time.Millisecond)
	require.Equal(t, want, r.activity(session))
	require.Eventually(t, func() bool { return r.activity(other).Duration == 9 }, waitLimit, 20*time.Millisecond)

	r.Exec("UPDATE sessions SET ended_at = last_active_at WHERE id = $1", session)
	page(session, 4, 1000)
	page(other, 10, 1)
	require.Eventually(t, func() bool { return r.activity(other).Duration == 10 }, waitLimit, 20*time.Millisecond)
	require.Equal(t, want, r.activity(session))
}

// A session tells whether a page view came without any input, and which address and browser it was.
func TestSessionsTellOfInput(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	scanner, same, reader, silent := r.session(link, recently), r.session(link, recently), r.session(link, recently),
		r.session(link, recently)
	page := func(session uuid.UUID, page uint32, data string, ip byte) {
		r.send(link, func(e *event.Event) {
			e.SessionID, e.Page, e.DurationMS, e.Data = session, page, 600, []byte(data)
			e.IPHash, e.UserAgent = [16]byte{ip}, []byte("Chrome")
		})
	}
	r.start()
	page(scanner, 1, `{"page":1,"duration_ms":600,"input":0}`, 7)
	page(scanner, 2, `{"page":2,"duration_ms":600,"input":0}`, 7)
	page(same, 1, `{"page":1,"duration_ms":600,"input":0}`, 7)
	page(reader, 1, `{"page":1,"duration_ms":600,"input":0}`, 8)
	page(reader, 2, `{"page":2,"duration_ms":600}`, 8)
	page(silent, 1, `{"page":1,"duration_ms":600}`, 0) // a program of the account's own; the address is withheld
	page(silent, 2, `{"page":2,"duration_ms":600}`, 0)
	type signs struct {
		touched bool
		client  *int64
	}
	of := func(session uuid.UUID) (s signs) {
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(), "SELECT touched, client FROM sessions WHERE id = $1",
			session).Scan(&s.touched, &s.client))
		return s
	}
	require.Eventually(t, func() bool { return r.activity(silent).Duration == 1200 }, waitLimit, 20*time.Millisecond)
	require.False(t, of(scanner).touched)
	require.True(t, of(reader).touched)
	require.True(t, of(silent).touched, "it does not say that there was no input")
	require.Nil(t, of(silent).client)
	require.NotNil(t, of(scanner).client)
	require.Equal(t, of(scanner).client, of(same).client)
	require.NotEqual(t, of(scanner).client, of(reader).client)
}

// The counters tell until when everything is counted, and do not get ahead of what is stored.
func TestCaughtUp(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	caughtUp := func() (at time.Time) {
		if r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT finished_at FROM rounds WHERE service = 'counters'").Scan(&at) != nil {
			return time.Time{}
		}
		return at
	}
	r.start()
	r.send(link, func(*event.Event) {})
	begin := time.Now()
	require.Eventually(t, func() bool { return caughtUp().After(begin) }, waitLimit, 20*time.Millisecond)
	r.await("access_links", link, 1, 1, 1)
	r.stopConsumer()
	r.send(link, func(*event.Event) {})
	sent := time.Now()
	// Marks from before may still be reached; none from after the event is.
	require.Never(t, func() bool { return caughtUp().After(sent.Add(time.Millisecond)) }, time.Second, 50*time.Millisecond)
}

// passes returns a function with which one counter looks once.
func (r *rig) passes() (pass func()) {
	counters, ok := r.create().(*counter.Counter)
	require.True(r.t, ok)
	return func() {
		r.t.Helper()
		client, err := kgo.NewClient(r.Kafka.Options(r.log)...) // without a topic that is gone in its memory
		require.NoError(r.t, err)
		defer client.Close()
		require.Eventually(r.t,
			func() bool { return counters.Pass(context.Background(), client, r.Conn, time.Minute) == nil },
			waitLimit, 20*time.Millisecond)
	}
}

// What is lost with a topic that is deleted and recreated is never counted, and does not keep the
// counters from being caught up.
func TestCaughtUpWithARecreatedTopic(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.stopConsumer()
	r.send(r.link(nil), func(*event.Event) {})
	pass := r.passes()
	caughtUp := func() (is bool) {
		t.Helper()
		require.NoError(t, r.Postgres.Unscoped().QueryRow(t.Context(),
			"SELECT EXISTS (SELECT FROM rounds WHERE service = 'counters')").Scan(&is))
		return is
	}
	pass() // sets a mark
	pass()
	require.False(t, caughtUp())
	_, err := kadm.NewClient(r.Client).DeleteTopics(t.Context(), event.Topic, event.LinkViewTopic)
	require.NoError(t, err)
	_, err = kafka.CreateTopics(t.Context(), r.Client, kafka.TopicConfig{Partitions: 2, Replication: 1})
	require.NoError(t, err)
	pass() // sets one of the new topic
	pass()
	require.True(t, caughtUp())
}
