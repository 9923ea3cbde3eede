package report_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
	"lodestone/query/report"
)

func TestPages(t *testing.T) {
	t.Parallel()
	s, other := newStory(t), newStory(t)
	ann, bob, cara := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	s.view(ann, 1, 9, 0, time.Second, "") // an older version
	s.view(ann, 2, 1, 1, 2*time.Second, "")
	s.view(ann, 2, 1, 2, 4*time.Second, "")
	s.view(ann, 2, 3, 3, time.Hour, "")
	s.view(bob, 2, 1, 4, 0, "")
	s.view(cara, 2, 4, 5, time.Second, "scanner")
	s.view(cara, 3, 1, 6, time.Second, "scanner")
	other.view(ann, 5, 1, 1, time.Second, "")
	other.magnet = s.magnet
	other.view(ann, 5, 1, 1, time.Second, "")
	s.store()
	other.store()
	r := report.New(querytest.Scoped(t))

	got, err := r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet})
	require.NoError(t, err)
	require.Equal(t, report.Pages{Version: new(2), ExcludedBots: 1, Pages: []report.Page{
		{Number: 1, Reached: 2, Stopped: 1, PeopleReached: 2, PeopleStopped: 1, Views: 3, Readers: 2, Reread: 1,
			Median: new(3000.0), P90: new(3800.0)},
		{Number: 2, Reached: 1, PeopleReached: 1},
		{Number: 3, Reached: 1, Stopped: 1, PeopleReached: 1, PeopleStopped: 1, Views: 1, Readers: 1,
			Median: new(600000.0), P90: new(600000.0)},
	}}, got)

	got, err = r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet, Version: new(3)})
	require.NoError(t, err)
	require.Equal(t, report.Pages{Version: new(3), ExcludedBots: 1, Pages: []report.Page{}}, got)

	// Both bounds are exact: from is included, to is not.
	from, to := start.Add(2*time.Minute), start.Add(4*time.Minute)
	got, err = r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet, From: &from, To: &to})
	require.NoError(t, err)
	require.EqualValues(t, 1, got.Pages[0].Views)
	require.EqualValues(t, 1, got.Pages[2].Views)
	later := from.Add(time.Nanosecond)
	got, err = r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet, From: &later, To: &to})
	require.NoError(t, err)
	require.Zero(t, got.Pages[0].Views)

	// A page that is given far beyond the document does not make an answer of a million rows.
	s.view(ann, 4, 1_000_000, 1, time.Second, "")
	s.view(ann, 4, 0, 1, time.Second, "") // without a page
	querytest.Store(t, querytest.Conn(t), s.events[len(s.events)-2:]...)
	got, err = r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet})
	require.NoError(t, err)
	require.Len(t, got.Pages, 10_001)
	require.Equal(t, report.Page{Number: 10_000, Reached: 1, PeopleReached: 1}, got.Pages[9_999])
	require.Equal(t, 1_000_000, got.Pages[10_000].Number)

	for _, unread := range []uuid.UUID{querytest.ID(t), uuid.Nil} {
		got, err = r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: unread})
		require.NoError(t, err)
		require.Equal(t, report.Pages{Pages: []report.Page{}}, got)
	}
}

// A version ends with its last page, also if no one came so far. Of one whose pages were not
// counted, the last page viewed is the end.
func TestPagesThatNoOneViewed(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	ann := querytest.ID(t)
	s.view(ann, 1, 2, 0, time.Second, "")
	s.view(ann, 2, 2, 1, time.Second, "")
	s.view(ann, 3, 3, 2, time.Second, "") // beyond the end, as a client can send it
	s.store()
	s.count(2, 4)
	s.count(3, 1)
	s.count(4, 2)
	s.count(5, 20_000)
	r := report.New(querytest.Scoped(t))
	reached := func(version int) (list []int64) {
		got, err := r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet, Version: &version})
		require.NoError(t, err)
		for i, p := range got.Pages {
			require.Equal(t, i+1, p.Number)
			list = append(list, p.Reached)
		}
		return list
	}
	require.Equal(t, []int64{1, 1}, reached(1))
	require.Equal(t, []int64{1, 1, 0, 0}, reached(2))
	require.Equal(t, []int64{1, 1, 1}, reached(3))
	require.Equal(t, []int64{0, 0}, reached(4), "a version that was not read")
	require.Len(t, reached(5), 10_000)
	require.Empty(t, reached(0))
}

// Where no person read, no version is shown, and the bots of all versions are counted.
func TestPagesThatOnlyBotsViewed(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.view(querytest.ID(t), 1, 1, 0, time.Second, "scanner")
	s.view(querytest.ID(t), 2, 1, 1, time.Second, "scanner")
	s.view(querytest.ID(t), 2, 1, 60, time.Second, "scanner")
	s.store()
	r := report.New(querytest.Scoped(t))
	for to, bots := range map[time.Duration]int64{15 * time.Minute: 2, 61 * time.Minute: 3} {
		got, err := r.Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet, To: new(start.Add(to))})
		require.NoError(t, err)
		require.Equal(t, report.Pages{ExcludedBots: bots, Pages: []report.Page{}}, got)
	}
}

// The report says what a walk over the same events says.
func TestPagesAgainstAModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 7))
		s := newStory(t)
		links := []uuid.UUID{querytest.ID(t), querytest.ID(t), querytest.ID(t), querytest.ID(t), querytest.ID(t)}
		s.person(links[0], links[1])
		s.person(links[2], links[3])
		for range 1 + random.IntN(120) {
			bot := ""
			if random.IntN(6) == 0 {
				bot = "scanner"
			}
			duration := time.Duration(random.IntN(900)) * time.Second * time.Duration(random.IntN(2))
			s.view(links[random.IntN(len(links))], 1, 1+random.IntN(9), random.IntN(100), duration, bot)
		}
		s.store()
		from := start.Add(time.Duration(random.IntN(60)) * time.Minute)
		got, err := report.New(querytest.Scoped(t)).Pages(t.Context(), s.account, report.PagesQuestion{LeadMagnetID: s.magnet,
			Version: new(1), From: &from})
		require.NoError(t, err)
		require.Equal(t, s.pages(from), got, "seed %d", seed)
	}
}

// pages is the report of version 1, made slowly.
func (s *story) pages(from time.Time) report.Pages {
	want := report.Pages{Version: new(1), Pages: []report.Page{}}
	views, times, furthest, people := map[uint32]map[uuid.UUID]int{}, map[uint32][]float64{},
		map[uuid.UUID]uint32{}, map[uuid.UUID]uint32{}
	last := uint32(0)
	for _, e := range s.events {
		switch {
		case e.CreatedAt < from.UnixMilli():
		case e.Bot != "":
			want.ExcludedBots++
		default:
			if views[e.Page] == nil {
				views[e.Page] = map[uuid.UUID]int{}
			}
			views[e.Page][e.AccessLinkID]++
			if e.DurationMS > 0 {
				times[e.Page] = append(times[e.Page], min(float64(e.DurationMS), 600000))
			}
			furthest[e.AccessLinkID] = max(furthest[e.AccessLinkID], e.Page)
			people[s.owner(e.AccessLinkID)] = max(people[s.owner(e.AccessLinkID)], e.Page)
			last = max(last, e.Page)
		}
	}
	for number := uint32(1); number <= last; number++ {
		page := report.Page{Number: int(number), Median: quantile(times[number], 0.5), P90: quantile(times[number], 0.9)}
		for _, f := range furthest {
			if f >= number {
				page.Reached++
			}
			if f == number {
				page.Stopped++
			}
		}
		for _, f := range people {
			if f >= number {
				page.PeopleReached++
			}
			if f == number {
				page.PeopleStopped++
			}
		}
		for _, n := range views[number] {
			page.Views += int64(n)
			page.Readers++
			if n > 1 {
				page.Reread++
			}
		}
		want.Pages = append(want.Pages, page)
	}
	return want
}

// quantile is the inclusive quantile: linear between the two values around it.
func quantile(list []float64, level float64) *float64 {
	if len(list) == 0 {
		return nil
	}
	slices.Sort(list)
	at := level * float64(len(list)-1)
	below := int(at)
	if below == len(list)-1 {
		return &list[below]
	}
	value := list[below] + (at-float64(below))*(list[below+1]-list[below])
	value = math.Round(value*1000) / 1000
	return &value
}
