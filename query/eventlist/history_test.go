package eventlist

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/memory"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// patience bounds a wait for what must happen; it is no measure of speed.
const patience = 3 * time.Minute

// A month of its own, so that nothing but the test changes it.
const ownMonth = 201905

func storeIn(t *testing.T, account uuid.UUID, at ...time.Time) {
	t.Helper()
	var list []querytest.Stored
	for _, at := range at {
		list = append(list, querytest.Stored{
			Event: event.Event{
				AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
				Type: event.PageViewed, CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
			},
			TopicID: querytest.ID(t),
		})
	}
	querytest.Store(t, querytest.Conn(t), list...)
}

// Whatever happens to a month that is remembered, the next count knows.
func TestRememberedMonthIsCountedAnewWhenItChanges(t *testing.T) {
	t.Parallel()
	ctx, conn, account := context.Background(), querytest.Conn(t), querytest.ID(t)
	lister := New(querytest.Door(t))
	lister.quiet = 0
	begin := monthStart(ownMonth)
	end := begin.AddDate(0, 1, 0)
	f := Filter{From: &begin, To: &end}
	count := func() int64 {
		t.Helper()
		n, err := lister.Count(ctx, account, f)
		require.NoError(t, err)
		return n
	}
	synchronous := native.Context(ctx, native.WithSettings(native.Settings{"mutations_sync": 1}))

	require.Zero(t, count())
	storeIn(t, account, begin, begin.Add(time.Hour), begin.Add(30*dayLength))
	require.EqualValues(t, 3, count(), "a month appears")
	require.Contains(t, remembered(lister, account).months, uint32(ownMonth), "it is remembered")
	require.EqualValues(t, 3, count())
	storeIn(t, account, begin.Add(2*dayLength))
	require.EqualValues(t, 4, count(), "an event comes late")
	storeIn(t, querytest.ID(t), begin.Add(2*dayLength))
	require.EqualValues(t, 4, count(), "an event of another account")
	require.NoError(t, conn.Exec(ctx, "OPTIMIZE TABLE lodestone.events PARTITION ID '201905' FINAL")) //nolint:misspell // SQL has it so
	require.EqualValues(t, 4, count(), "parts are merged")
	require.NoError(t, conn.Exec(synchronous, "ALTER TABLE lodestone.events DELETE WHERE account_id = '"+account.String()+"' AND toDate(created_at) = '2019-05-01'"))
	require.EqualValues(t, 2, count(), "events are deleted")
	require.NoError(t, conn.Exec(ctx, "ALTER TABLE lodestone.events DROP PARTITION ID '201905'"))
	require.Zero(t, count(), "the month leaves")
}

// remembered returns what is known of an account, or nil.
func remembered(l *Lister, account uuid.UUID) *view {
	v, _ := l.history.Get(account, scope.Opening(time.Now()))
	return v
}

// What is remembered answers without looking into the months again.
func TestNothingIsReadOfWholeRememberedDays(t *testing.T) {
	t.Parallel()
	account := querytest.ID(t)
	lister := New(querytest.Door(t))
	lister.quiet = 0
	begin := monthStart(201803)
	storeIn(t, account, begin, begin.Add(time.Hour), begin.Add(3*dayLength))
	var v *view
	require.Eventually(t, func() bool { // a mutation of a test beside this one makes other parts of all months, which are not remembered while they change
		_, err := lister.Count(context.Background(), account, Filter{})
		require.NoError(t, err)
		if v = remembered(lister, account); v == nil {
			return false
		}
		_, known := v.months[201803]
		return known
	}, patience, 10*time.Millisecond)
	v = &view{open: v.open, months: map[uint32]knownMonth{201803: v.months[201803]}} // others' months may be restless

	end := begin.AddDate(0, 1, 0)
	known := v.recall(Filter{From: &begin, To: &end})
	require.False(t, known.rest)
	require.EqualValues(t, 3, known.tally.total)

	within := begin.Add(time.Minute)
	known = v.recall(Filter{From: &within, To: &end})
	require.Equal(t, []time.Time{begin}, known.unread, "a day of which the list has a part is read")
	require.EqualValues(t, 1, known.tally.total)

	known = v.recall(Filter{To: &end, ReceivedAfter: &end})
	require.EqualValues(t, 3, known.tally.total, "they were stored now")
	known = v.recall(Filter{To: &end, Type: event.DownloadStarted})
	require.Zero(t, known.tally.total)
	require.False(t, known.rest, "nothing is read of days without such events")
}

// A month that changed is remembered again when it has come to rest, also of an account of whose restless months no rows are read.
func TestMonthIsRememberedAgain(t *testing.T) {
	t.Parallel()
	ctx, account := context.Background(), querytest.ID(t)
	lister := New(querytest.Door(t))
	lister.quiet, lister.busy = 0, 0
	begin := monthStart(201607)
	storeIn(t, account, begin, begin.Add(time.Hour))
	lister.history.Set(account, &view{open: scope.Opening(time.Now()), restless: []uint32{201607}, monthly: 1})
	require.Eventually(t, func() bool { // tests beside this one change other months
		n, err := lister.Count(ctx, account, Filter{})
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
		_, known := remembered(lister, account).months[201607]
		return known
	}, patience, 10*time.Millisecond)
}

// What is left of an account is read by rows or by numbers, whichever is less.
func TestWayToCountTheRest(t *testing.T) {
	t.Parallel()
	open := monthStart(202603)
	later := open.Add(dayLength)
	lister := &Lister{many: 100, busy: 1000}
	for name, c := range map[string]struct {
		f       Filter
		monthly int64
		numbers bool
	}{
		"few":                      {Filter{}, 100, false},
		"many":                     {Filter{}, 101, true},
		"many, to a time":          {Filter{To: &later}, 101, true},
		"many, from a time before": {Filter{From: &open}, 101, true},
		"many, from a time":        {Filter{From: &later}, 101, false},
		"many, stored after":       {Filter{ReceivedAfter: &later}, 101, false},
		"busy, from a time":        {Filter{From: &later}, 1001, true},
	} {
		s := lister.restStatement(c.f, &view{open: open, monthly: c.monthly}, nil)
		require.Equal(t, c.numbers, s.Projection == "by_day", name)
	}
}

// Single days of months that are over are read by rows only while these are few.
func TestManyEventsOnSingleDaysAreNotRead(t *testing.T) {
	t.Parallel()
	stored, after := monthStart(202602), monthStart(202602).Add(time.Hour)
	v := &view{open: monthStart(202603), months: map[uint32]knownMonth{202601: {days: []knownDay{
		{start: monthStart(202601), first: stored, last: after.Add(1), numbers: []number{{events: 7}, {events: 8, bot: true}}},
		{start: monthStart(202601).Add(dayLength), first: stored, last: stored, numbers: []number{{events: 9}}},
	}}}}
	known := v.recall(Filter{ReceivedAfter: &after})
	require.EqualValues(t, 15, known.rows)
	require.Len(t, known.unread, 1)
}

// The driver gives a day as midnight in the server's time zone.
func TestADateIsItsDay(t *testing.T) {
	t.Parallel()
	want := monthStart(202603)
	for _, hours := range []int{-11, 0, 1, 14} {
		require.Equal(t, want, dateOf(time.Date(2026, 3, 1, 0, 0, 0, 0, time.FixedZone("", hours*3600))))
	}
}

func TestHistoryIsBounded(t *testing.T) {
	t.Parallel()
	h := memory.New[*view](mostRemembered)
	get := func(account uuid.UUID, open time.Time) *view {
		v, _ := h.Get(account, open)
		return v
	}
	open := scope.Opening(time.Now())
	large := func() *view {
		return &view{open: open, months: map[uint32]knownMonth{202501: {days: []knownDay{{numbers: make([]number, mostNumbers)}}}}}
	}
	first, second := uuid.New(), uuid.New()
	h.Set(first, large())
	h.Set(second, large())
	for range mostRemembered/mostNumbers - 2 {
		require.NotNil(t, get(first, open))
		h.Set(uuid.New(), large())
	}
	require.LessOrEqual(t, h.Size(), mostRemembered)
	require.Nil(t, get(second, open), "what was not asked for longest")
	require.NotNil(t, get(first, open))
	require.Nil(t, get(first, open.AddDate(0, 1, 0)), "a month that is over since")
	h.Set(first, &view{open: open})
	require.LessOrEqual(t, h.Size(), mostRemembered-mostNumbers)
}
