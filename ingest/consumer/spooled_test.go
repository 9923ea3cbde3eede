package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
)

func TestARepeatFromASpoolIsFoundHoweverOldItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(4)
	// Stored long ago: another topic id stands for more offsets than the window holds.
	before, longAgo := *r.Stack, *r
	before.TopicID, longAgo.Stack = uuid.New(), &before
	longAgo.storeRows(0, 0, events[0], events[1])
	// One is a repeat, one is not.
	events[0].Spooled, events[2].Spooled = true, true
	r.produce(0, events...) // events[1] is a repeat as well, but its sender does not say so
	stop := r.consume(r.config())
	r.awaitCommit(0, 4)
	r.requireStoredRows(3)
	stop()

	// The same block built again, with its rows stored, is no repeat of itself.
	r.commit(0, 0, announced(r.TopicID, 3))
	r.consume(r.config())
	r.awaitCommit(0, 4)
	r.requireStoredRows(3)
}

// A record that an earlier build made a dead letter is no row, though this build can decode it: its
// replay is stored, and counts as one, however often it is replayed.
func TestAReplayOfADeadLetterInTheWindowIsStoredOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(2)
	r.produce(0, events...)
	r.commit(0, 1, r.done()) // the first one was a dead letter
	for i := range events {
		events[i].Spooled = true
	}
	r.produce(0, events[0], events[0], events[1])
	stop := r.consume(r.config())
	r.awaitCommit(0, 5)
	stop()
	r.produce(0, events[0])
	stop = r.consume(r.config())
	r.awaitCommit(0, 6)
	r.requireStoredRows(2)
	stop()

	// The record of the dead letter is read again, by an operator's reset of the group: its event is
	// stored elsewhere.
	r.commit(0, 0, r.done())
	r.consume(r.config())
	r.awaitCommit(0, 6)
	r.requireStoredRows(2)
}

// Collectors' clocks may differ, and one of them may have believed the sender's time of up to 48
// hours before.
func TestARepeatFromASpoolIsFoundWithinThreeDays(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(3)
	before, longAgo := *r.Stack, *r
	before.TopicID, longAgo.Stack = uuid.New(), &before
	longAgo.storeRows(0, 0, events...)
	for i, later := range []time.Duration{71 * time.Hour, -71 * time.Hour, 73 * time.Hour} {
		events[i].Spooled = true
		events[i].CreatedAt += later.Milliseconds()
		r.produce(0, events[i])
		stop := r.consume(r.config()) // in blocks of their own: a block looks around all of its events
		r.awaitCommit(0, int64(i)+1)
		stop()
	}
	r.requireStoredRows(1)
}

func TestLinkViewsAreStoredAndTheirRepeatsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli()
	view := event.LinkView{
		AccountID: r.account, LeadMagnetID: uuid.New(), GenericLinkID: uuid.New(), EventID: uuid.New(),
		Referrer: []byte("https://example.com/"), URL: []byte("https://example.org/l/x?utm_source=a"),
		UserAgent: []byte("test"),
		CreatedAt: at, ReceivedAt: at + 5,
	}
	record := func() *kgo.Record {
		return &kgo.Record{Topic: event.LinkViewTopic, Key: view.GenericLinkID[:], Value: view.Append(nil)}
	}
	require.NoError(t, r.Client.ProduceSync(t.Context(), record(), record()).FirstErr())
	view.EventID = uuid.New()
	require.NoError(t, r.Client.ProduceSync(t.Context(), record()).FirstErr())
	r.consume(r.config())
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.Eventually(t, func() bool {
		var rows uint64
		var referrer, url string
		err := conn.QueryRow(context.Background(), `SELECT count(), any(referrer), any(url) FROM lodestone.link_views
			WHERE generic_link_id = {link:UUID}`, chParameter("link", view.GenericLinkID.String())).Scan(&rows, &referrer, &url)
		return err == nil && rows == 2 && referrer == string(view.Referrer) && url == string(view.URL)
	}, waitLimit, 20*time.Millisecond)
}
