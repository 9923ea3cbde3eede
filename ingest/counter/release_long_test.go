//go:build long

package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// What the release before counted is shown until the link is converted, in the background or for its next event. A consumer of that
// release may count beside this one: its counts are neither added nor taken for later ones.
func TestCountersOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	read, again, unread := r.link(nil), r.link(nil), r.link(nil)
	session := uuid.New()
	inSession := func(e *event.Event) { e.SessionID = session }
	generic := uuid.New()
	r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug, view_count) VALUES ($1, $2, $3, 'slug', 1)", generic, r.account, r.magnet)
	r.send(read, func(*event.Event) {})
	r.send(again, inSession)
	r.land(generic, recently)
	r.awaitStored()
	// The release before counted everything up to here, in the wide tables.
	r.Exec("UPDATE access_links SET view_count = 1, viewed = true, first_viewed_at = $2, last_viewed_at = $2 WHERE id = $1", read, recently.Add(time.Second))
	r.Exec("UPDATE access_links SET view_count = 1, viewed = true, first_viewed_at = $2, last_viewed_at = $2 WHERE id = $1", again, recently.Add(2*time.Second))
	for _, topic := range []string{event.Topic, event.LinkViewTopic} {
		topicID, _, err := kafka.Topic(t.Context(), r.Client, topic)
		require.NoError(t, err)
		ranges, err := kafka.Ranges(t.Context(), r.Client, topic)
		require.NoError(t, err)
		for partition, held := range ranges {
			r.Exec("INSERT INTO counted_partitions (topic_id, partition, next_offset) VALUES ($1, $2, $3)", topicID, partition, held.To)
		}
	}
	r.Exec("UPDATE count_conversion SET links_before = now() + interval '1 hour', finished = false")
	r.await("access_links", read, 1, 1, 1)
	r.send(again, inSession)
	r.send(again, func(*event.Event) {})
	r.land(generic, recently.Add(time.Second)) // in the minute that was counted
	r.land(generic, recently.Add(time.Minute))
	r.start()
	r.await("access_links", again, 2, 2, 4)
	r.awaitLanded(generic, 2)
	// Links without new events follow.
	require.Eventually(t, func() bool {
		var narrow int
		err := r.Postgres.Unscoped().QueryRow(context.Background(), "SELECT count(*) FROM access_link_counts WHERE id = ANY ($1)", []uuid.UUID{read, unread}).Scan(&narrow)
		return err == nil && narrow == 2
	}, waitLimit, 20*time.Millisecond)
	r.await("access_links", read, 1, 1, 1)
	r.await("access_links", unread, 0, 0, 0)
	// The consumer of the release before goes on for a while.
	r.Exec("UPDATE access_links SET view_count = 7, last_viewed_at = $2 WHERE id = $1", again, recently)
	r.send(again, inSession)
	r.await("access_links", again, 2, 2, 5)
}

// The activity of a session that began under the release before is what its events say, not what is added to what that release wrote.
func TestSessionsOfTheReleaseBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link := r.link(nil)
	session := r.session(link, recently)
	page := func(page, duration uint32) {
		r.send(link, func(e *event.Event) { e.SessionID, e.Page, e.DurationMS = session, page, duration })
	}
	page(3, 1000)
	r.awaitStored()
	r.Exec("UPDATE count_conversion SET links_before = now() + interval '1 hour', finished = false")
	r.Exec("UPDATE sessions SET pages = '{3}', duration_ms = 1000, last_active_at = $1", recently.Add(time.Second))
	r.start()
	page(1, 500)
	want := activity{recently.Add(2 * time.Second), []int32{1, 3}, 1500}
	require.Eventually(t, func() bool { return r.activity(session).Last.Equal(want.Last) }, waitLimit, 20*time.Millisecond)
	require.Equal(t, want, r.activity(session))
}
