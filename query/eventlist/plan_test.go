//go:build long

package eventlist

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

// explain returns the plan of a statement as it is run for an account.
func explain(t *testing.T, ch *scope.ClickHouse, account uuid.UUID, s scope.Statement) string {
	t.Helper()
	s.SQL = "EXPLAIN indexes = 1, projections = 1, actions = 1 " + s.SQL
	var lines []string
	err := ch.Query(context.Background(), account, s, func(row scope.Row) error {
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
	conn, ch := querytest.Conn(t), querytest.Scoped(t)
	account := querytest.ID(t)
	filled := querytest.Fill(t, conn, account, 2000, 200_000) // 55 hours, some 200 granules
	querytest.Fill(t, conn, querytest.ID(t), 2000, 60_000)
	at := func(hour int) *time.Time {
		t := time.Unix(querytest.Begin+int64(hour)*3600, 0).UTC()
		return &t
	}
	bot := true
	now, count := time.Now(), countStatement
	page := func(f Filter, s span) scope.Statement { return pageStatement(f, s, 0, 21) }
	stored := storedStatement(Filter{}, *at(54), now, nil, 1000)
	stored.Params["accounts"] = clickhouse.UUIDs([]uuid.UUID{account})
	for name, c := range map[string]struct {
		s   scope.Statement
		has []string
		max int // granules that are left; 0: not checked
	}{
		"first page reads backwards and stops": {
			// its own, none of its neighbour's 60
			s: page(Filter{}, span{}), has: []string{"InReverseOrder", "LazilyRead"}, max: 210,
		},
		"time is in the key": {
			s: page(Filter{From: at(20), To: at(21)}, span{}), has: []string{"InReverseOrder"}, max: 8,
		},
		"a span is in the key": {
			s: page(Filter{}, span{created: period{at(20), at(21)}}), has: []string{"InReverseOrder"}, max: 8,
		},
		"days are in the key": {
			s:   page(Filter{}, span{days: []day{{start: at(48).Truncate(dayLength)}, {start: at(900).Truncate(dayLength)}}}),
			has: []string{"InReverseOrder"}, max: 90,
		},
		"times are in the key": {
			s: page(Filter{}, span{days: []day{{start: at(48).Truncate(dayLength), times: []time.Time{*at(49), *at(50)}},
				{start: at(24).Truncate(dayLength), times: []time.Time{*at(25)}}}}), has: []string{"InReverseOrder"}, max: 4,
		},
		"days and times are in the key": {
			s: page(Filter{}, span{days: []day{{start: at(900).Truncate(dayLength)},
				{start: at(24).Truncate(dayLength), times: []time.Time{*at(25)}}}}), has: []string{"InReverseOrder"}, max: 4,
		},
		"cursor is in the key": {
			s:   page(Filter{From: at(20)}, span{after: &Position{CreatedAt: *at(21), TopicID: uuid.New()}}),
			has: []string{"InReverseOrder"}, max: 8,
		},
		"what is new has a skip index": {s: stored, has: []string{"Name: stored"}, max: 16},
		"count of what is new has a skip index": {
			s:   count(Filter{ReceivedAfter: at(54)}, time.Unix(querytest.Begin, 0).AddDate(0, 0, 3)),
			has: []string{"Name: stored"}, max: 16,
		},
		"count of what was stored since long uses numbers of days, but for the exceptions": {
			s: count(Filter{ReceivedAfter: at(-30 * 24)}, now), has: []string{"ReadFromMergeTree (by_day)", "Name: stored"},
			max: 8,
		},
		"days in a time use numbers of days, but for its ends": {
			s: count(Filter{From: at(23), To: at(49)}, now), has: []string{"ReadFromMergeTree (by_day)"}, max: 16,
		},
		"days of a link use its rows": {
			s: count(Filter{AccessLinkID: &filled.Links[7]}, now), has: []string{"ReadFromMergeTree (by_link)"}, max: 8,
		},
		"days of a magnet use numbers of days": {
			s: count(Filter{LeadMagnetID: &filled.Magnets[3]}, now), has: []string{"ReadFromMergeTree (by_day)"}, max: 8,
		},
		"days of a type use numbers of days": {
			s: count(Filter{Type: event.DownloadStarted}, now), has: []string{"ReadFromMergeTree (by_day)"}, max: 8,
		},
		"days of bots use numbers of days": {
			s: count(Filter{Bot: &bot}, now), has: []string{"ReadFromMergeTree (by_day)"}, max: 8,
		},
		"days of all use numbers of days": {
			s: count(Filter{}, now), has: []string{"ReadFromMergeTree (by_day)"}, max: 8,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plan := explain(t, ch, account, c.s)
			for _, text := range c.has {
				require.Contains(t, plan, text)
			}
			if c.max == 0 {
				return
			}
			left, of := chosen(t, plan)
			require.LessOrEqual(t, left, c.max+of, "%s", plan)
		})
	}
}
