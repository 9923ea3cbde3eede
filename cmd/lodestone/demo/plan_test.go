package demo

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/bot"
	"lodestone/pkg/email"
	"lodestone/pkg/event"
)

// until is the present of the tests: a Wednesday, four weeks after European clocks were set back.
var until = time.Date(2026, 11, 25, 14, 37, 0, 0, time.UTC)

func past(t *testing.T, seed uint64, days int) *plan {
	t.Helper()
	p, err := drawPast(seed, days, until)
	require.NoError(t, err)
	return p
}

func TestThePlanDependsOnItsArgumentsOnly(t *testing.T) {
	t.Parallel()
	one, same, other := past(t, 3, 20), past(t, 3, 20), past(t, 4, 20)
	require.True(t, reflect.DeepEqual(one, same)) // a difference of thousands of things would be printed
	require.False(t, reflect.DeepEqual(one.count(), other.count()))
}

// Nothing happens before what it follows from, or outside the past, and every address is one that
// is reserved for examples.
func TestThePastIsInOrder(t *testing.T) {
	t.Parallel()
	for _, days := range []int{1, 2, 14, 60, MaxDays} {
		p := past(t, uint64(days), days)
		require.Equal(t, until.AddDate(0, 0, -days), p.from)
		people := map[string]bool{}
		for _, v := range p.visits {
			require.False(t, v.at.Before(p.from))
			require.True(t, v.at.Before(p.until))
			if v.email == "" {
				require.Empty(t, v.sessions)
				continue
			}
			_, err := email.Parse(v.email)
			require.NoError(t, err)
			_, host, _ := strings.Cut(v.email, "@")
			require.Regexp(t, `\.example(\.com|\.org)?$`, host)
			require.False(t, people[v.email], "an address is of one person")
			people[v.email] = true
			require.True(t, v.sent.After(v.at))
			require.True(t, v.sent.Before(p.until))
			require.True(t, v.verified.IsZero() || !v.verified.Before(v.sent) && v.verified.Before(p.until))
			require.False(t, v.verified.IsZero() && len(v.sessions) > 0, "nothing leads to the document before")
			for _, s := range v.sessions {
				require.True(t, s.at.After(v.verified))
				require.True(t, s.end().Add(5*time.Second).Before(p.until))
				for _, a := range s.actions {
					require.False(t, a.at.Before(s.at))
					require.Less(t, a.duration, 48*time.Hour, "the collector would date it again")
				}
			}
		}
	}
}

// The reports have something to show.
func TestEveryPartOfTheStoryOccurs(t *testing.T) {
	t.Parallel()
	p := past(t, 1, 60)
	found := map[string]bool{}
	for _, v := range p.visits {
		found["crawler"] = found["crawler"] || v.visitor.bot
		found["not verified"] = found["not verified"] || v.landing == fromWebinar && !v.sent.IsZero() && v.verified.IsZero()
		for _, s := range v.sessions {
			found["scanner"] = found["scanner"] || s.visitor.bot
			found["another day"] = found["another day"] || s.at.Sub(v.at) > 20*time.Hour
			found["again"] = found["again"] || s.repeats
			found["mobile"] = found["mobile"] || s.visitor.mobile
			found["cancelled"] = found["cancelled"] || s.has(event.DownloadStarted) && !s.has(event.DownloadCompleted)
		}
	}
	for _, part := range []string{"crawler", "not verified", "scanner", "another day", "again", "mobile", "cancelled"} {
		require.True(t, found[part], part)
	}
	n := p.count()
	share := func(source string) float64 {
		return float64(n.bySource[source]["finished"]) / float64(n.bySource[source]["readers"])
	}
	require.Greater(t, share("newsletter"), 4*share("google"), "one campaign brings readers who finish")
	require.Greater(t, n.total("submissions"), n.total("verified"))
	require.Less(t, n.total("link_views"), int64(10_000), "a minute's work")
	require.Greater(t, n.total("sessions"), int64(1_000))
}

// The collector takes the programs for bots, and no one else.
func TestProgramsAreBots(t *testing.T) {
	t.Parallel()
	rules, err := bot.NewRules()
	require.NoError(t, err)
	for _, agent := range programs {
		require.NotEmpty(t, rules.Classify(bot.Request{UserAgent: []byte(agent)}), agent)
	}
	for _, agent := range append(desktops, mobiles...) {
		require.Empty(t, rules.Classify(bot.Request{UserAgent: []byte(agent)}), agent)
	}
}

// Every number that is one off, or is missing, is a difference.
func TestEachDifferenceIsFound(t *testing.T) {
	t.Parallel()
	p := past(t, 2, 30)
	want := p.count()
	for name, change := range map[string]func(a *answers){
		"total":          func(a *answers) { a.api.all["finished"]++ },
		"bots":           func(a *answers) { a.api.bots-- },
		"missing source": func(a *answers) { delete(a.api.bySource, "linkedin") },
		"more sources":   func(a *answers) { a.api.bySource["other"] = numbers{"readers": 1} },
		"source":         func(a *answers) { a.api.bySource[""]["reading_ms"]-- },
		"SQL":            func(a *answers) { a.sql["sessions"]++ },
		"SQL's bots":     func(a *answers) { a.sql[botRows]++ },
		"":               func(*answers) {},
	} {
		right := answers{api: p.count(), sql: maps.Clone(want.all)}
		right.sql[botRows] = want.bots
		change(&right)
		require.Equal(t, name == "", right.agree(want), name)
	}
}
