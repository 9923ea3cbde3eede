package counter_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// land produces a view of a landing page, of one visitor.
func (r *rig) land(link uuid.UUID, at time.Time) {
	r.t.Helper()
	v := event.LinkView{
		AccountID: r.account, LeadMagnetID: r.magnet, GenericLinkID: link, EventID: uuid.New(),
		CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
	}
	record := &kgo.Record{Topic: event.LinkViewTopic, Partition: partitionOf(link), Key: link[:], Value: v.Append(nil)}
	require.NoError(r.t, r.Client.ProduceSync(r.t.Context(), record).FirstErr())
}

func (r *rig) awaitLanded(link uuid.UUID, want int64) {
	r.t.Helper()
	var got int64
	require.Eventually(r.t, func() bool {
		err := r.Postgres.Unscoped().QueryRow(context.Background(),
			"SELECT view_count FROM counted_generic_links WHERE id = $1", link).Scan(&got)
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
			e.SessionID, e.CreatedAt = session, recently.Add(time.Duration(hours)*time.Hour).UnixMilli()
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

// A visitor of a minute counts once however late a view comes, also when the views of the minute
// are not kept any more.
func TestLateViewsOfLandingPagesCountOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, mark := uuid.New(), uuid.New()
	for _, id := range []uuid.UUID{link, mark} {
		r.Exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", id,
			r.account, r.magnet, id.String())
	}
	r.start()
	r.land(link, recently)
	r.land(link, recently.Add(time.Hour))
	r.awaitLanded(link, 2)
	r.land(link, recently.Add(time.Second))
	r.land(link, recently.Add(-47*time.Hour))
	r.awaitLanded(link, 3)
	r.Exec("DELETE FROM landing_minutes")
	r.Exec("UPDATE generic_link_counts SET minutes_since = $1", recently.Add(2*time.Hour))
	r.land(link, recently.Add(2*time.Second))
	r.land(link, recently.Add(3*time.Hour))
	r.awaitLanded(link, 4)
	r.land(mark, recently)
	r.awaitLanded(mark, 1)
	r.awaitLanded(link, 4)
}
