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
