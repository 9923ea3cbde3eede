//go:build long

package counter_test

import (
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
)

// A session counts once if its events are in several partitions, as after a replay, or came through
// a topic that is gone.
func TestASessionOfSeveralPartitionsCountsOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	session := uuid.New()
	on := func(partition int32) {
		r.n++
		e := event.Event{
			AccountID: r.account, LeadMagnetID: r.magnet, AccessLinkID: link, SessionID: session,
			EventID: uuid.New(), Type: event.PageViewed,
			CreatedAt: recently.UnixMilli() + r.n*1000, ReceivedAt: recently.UnixMilli() + r.n*1000,
		}
		require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), &kgo.Record{Topic: event.Topic, Partition: partition,
			Value: e.Append(nil)}).FirstErr())
	}
	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	gone := func(session uuid.UUID) {
		require.NoError(t, conn.Exec(native.Context(t.Context(), native.WithParameters(native.Parameters{
			"account": r.account.String(), "magnet": r.magnet.String(), "link": link.String(),
			"session": session.String(), "event": uuid.NewString(),
			"topic": uuid.NewString(), "at": recently.Format("2006-01-02 15:04:05"),
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

	gone(uuid.New())
	r.start() // it looks for rows of other topics first
	r.await("access_links", link, 2, 0, 4)
}
