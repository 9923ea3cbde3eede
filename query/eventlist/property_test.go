package eventlist

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

var epoch = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// world is a small set of values that events are drawn from, so that they often share some of them.
type world struct {
	account uuid.UUID
	links   []uuid.UUID // link i is of magnet i % len(magnets)
	magnets []uuid.UUID
	topics  []uuid.UUID
	next    map[uuid.UUID]int64
	events  []querytest.StoredEvent
	begin   time.Time // of the first events
	spread  int64     // days that events are spread over, and that some are stored late; 0: less than a second
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{account: querytest.ID(t), begin: epoch, next: map[uuid.UUID]int64{}}
	for range 5 {
		w.links = append(w.links, querytest.ID(t))
	}
	for range 3 {
		w.magnets = append(w.magnets, querytest.ID(t))
		w.topics = append(w.topics, uuid.New())
	}
	return w
}

// store makes n events with times within a second or so and stores them as one block.
func (w *world) store(t testing.TB, conn driver.Conn, random *rand.Rand, n int) {
	t.Helper()
	batch := make([]querytest.StoredEvent, n)
	for i := range batch {
		link := random.IntN(len(w.links))
		topic := w.topics[random.IntN(len(w.topics))]
		w.next[topic]++
		created := w.begin.UnixMilli() + random.Int64N(12)*100 // many at the same time
		if w.spread > 0 {
			day := random.Int64N(w.spread)
			if random.IntN(2) == 0 {
				day = w.spread / 2 // so that days of a link with few events are beside one with many
			}
			created = w.begin.UnixMilli() + day*dayLength.Milliseconds() + random.Int64N(3)*100
		}
		batch[i] = querytest.StoredEvent{
			Event: event.Event{
				AccountID: w.account, LeadMagnetID: w.magnets[link%len(w.magnets)],
				AccessLinkID: w.links[link], EventID: uuid.New(),
				Type: event.Types()[random.IntN(3)], Bot: []string{"", "", "a rule"}[random.IntN(3)],
				CreatedAt: created, ReceivedAt: created,
			},
			StoredAt: time.UnixMilli(created + random.Int64N(5)*100 + random.Int64N(w.spread+1)/2*dayLength.Milliseconds()),
			TopicID:  topic, Partition: int32(random.IntN(2)), Offset: w.next[topic],
		}
	}
	querytest.Store(t, conn, batch...)
	w.events = append(w.events, batch...)
}

// matching returns the events that the filter lets through, newest first: the model.
func (w *world) matching(f Filter) []querytest.StoredEvent {
	var list []querytest.StoredEvent
	for _, e := range w.events {
		created := time.UnixMilli(e.CreatedAt)
		if (f.AccessLinkID == nil || *f.AccessLinkID == e.AccessLinkID) &&
			(f.LeadMagnetID == nil || *f.LeadMagnetID == e.LeadMagnetID) &&
			(f.Type == 0 || f.Type == e.Type) &&
			(f.From == nil || !created.Before(*f.From)) &&
			(f.To == nil || created.Before(*f.To)) &&
			(f.ReceivedAfter == nil || e.StoredAt.After(*f.ReceivedAfter)) &&
			(f.Bot == nil || *f.Bot == (e.Bot != "")) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b querytest.StoredEvent) int {
		switch {
		case a.CreatedAt != b.CreatedAt:
			return int(b.CreatedAt - a.CreatedAt)
		case a.TopicID != b.TopicID: // ClickHouse compares the second half first
			if order := bytes.Compare(b.TopicID[8:], a.TopicID[8:]); order != 0 {
				return order
			}
			return bytes.Compare(b.TopicID[:8], a.TopicID[:8])
		case a.Partition != b.Partition:
			return int(b.Partition - a.Partition)
		default:
			return int(b.Offset - a.Offset)
		}
	})
	return list
}

func ids(events []Event) []uuid.UUID {
	list := make([]uuid.UUID, len(events))
	for i := range events {
		list[i] = events[i].ID
	}
	return list
}

func storedIDs(events []querytest.StoredEvent) []uuid.UUID {
	list := make([]uuid.UUID, len(events))
	for i := range events {
		list[i] = events[i].EventID
	}
	return list
}

func drawFilter(t *rapid.T, w *world) Filter {
	optional := func(name string) bool { return rapid.IntRange(0, 2).Draw(t, name) == 0 }
	instant := func(name string) *time.Time {
		at := w.begin.Add(time.Duration(rapid.IntRange(-2, 28).Draw(t, name))*50*time.Millisecond +
			time.Duration(rapid.IntRange(-1, 1).Draw(t, name+"_ns")))
		if w.spread > 0 {
			at = at.Add(time.Duration(rapid.Int64Range(-1, w.spread+1).Draw(t, name+"_day")) * dayLength)
		}
		return &at
	}
	id := func(name string, known []uuid.UUID) *uuid.UUID {
		// One in a few is unknown: the last index.
		i := rapid.IntRange(0, len(known)).Draw(t, name)
		if i == len(known) {
			return &uuid.UUID{0: 1}
		}
		return &known[i]
	}
	var f Filter
	if optional("by link") {
		f.AccessLinkID = id("link", w.links)
	}
	if optional("by magnet") {
		f.LeadMagnetID = id("magnet", w.magnets)
	}
	if optional("by type") {
		f.Type = rapid.SampledFrom(event.Types()).Draw(t, "type")
	}
	if optional("by from") {
		f.From = instant("from")
	}
	if optional("by to") {
		f.To = instant("to")
	}
	if optional("by received") {
		f.ReceivedAfter = instant("received")
	}
	if optional("by bot") {
		bot := rapid.Bool().Draw(t, "bot")
		f.Bot = &bot
	}
	return f
}

// Whatever the filter, count, pages and cursors agree with a plain model.
func TestListAgreesWithModel(t *testing.T) {
	t.Parallel()
	for _, spread := range []int64{0, 5, 400} {
		t.Run(fmt.Sprintf("%d days", spread), func(t *testing.T) {
			t.Parallel()
			testListAgreesWithModel(t, epoch, spread)
		})
	}
	t.Run("40 days until now", func(t *testing.T) {
		t.Parallel()
		testListAgreesWithModel(t, time.Now().UTC().AddDate(0, 0, -35).Truncate(dayLength), 40)
	})
}

func testListAgreesWithModel(t *testing.T, begin time.Time, spread int64) {
	t.Helper()
	ctx := context.Background()
	conn := querytest.Conn(t)
	lister := New(querytest.Scoped(t))
	w, other := newWorld(t), newWorld(t)
	w.spread, other.spread = spread, spread
	w.begin, other.begin = begin, begin
	random := rand.New(rand.NewPCG(1, 2))
	other.links, other.magnets = w.links, w.magnets // ids of our links in another's events show nothing of them
	for range 4 {
		w.store(t, conn, random, 60)
		other.store(t, conn, random, 60)
	}
	rapid.Check(t, func(r *rapid.T) {
		f := drawFilter(r, w)
		want := w.matching(f)
		total, err := lister.Count(ctx, w.account, f)
		require.NoError(r, err)
		require.EqualValues(r, len(want), total)

		offset := rapid.IntRange(0, len(want)+3).Draw(r, "offset")
		limit := rapid.IntRange(1, 101).Draw(r, "limit")
		page, total, err := lister.Page(ctx, w.account, f, int64(offset), int64(limit))
		require.NoError(r, err)
		require.EqualValues(r, len(want), total)
		begin := min(offset, len(want))
		require.Equal(r, storedIDs(want[begin:min(begin+limit, len(want))]), ids(page))

		if len(page) > 0 {
			last := page[len(page)-1]
			rest, total, err := lister.After(ctx, w.account, f, last.Position, int64(limit))
			require.NoError(r, err)
			require.EqualValues(r, len(want), total)
			begin = min(begin+len(page), len(want))
			require.Equal(r, storedIDs(want[begin:min(begin+limit, len(want))]), ids(rest))
		}
	})
}

// A walk by cursor meets every event that was stored before it exactly once, in order, and no
// event twice, while others are stored before, among and after them.
func TestWalkWhileEventsComeIn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	conn, lister := querytest.Conn(t), New(querytest.Scoped(t))
	for seed := range uint64(4) {
		random := rand.New(rand.NewPCG(seed, 7))
		w := newWorld(t)
		w.store(t, conn, random, 50)
		var f Filter
		if seed%2 == 1 {
			f.LeadMagnetID = &w.magnets[0]
		}
		before := w.matching(f)
		limit := int64(3 + random.IntN(9))
		seen := map[uuid.UUID]int{}
		walked, _, err := lister.Page(ctx, w.account, f, 0, limit)
		require.NoError(t, err)
		for page := walked; len(page) > 0; {
			w.store(t, conn, random, 5)
			page, _, err = lister.After(ctx, w.account, f, page[len(page)-1].Position, limit)
			require.NoError(t, err)
			walked = append(walked, page...)
		}
		for i, e := range walked {
			require.NotContains(t, seen, e.ID, "repeated")
			seen[e.ID] = i
		}
		last := -1
		for _, e := range before {
			require.Contains(t, seen, e.EventID, "skipped")
			require.Greater(t, seen[e.EventID], last, "out of order")
			last = seen[e.EventID]
		}
	}
}

// Every field comes back as it was stored.
func TestFields(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	stored := querytest.StoredEvent{
		Event: event.Event{
			AccountID: querytest.ID(t), LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
			Type: event.DownloadCompleted, Data: []byte(`{"bytes":9007199254740993,"ünï":"\u0000"}`),
			IPHash: [16]byte{0, 1, 2, 0xff}, UserAgent: []byte("Mozilla/5.0 (ünï)"),
			CreatedAt: 1772323200123, ReceivedAt: 1772323200456,
		},
		TopicID: uuid.New(), Partition: 3, Offset: 1<<40 + 1,
	}
	querytest.Store(t, querytest.Conn(t), stored)
	page, _, err := New(querytest.Scoped(t)).Page(ctx, stored.AccountID, Filter{}, 0, 10)
	require.NoError(t, err)
	require.Equal(t, []Event{{
		ID: stored.EventID, AccessLinkID: stored.AccessLinkID, Type: "download_completed", Data: stored.Data,
		IPHash: stored.IPHash, UserAgent: "Mozilla/5.0 (ünï)",
		Position: Position{time.UnixMilli(1772323200123).UTC(), stored.TopicID, 3, 1<<40 + 1},
	}}, page)
}
