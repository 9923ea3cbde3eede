package consumer

import (
	"context"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
)

// A writer that was stopped after its last look at the clock sends its insert late. The token does
// not help once it is forgotten; the server's own clock does.
func TestTheServerRefusesAnInsertThatComesTooLate(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(3)
	rows := r.rows(0, 0, events...)
	s := r.store(0)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	deadline, _ := ctx.Deadline()
	before, err := s.bound(ctx, deadline)
	require.NoError(t, err)
	err = s.insertBefore(ctx, &s.connection, rows, "late"+r.group, before.Add(-time.Hour)) // as if the process had been stopped for an hour
	require.ErrorContains(t, err, "the insert came too late")
	require.False(t, clickhouse.IsRefusal(err), "it is tried again")
	r.requireStored(0)
	require.NoError(t, s.insert(ctx, &s.connection, rows, "late"+r.group), "the server is asked for its time anew")
	r.requireStored(3)
}

// An insert may begin within its timeout and is sent for as long as the server waits for its next bytes. Until then its token must not
// be forgotten, also on a server whose tables take two blocks a second of each of 300 partitions.
func TestATokenOutlivesTheInsertsThatCanStillArrive(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	field, _ := reflect.TypeFor[Config]().FieldByName("InsertTimeout")
	begin, err := time.ParseDuration(field.Tag.Get("default"))
	require.NoError(t, err)
	settings := insertQuery("events", nil, "").Settings
	silent := slices.IndexFunc(settings, func(s ch.Setting) bool { return s.Key == "receive_timeout" })
	wait, err := time.ParseDuration(settings[silent].Value + "s")
	require.NoError(t, err)
	const blocks = 2 * 300 // a second
	conn, err := clickhouse.Open(r.clickhouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	for _, s := range Streams() {
		var remembered uint64
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT toUInt64(extract(create_table_query, 'non_replicated_deduplication_window = ([0-9]+)'))"+
			" FROM system.tables WHERE database = 'lodestone' AND name = {table:String}", chParameter("table", s.Table)).Scan(&remembered))
		require.Greater(t, float64(remembered)/blocks, 2*(begin+wait).Seconds(), s.Table)
	}
}

func TestARepeatFromASpoolIsFoundHoweverOldItIs(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(4)
	// Stored long ago: another topic id stands for more offsets than the window holds.
	longAgo := *r
	longAgo.topicID = uuid.New()
	longAgo.storeRows(0, 0, "old"+r.group, events[0], events[1])
	events[0].Spooled, events[2].Spooled = true, true // one a repeat, one not
	r.produce(0, events...)                           // events[1] is a repeat as well, but its sender does not say so
	stop := r.consume(r.config())
	r.awaitCommit(0, 4)
	r.requireStoredRows(3)
	stop()

	// The same block built again, with its rows stored, is no repeat of itself.
	r.commit(0, 0, metadata(r.topicID, 3))
	r.consume(r.config())
	r.awaitCommit(0, 4)
	r.requireStoredRows(3)
}

// A full block of what collectors kept for a while is looked for in parts, none of which is passed over.
func TestRepeatsFromASpoolAreFoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(2*mostLookedFor + 1)
	var stored []event.Event
	want := map[identity]struct{}{}
	all := make([]decoded, len(events))
	reads := &eventDecoder{}
	for i := range events {
		d, err := reads.decode(events[i].Append(nil))
		require.NoError(t, err)
		all[i] = d
		switch i {
		case 0, mostLookedFor - 1, mostLookedFor, 2*mostLookedFor - 1, 2 * mostLookedFor:
			stored = append(stored, events[i])
			want[d.identity] = struct{}{}
		}
	}
	longAgo := *r
	longAgo.topicID = uuid.New()
	longAgo.storeRows(0, 0, "old"+r.group, stored...)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	found, err := r.store(0).storedBefore(ctx, all, 0, repeatWithin)
	require.NoError(t, err)
	require.Equal(t, want, found)
}

// Collectors' clocks may differ, and one of them may have believed the sender's time of up to 48 hours before.
func TestARepeatFromASpoolIsFoundWithinThreeDays(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(3)
	longAgo := *r
	longAgo.topicID = uuid.New()
	longAgo.storeRows(0, 0, "old"+r.group, events...)
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
		Referrer: []byte("https://example.com/"), URL: []byte("https://example.org/l/x?utm_source=a"), UserAgent: []byte("test"),
		CreatedAt: at, ReceivedAt: at + 5,
	}
	record := func() *kgo.Record {
		return &kgo.Record{Topic: event.LinkViewTopic, Key: view.GenericLinkID[:], Value: view.Append(nil)}
	}
	require.NoError(t, r.client.ProduceSync(t.Context(), record(), record()).FirstErr())
	view.EventID = uuid.New()
	require.NoError(t, r.client.ProduceSync(t.Context(), record()).FirstErr())
	r.consume(r.config())
	conn, err := clickhouse.Open(r.clickhouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	require.Eventually(t, func() bool {
		var rows uint64
		var referrer, url string
		err := conn.QueryRow(context.Background(), `SELECT count(), any(referrer), any(url) FROM lodestone.link_views
			WHERE generic_link_id = {link:UUID}`, chParameter("link", view.GenericLinkID.String())).Scan(&rows, &referrer, &url)
		return err == nil && rows == 2 && referrer == string(view.Referrer) && url == string(view.URL)
	}, patience, 20*time.Millisecond)
}
