package eventlist

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// explain returns the plan of a statement as it is run for an account.
func explain(t *testing.T, door *scope.ClickHouse, account uuid.UUID, s scope.Statement) string {
	t.Helper()
	s.SQL = "EXPLAIN indexes = 1, projections = 1, actions = 1 " + s.SQL
	var lines []string
	err := door.Query(context.Background(), account, s, func(row scope.Row) error {
		var line string
		defer func() { lines = append(lines, line) }()
		return row.Scan(&line)
	})
	require.NoError(t, err)
	return strings.Join(lines, "\n")
}

var (
	granules = regexp.MustCompile(`Granules: (\d+)`)
	parts    = regexp.MustCompile(`Parts: \d+/(\d+)`)
)

// chosen returns how many granules are left after the last index, and how many parts there were:
// tests beside this one make parts as well, and each can add a granule that might hold the key.
func chosen(t *testing.T, plan string) (left, of int) {
	t.Helper()
	read := func(pattern *regexp.Regexp, pick func(a, b int) int) (n int) {
		found := pattern.FindAllStringSubmatch(plan, -1)
		require.NotEmpty(t, found, plan)
		for _, f := range found {
			next, err := strconv.Atoi(f[1])
			require.NoError(t, err)
			n = pick(n, next)
		}
		return n
	}
	return read(granules, func(_, b int) int { return b }), read(parts, func(a, b int) int { return max(a, b) })
}

// The plans that keep answers fast, whatever is stored beside what is asked for.
func TestPlans(t *testing.T) {
	t.Parallel()
	conn, door := querytest.Conn(t), querytest.Door(t)
	account := querytest.ID(t)
	filled := querytest.Fill(t, conn, account, 2000, 200_000) // 55 hours, some 200 granules
	querytest.Fill(t, conn, querytest.ID(t), 2000, 300_000)
	at := func(hour int) *time.Time {
		t := time.Unix(querytest.Begin+int64(hour)*3600, 0).UTC()
		return &t
	}
	bot := true
	page := func(f Filter, s span) scope.Statement { return pageStatement(f, s, 0, 21) }
	for name, c := range map[string]struct {
		s    scope.Statement
		has  []string
		most int // granules that are left at the most; 0: not said
	}{
		"first page reads backwards and stops": {
			s: page(Filter{}, span{}), has: []string{"InReverseOrder", "LazilyRead"}, most: 210, // its own, none of its neighbour's 300
		},
		"time is in the key": {
			s: page(Filter{From: at(20), To: at(21)}, span{}), has: []string{"InReverseOrder"}, most: 8,
		},
		"a span is in the key": {
			s: page(Filter{}, span{from: at(20), before: at(21)}), has: []string{"InReverseOrder"}, most: 8,
		},
		"days are in the key": {
			s: page(Filter{}, span{days: []day{{start: at(48).Truncate(dayLength)}, {start: at(900).Truncate(dayLength)}}}), has: []string{"InReverseOrder"}, most: 90,
		},
		"times are in the key": {
			s: page(Filter{}, span{days: []day{{start: at(48).Truncate(dayLength), times: []time.Time{*at(49), *at(50)}}, {start: at(24).Truncate(dayLength), times: []time.Time{*at(25)}}}}), has: []string{"InReverseOrder"}, most: 4,
		},
		"days and times are in the key": {
			s: page(Filter{}, span{days: []day{{start: at(900).Truncate(dayLength)}, {start: at(24).Truncate(dayLength), times: []time.Time{*at(25)}}}}), has: []string{"InReverseOrder"}, most: 4,
		},
		"cursor is in the key": {
			s:   page(Filter{From: at(20)}, span{after: &Position{CreatedAt: *at(21), TopicID: uuid.New()}}),
			has: []string{"InReverseOrder"}, most: 8,
		},
		"count counts granules": {
			s: totalStatement(Filter{}), has: []string{"ReadFromPreparedSource (_exact_count_projection)"},
		},
		"count in a time counts granules": {
			s: totalStatement(Filter{From: at(1), To: at(50)}), has: []string{"ReadFromPreparedSource (_exact_count_projection)"},
		},
		"count of what is new has a skip index, and counts granules": {
			s: totalStatement(Filter{ReceivedAfter: at(30)}), has: []string{"Name: stored", "ReadFromPreparedSource (_exact_count_projection)"},
		},
		"the rest has its days in the key": {
			s:    restRowsStatement(Filter{LeadMagnetID: &filled.Magnets[3], ReceivedAfter: at(40)}, &view{open: at(900).UTC()}, []time.Time{at(24).Truncate(dayLength)}),
			most: 90,
		},
		"the rest has its months in the key": {
			s: restRowsStatement(Filter{To: at(2)}, &view{open: at(9000).UTC(), restless: []uint32{202510}}, nil), most: 16,
		},
		"the rest of many events uses numbers of days": {
			s: restNumbersStatement(Filter{LeadMagnetID: &filled.Magnets[3]}, &view{open: monthStart(202510)}, nil), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
		"the rest of many events stored since a time uses numbers of days, but for the exceptions": {
			s: restNumbersStatement(Filter{ReceivedAfter: at(-30 * 24)}, &view{open: monthStart(202510)}, nil), has: []string{"ReadFromMergeTree (by_day)", "Name: stored"}, most: 8,
		},
		"numbers of a month use numbers of days": {
			s: numbersStatement(monthStart(202510), monthStart(202511)), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
		"days of a link use its rows": {
			s: daysStatement(Filter{AccessLinkID: &filled.Links[7]}), has: []string{"ReadFromMergeTree (by_link)"}, most: 8,
		},
		"days of a magnet use numbers of days": {
			s: daysStatement(Filter{LeadMagnetID: &filled.Magnets[3]}), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
		"days of a type use numbers of days": {
			s: daysStatement(Filter{Type: event.DownloadStarted}), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
		"days of bots use numbers of days": {
			s: daysStatement(Filter{Bot: &bot}), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
		"days of all use numbers of days": {
			s: daysStatement(Filter{}), has: []string{"ReadFromMergeTree (by_day)"}, most: 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := explain(t, door, account, c.s)
			for _, text := range c.has {
				require.Contains(t, plan, text)
			}
			if c.most == 0 {
				return
			}
			left, of := chosen(t, plan)
			require.LessOrEqual(t, left, c.most+of, "%s", plan)
		})
	}
}

// A list of a link or a magnet reads the granules that may have its events, and few others. When the index errs
// for an id, it does so in many granules at once, since each has much the same ids: so several are asked for,
// and the one in their middle counts.
func TestGranulesWithoutWhatIsAskedForAreSkipped(t *testing.T) {
	t.Parallel()
	conn, door := querytest.Conn(t), querytest.Door(t)
	account := querytest.ID(t)
	querytest.Fill(t, conn, account, 2000, 200_000) // some 200 granules
	for name, f := range map[string]func(id *uuid.UUID) Filter{
		"access_link": func(id *uuid.UUID) Filter { return Filter{AccessLinkID: id} },
		"lead_magnet": func(id *uuid.UUID) Filter { return Filter{LeadMagnetID: id} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var excess []int
			for range 9 {
				id := uuid.New()
				plan := explain(t, door, account, pageStatement(f(&id), span{}, 0, 21))
				require.Contains(t, plan, "Name: "+name)
				left, of := chosen(t, plan)
				excess = append(excess, left-of)
			}
			slices.Sort(excess)
			require.LessOrEqual(t, excess[len(excess)/2], 12, "granules left beyond one a part: %v", excess)
		})
	}
}
