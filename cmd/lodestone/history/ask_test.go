package history

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// answersTo returns the right answers to a tally.
func answersTo(t tally) answers {
	cells := func(of map[string]numbers) map[string]numbers {
		same := map[string]numbers{}
		for key, n := range of {
			same[key] = maps.Clone(n)
		}
		return same
	}
	weeks := map[time.Time]numbers{}
	for week, n := range t.weeks {
		weeks[week] = maps.Clone(n)
	}
	weeks[t.firstWeek().AddDate(0, 0, -7)] = numbers{} // the API has empty intervals as well
	return answers{
		api: tally{all: maps.Clone(t.all), bySource: cells(t.bySource), versions: cells(t.versions), weeks: weeks, bots: t.bots},
		sql: numbers{"link_views": t.all["link_views"], "sessions": t.all["sessions"], botRows: t.bots}, sqlBy: t.viewsBySource(),
	}
}

func (t *tally) firstWeek() (first time.Time) {
	for week := range t.weeks {
		if first.IsZero() || week.Before(first) {
			first = week
		}
	}
	return first
}

// Every number that is one off, or is missing, is a difference.
func TestEachDifferenceIsFound(t *testing.T) {
	t.Parallel()
	want := drawn(t, 2, 30).count()
	right := answersTo(want)
	require.True(t, right.agree(want))
	for name, change := range map[string]func(a *answers){
		"total":          func(a *answers) { a.api.all["finished"]++ },
		"bots":           func(a *answers) { a.api.bots-- },
		"source":         func(a *answers) { a.api.bySource["newsletter"]["people"]++ },
		"missing source": func(a *answers) { delete(a.api.bySource, "linkedin") },
		"more sources":   func(a *answers) { a.api.bySource["other"] = numbers{"readers": 1} },
		"version":        func(a *answers) { a.api.versions["2"]["readers"]-- },
		"missing week":   func(a *answers) { delete(a.api.weeks, want.firstWeek()) },
		"another week":   func(a *answers) { a.api.weeks[want.firstWeek().AddDate(1, 0, 0)] = numbers{"readers": 1} },
		"SQL":            func(a *answers) { a.sql["sessions"]++ },
		"SQL's bots":     func(a *answers) { a.sql[botRows]++ },
		"SQL's sources":  func(a *answers) { delete(a.sqlBy, "") },
	} {
		wrong := answersTo(want)
		change(&wrong)
		require.False(t, wrong.agree(want), name)
	}
	right.sql, right.sqlBy = nil, nil
	require.True(t, right.agree(want), "without SQL")
}
