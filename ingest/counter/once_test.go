package counter_test

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/counter"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// land produces a view of a landing page, of one visitor.
func (r *rig) land(link uuid.UUID, at time.Time) {
	r.t.Helper()
	v := event.LinkView{
		AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: link, EventID: uuid.New(), CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
	}
	record := &kgo.Record{Topic: event.LinkViewTopic, Partition: partitionOf(link), Key: link[:], Value: v.Append(nil)}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), record).FirstErr())
}

func (r *rig) awaitLanded(link uuid.UUID, want int64) {
	r.t.Helper()
	var got int64
	require.Eventually(r.t, func() bool {
		err := r.Postgres.Unscoped().QueryRow(context.Background(), "SELECT view_count FROM counted_generic_links WHERE id = $1", link).Scan(&got)
		return err == nil && got == want
	}, waitLimit, 20*time.Millisecond, "want %d views", want)
}

// A session counts once, in whatever order and how late its events come.
func TestLateEventsOfASessionCountOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, mark := r.link(nil), r.link(nil)
	session := uuid.New()
	at := func(hours int) func(e *event.Event) {
		return func(e *event.Event) {
			e.SessionID, e.CreatedAt = session, noon.Add(time.Duration(hours)*time.Hour).UnixMilli()
		}
	}
	r.start()
	r.send(link, at(0))
	r.await("access_links", link, 1, 0, 0)
	r.send(link, at(2))
	r.await("access_links", link, 1, 0, 7200)
	r.send(link, at(-47))
	r.await("access_links", link, 1, -47*3600, 7200)
	r.send(link, at(-24*100)) // it waited in a spool
	r.await("access_links", link, 1, -2400*3600, 7200)
	r.send(link, func(e *event.Event) { at(-24 * 100)(e); e.SessionID = uuid.New() })
	r.await("access_links", link, 2, -2400*3600, 7200)
	r.send(mark, func(*event.Event) {})
	r.await("access_links", mark, 1, int(r.n), int(r.n))
	r.await("access_links", link, 2, -2400*3600, 7200)
}

// A session counts once if its events are in several partitions, as after a doubling, or came through a topic that is gone. Of a
// span that is counted again nothing is added.
func TestASessionOfSeveralPartitionsCountsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	session := uuid.New()
	on := func(partition int32) {
		r.n++
		e := event.Event{
			AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: link, SessionID: session, EventID: uuid.New(), Type: event.PageViewed,
			CreatedAt: noon.UnixMilli() + r.n*1000, ReceivedAt: noon.UnixMilli() + r.n*1000,
		}
		require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), &kgo.Record{Topic: event.Topic, Partition: partition, Value: e.Append(nil)}).FirstErr())
	}
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	gone := func(session uuid.UUID) {
		require.NoError(t, conn.Exec(native.Context(t.Context(), native.WithParameters(native.Parameters{
			"account": r.account.String(), "magnet": r.magnet.String(), "link": link.String(), "session": session.String(), "event": uuid.NewString(),
			"topic": uuid.NewString(), "at": noon.Format("2006-01-02 15:04:05"),
		})), `INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type, created_at, received_at, kafka_topic_id)
			SELECT {account:UUID}, {magnet:UUID}, {link:UUID}, {session:UUID}, {event:UUID}, 'page_viewed', toDateTime64({at:String}, 3), toDateTime64({at:String}, 3), {topic:UUID}
			SETTINGS async_insert = 0`))
	}
	gone(session)
	r.start()
	r.start()
	r.await("access_links", link, 1, 0, 0)
	on(1)
	on(0)
	on(0)
	on(1)
	r.await("access_links", link, 1, 0, 4)

	topicID, _, err := kafka.Topic(t.Context(), r.Client, event.Topic)
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, counter.Recount(t.Context(), r.Postgres, conn, event.Topic, topicID, 0, 0, 1))
		require.NoError(t, counter.Recount(t.Context(), r.Postgres, conn, event.Topic, topicID, 1, 0, 1))
	}
	r.await("access_links", link, 1, 0, 4)
	gone(uuid.New())
	r.start() // it looks for rows of other topics first
	r.await("access_links", link, 2, 0, 4)
}

// A visitor of a minute counts once however late a view comes, also when the views of the minute are not kept any more.
func TestLateViewsOfLandingPagesCountOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, mark := uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{link, mark} {
		r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", id, r.account, r.magnet, id.String())
	}
	r.start()
	r.land(link, noon)
	r.land(link, noon.Add(time.Hour))
	r.awaitLanded(link, 2)
	r.land(link, noon.Add(time.Second))
	r.land(link, noon.Add(-47*time.Hour))
	r.awaitLanded(link, 3)
	r.Exec("DELETE FROM landing_minutes")
	r.Exec("UPDATE generic_link_counts SET minutes_since = $1", noon.Add(2*time.Hour))
	r.land(link, noon.Add(2*time.Second))
	r.land(link, noon.Add(3*time.Hour))
	r.awaitLanded(link, 4)
	r.land(mark, noon)
	r.awaitLanded(mark, 1)
	r.awaitLanded(link, 4)
}
