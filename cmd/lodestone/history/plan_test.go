package history

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/email"
	"lodestone/pkg/event"
)

// until is the present of the tests: a Wednesday, four weeks after European clocks were set back.
var until = time.Date(2026, 11, 25, 14, 37, 0, 0, time.UTC)

func drawn(t *testing.T, seed uint64, days int) *plan {
	t.Helper()
	p, err := draw(seed, days, until)
	require.NoError(t, err)
	return p
}

func TestThePlanDependsOnItsArgumentsOnly(t *testing.T) {
	t.Parallel()
	one, same, other := drawn(t, 3, 20), drawn(t, 3, 20), drawn(t, 4, 20)
	require.True(t, reflect.DeepEqual(one, same)) // a difference of thousands of things would be printed
	require.True(t, reflect.DeepEqual(one.entries(), same.entries()))
	require.NotEqual(t, one.count(), other.count())
}

func TestEverythingHappensInOrder(t *testing.T) {
	t.Parallel()
	for _, days := range []int{1, 2, 5, 14, 60} {
		for seed := range uint64(3) {
			p := drawn(t, seed, days)
			require.Equal(t, until.AddDate(0, 0, -days), p.from)
			requireOrder(t, p)
			last := p.from
			for _, e := range p.entries() {
				require.False(t, e.received.Truncate(time.Millisecond).Before(last.Truncate(time.Millisecond)), "the log goes forward")
				require.True(t, e.received.Before(p.until))
				last = e.received
			}
		}
	}
}

// requireOrder checks that nothing happens before what it follows from, or out of its list's order.
func requireOrder(t *testing.T, p *plan) {
	t.Helper()
	within := func(at time.Time) {
		t.Helper()
		require.False(t, at.Before(p.from))
		require.True(t, at.Before(p.until))
	}
	require.True(t, slices.IsSortedFunc(p.views, func(a, b *view) int { return a.at.Compare(b.at) }))
	require.True(t, slices.IsSortedFunc(p.submissions, func(a, b *submission) int { return a.at.Compare(b.at) }))
	require.True(t, slices.IsSortedFunc(p.links, func(a, b *link) int { return a.at.Compare(b.at) }))
	require.True(t, slices.IsSortedFunc(p.sessions, func(a, b *session) int { return a.at.Compare(b.at) }))
	for _, v := range p.views {
		within(v.at)
		require.False(t, v.at.Before(p.out[documentOf[v.landing]][0]), "a landing page that is not there yet")
	}
	for _, s := range p.submissions {
		within(s.at)
		if !s.verifiedAt.IsZero() {
			within(s.verifiedAt)
			require.Equal(t, fromWebinar, s.landing)
			require.True(t, s.verifiedAt.After(s.at))
		}
	}
	for _, l := range p.links {
		within(l.at)
		if l.submission == nil {
			require.Equal(t, "api", l.source)
			continue
		}
		require.False(t, l.at.Before(l.submission.at))
		if l.landing == fromWebinar {
			require.Equal(t, l.submission.verifiedAt, l.at, "nothing leads to the document before the address is verified")
			require.Equal(t, "mail", l.source)
		}
	}
	for _, s := range p.sessions {
		require.True(t, s.at.After(s.link.at))
		require.Equal(t, p.version(s.link.document, s.at), s.version)
		require.NotEmpty(t, s.events)
		for _, a := range s.events {
			require.False(t, a.at.Before(s.at))
			require.False(t, a.received.Before(a.at))
			require.Less(t, a.received.Sub(a.at), 48*time.Hour, "the collector would date it again")
			within(a.received)
			require.LessOrEqual(t, a.page, pages(s.link.document, s.version))
		}
	}
}

// Every address is one that is reserved for examples, and of one person, who sends each form once.
func TestPeopleAreNoOneElse(t *testing.T) {
	t.Parallel()
	p := drawn(t, 1, 60)
	people := map[string]*person{}
	forms := map[signed]bool{}
	check := func(who *person) {
		t.Helper()
		address, err := email.Parse(who.email)
		require.NoError(t, err)
		host := who.email[strings.LastIndexByte(who.email, '@')+1:]
		require.True(t, strings.HasSuffix(host, ".example") || strings.HasSuffix(host, ".example.com") || strings.HasSuffix(host, ".example.org"), host)
		if known := people[address.Key]; known != nil {
			require.Same(t, known, who)
		}
		people[address.Key] = who
	}
	for _, s := range p.submissions {
		check(s.person)
		require.False(t, forms[signed{s.person, s.landing}])
		forms[signed{s.person, s.landing}] = true
	}
	for _, l := range p.links {
		check(l.person)
	}
	require.Greater(t, len(people), 1000)
}

func TestPeopleKeepTheirHours(t *testing.T) {
	t.Parallel()
	p := drawn(t, 1, 60)
	var days [7]int
	var tuesdays, letters, night, all int
	zones := map[string]int{}
	for _, v := range p.views {
		if v.visitor.bot {
			continue
		}
		local := v.at.In(v.visitor.zone)
		days[local.Weekday()]++
		zones[v.visitor.place.zone]++
		if all++; local.Hour() < 6 {
			night++
		}
		if v.campaign == letter {
			if letters++; local.Weekday() == time.Tuesday {
				tuesdays++
			}
		}
	}
	for _, weekday := range []time.Weekday{time.Monday, time.Tuesday, time.Wednesday, time.Thursday} {
		require.Greater(t, 2*days[weekday], 3*days[time.Saturday], "%v", days)
		require.Greater(t, 2*days[weekday], 3*days[time.Sunday], "%v", days)
	}
	require.Less(t, 20*night, all, "few are awake")
	require.Greater(t, 2*tuesdays, letters, "the letter comes out on Tuesdays")
	require.Len(t, zones, len(places))
}

func TestEveryPartOfTheStoryOccurs(t *testing.T) {
	t.Parallel()
	for _, days := range []int{45, 60, 120} {
		for seed := uint64(1); seed <= 3; seed++ {
			p := drawn(t, seed, days)
			t.Run(fmt.Sprint(days, " ", seed), func(t *testing.T) {
				t.Parallel()
				requireCampaigns(t, p)
				requireReaders(t, p)
				requirePrograms(t, p)
			})
		}
	}
}

func requireCampaigns(t *testing.T, p *plan) {
	t.Helper()
	first, last := map[int]time.Time{}, map[int]time.Time{}
	for _, v := range p.views {
		if first[v.campaign].IsZero() {
			first[v.campaign] = v.at
		}
		last[v.campaign] = v.at
	}
	for i := range campaigns {
		require.NotZero(t, first[i], "campaign %d", i)
	}
	week := 7 * 24 * time.Hour
	for _, i := range []int{advert, webinar} {
		require.Greater(t, first[i].Sub(p.from), week, "campaign %d starts later", i)
		require.Greater(t, p.until.Sub(last[i]), week, "campaign %d stops", i)
	}
	require.Less(t, last[launch].Sub(p.from), p.until.Sub(p.from)/2+week)
	counted := p.count()
	share := func(n numbers) float64 { return float64(n["finished"]) / float64(n["readers"]) }
	require.Greater(t, share(counted.bySource["newsletter"]), 4*share(counted.bySource["google"]), "one campaign brings readers who finish")
	require.Greater(t, counted.bySource["google"]["submissions"], counted.bySource["webinar"]["submissions"], "another one brings forms")
	require.Less(t, 2*counted.all["finished"], counted.all["readers"], "most readers do not finish")
	require.Greater(t, share(counted.versions["2"]), share(counted.versions["1"]), "the second edition is finished more often")
	require.Greater(t, counted.all["readers"], counted.all["people"])
	require.Greater(t, counted.all["link_views"], counted.all["visitors"])
	require.Greater(t, counted.all["submissions"], counted.all["verified"], "some addresses are never verified")
	require.Positive(t, counted.bots)
}

func requireReaders(t *testing.T, p *plan) {
	t.Helper()
	documents, days := map[*person]map[int]bool{}, map[*link]map[string]bool{}
	found := map[string]bool{}
	agents := map[string]bool{}
	for _, s := range p.sessions {
		if s.isScan() {
			continue
		}
		if documents[s.link.person] == nil {
			documents[s.link.person] = map[int]bool{}
		}
		if days[s.link] == nil {
			days[s.link] = map[string]bool{}
		}
		documents[s.link.person][s.link.document], days[s.link][s.at.Format(time.DateOnly)] = true, true
		found["both documents"] = found["both documents"] || len(documents[s.link.person]) == 2
		found["another day"] = found["another day"] || len(days[s.link]) > 1
		found["private"] = found["private"] || s.visitor.private
		found["mobile"], found["desktop"] = found["mobile"] || s.visitor.mobile, found["desktop"] || !s.visitor.mobile
		found[s.link.source], found[s.visitor.place.language] = true, true
		agents[s.visitor.agent] = true
		for _, a := range s.events {
			found["again"] = found["again"] || a.again
			found["late"] = found["late"] || a.received.Sub(a.at) > time.Hour
			found[a.kind.String()] = true
			found["cancelled download"] = found["cancelled download"] || a.kind == event.DownloadStarted && a == s.events[len(s.events)-1]
		}
	}
	for _, part := range []string{
		"both documents", "another day", "private", "mobile", "desktop", "mail", "form", "api", "de", "en", "es", "again", "late",
		"page_viewed", "download_started", "download_completed", "cancelled download",
	} {
		require.True(t, found[part], part)
	}
	require.Greater(t, len(agents), 8)
}

func requirePrograms(t *testing.T, p *plan) {
	t.Helper()
	crawled, scanned := false, false
	for _, v := range p.views {
		crawled = crawled || v.visitor.bot
	}
	for _, s := range p.sessions {
		scanned = scanned || s.isScan()
	}
	require.True(t, crawled)
	require.True(t, scanned)
	r, err := newRecorder(uuid.New(), &ids{})
	require.NoError(t, err)
	for agent, rule := range r.rules {
		require.NotEmpty(t, rule, "the collector takes it for a person: %s", agent)
	}
	for _, agent := range slices.Concat(desktops, mobiles) {
		require.NotContains(t, r.rules, agent)
	}
}

// Of sixty days there is enough to look at, and not more than a minute's work.
func TestSixtyDays(t *testing.T) {
	t.Parallel()
	p := drawn(t, 1, 60)
	for name, bounds := range map[string][3]int{
		"views": {len(p.views), 5_000, 9_000}, "submissions": {len(p.submissions), 1_200, 2_400}, "sessions": {len(p.sessions), 1_200, 3_000},
		"records": {len(p.entries()), 12_000, 25_000},
	} {
		require.Greater(t, bounds[0], bounds[1], name)
		require.Less(t, bounds[0], bounds[2], name)
	}
}
