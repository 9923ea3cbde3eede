package scope

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/clickhouse"
)

// modelCopy is a copy that stores events, some time after they came.
type modelCopy struct {
	skew   time.Duration         // of its server's clock
	stored map[int]time.Duration // when each event was, by the clock of all; absent: not yet
}

// A client that pulls from two copies in any order, whichever answers, sees every event, however
// far a copy falls behind and however fast it catches up.
func TestWhoeverGoesOnInAnotherCopyMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const maxLag, second = 30 * time.Second, time.Second
		begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		ch := &ClickHouse{copies: &Copies{
			configs: []clickhouse.Config{{Copy: 1}, {Copy: 2}}, maxLag: maxLag, states: make([]copyState, 2),
		}}
		copies := []modelCopy{{stored: map[int]time.Duration{}}, {stored: map[int]time.Duration{}}}
		for i := range copies {
			copies[i].skew = time.Duration(rapid.IntRange(-1000, 1000).Draw(t, "skew")) * time.Millisecond
		}
		var came []time.Duration // of each event
		stopped, turns, pulls := []bool{true, true}, []int{0, 0}, 0
		seen := map[int]bool{}
		var place time.Time
		pull := func(now time.Duration, of int) {
			clock := begin.Add(now + copies[of].skew)
			from := begin
			if !place.IsZero() {
				from = ch.As(place, stamp(place, int32(of+1)))
			}
			for event, at := range copies[of].stored {
				if begin.Add(at + copies[of].skew).Truncate(time.Millisecond).After(from.Truncate(time.Millisecond)) {
					seen[event] = true
				}
			}
			place = ch.Resume(stamp(clock.Add(-ClockSlack), int32(of+1)))
		}
		now := time.Duration(0)
		for range rapid.IntRange(50, 300).Draw(t, "seconds") {
			now += second
			for range rapid.IntRange(0, 2).Draw(t, "events") {
				came = append(came, now)
			}
			for i := range copies {
				if turns[i]--; turns[i] <= 0 {
					stopped[i], turns[i] = !stopped[i], rapid.IntRange(1, 150).Draw(t, "turn")
				}
				has := now
				for event, at := range came {
					if _, ok := copies[i].stored[event]; ok {
						continue
					}
					if stopped[i] {
						has = min(has, at)
						continue
					}
					copies[i].stored[event] = now + time.Duration(rapid.IntRange(0, 900).Draw(t, "late"))*time.Millisecond
				}
				ch.copies.states[i].note(horizon{begin.Add(now), begin.Add(has - second)})
			}
			if pulls--; pulls <= 0 {
				pull(now+second, rapid.IntRange(0, 1).Draw(t, "of"))
				pulls = rapid.IntRange(1, 90).Draw(t, "pull")
			}
		}
		for i := range copies {
			for event := range came {
				if _, ok := copies[i].stored[event]; !ok {
					copies[i].stored[event] = now
				}
			}
		}
		pull(now+second, rapid.IntRange(0, 1).Draw(t, "of"))
		var missed []int
		for event := range came {
			if !seen[event] {
				missed = append(missed, event)
			}
		}
		require.Empty(t, missed)
	})
}

func TestPlacesTellTheirCopy(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 9, 30, 0, 123_000_000, time.UTC)
	ch := &ClickHouse{copies: &Copies{configs: []clickhouse.Config{{}, {Copy: 2}}, maxLag: time.Minute,
		states: make([]copyState, 2)}}
	require.Equal(t, at, stamp(at, 1), "the first copy's are plain times")
	second := stamp(at, 2)
	require.Equal(t, "2026-03-01T09:30:00.123001Z", second.Format(time.RFC3339Nano))
	require.Equal(t, second, ch.As(second, second))
	require.Equal(t, at.Add(-time.Minute-ClockSlack), ch.As(second, at))
	require.Equal(t, stamp(at.Add(-time.Minute-ClockSlack), 2), ch.As(at, second))

	one := &ClickHouse{copies: One(clickhouse.Config{})}
	require.Equal(t, second, one.From(t.Context(), second), "who has one copy has no other place")
}

// The first copy that answers and is not too far behind is read; of those that are all too far
// behind, the first that has about as much as any.
func TestTheChoiceOfACopy(t *testing.T) {
	t.Parallel()
	const never = -1
	now := time.Now()
	type state struct {
		away   bool
		behind time.Duration
	}
	for name, c := range map[string]struct {
		states []state
		before int
		want   int
	}{
		"the first":                  {[]state{{}, {}}, 0, 0},
		"the first again":            {[]state{{}, {}}, 1, 0},
		"away":                       {[]state{{away: true}, {}}, 0, 1},
		"behind":                     {[]state{{behind: 2 * time.Minute}, {behind: 50 * time.Second}}, 0, 1},
		"within":                     {[]state{{behind: 50 * time.Second}, {}}, 1, 0},
		"all behind":                 {[]state{{behind: 10 * time.Minute}, {behind: 3 * time.Minute}}, 0, 1},
		"all behind, about alike":    {[]state{{behind: 10 * time.Minute}, {behind: 590 * time.Second}}, 1, 0},
		"all away":                   {[]state{{away: true}, {away: true}}, 1, 1},
		"the second never caught up": {[]state{{away: true}, {behind: never}}, 0, 0},
		"behind, and the rest away":  {[]state{{behind: time.Hour}, {away: true}}, 1, 0},
	} {
		copies := NewCopies(CopiesConfig{[]clickhouse.Config{{}, {Copy: 2}}, time.Minute},
			CopiesDeps{Log: slog.New(slog.DiscardHandler)})
		copies.chosen = c.before
		for i, s := range c.states {
			copies.states[i].away = s.away
			if s.behind != never {
				copies.states[i].note(horizon{now, now.Add(-s.behind)})
			}
		}
		copies.choose(now)
		require.Equal(t, c.want, copies.chosen, name)
	}
}

func TestHorizonsAreKeptForAWhile(t *testing.T) {
	t.Parallel()
	var s copyState
	begin := time.Now()
	for i := range 1000 {
		s.note(horizon{begin.Add(time.Duration(i) * time.Second), begin})
	}
	require.Len(t, s.horizons, 301)
	s.note(horizon{begin.Add(1000 * time.Second), begin.Add(-time.Hour)})
	require.Equal(t, begin, s.has(), "a copy never has less")
	require.True(t, slices.IsSortedFunc(s.horizons, func(a, b horizon) int { return a.at.Compare(b.at) }))
}
