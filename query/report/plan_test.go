//go:build long

package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// What does not need single page views is read from the projection quarters: a row for each
// session, type and quarter of an hour. An event of a link comes every 20 seconds here, by 15 user
// agents, so that has a third of the rows.
func TestRowsRead(t *testing.T) {
	t.Parallel()
	const events = 300_000
	ch, account, _ := querytest.Alone(t, 20, events)
	read := func(q Question) uint64 {
		p, wrong := compile(q, "", time.Now())
		require.Empty(t, wrong)
		return querytest.RowsRead(t, ch, account, statement([]plan{p}))
	}
	q := Question{Metrics: []string{"readers", "sessions", "page_views", "reading_ms"}, From: "2025-10-01",
		To: "2025-10-05", Interval: Hour, Timezone: "Asia/Kathmandu"}
	require.Less(t, read(q), uint64(events/2), "an hour of this zone begins at a quarter")
	q.Dimensions, q.Limit = []string{"lead_magnet_id"}, 1
	require.Less(t, read(q), uint64(events/2),
		"values that lead are not looked for where there are hardly more than there is place for")
	q.From = "2025-10-01T00:00:01Z"
	require.GreaterOrEqual(t, read(q), uint64(events), "a second is within a quarter")
}

// The bots that no metric is counted from are counted once for all questions that have the same
// range and conditions.
func TestBotsAreCountedOnce(t *testing.T) {
	t.Parallel()
	var plans []plan
	for range 3 {
		p, wrong := compile(Question{Metrics: []string{"link_views"}, From: "2026-03-01", To: "2026-03-02",
			Timezone: "Europe/Berlin"}, "", time.Now())
		require.Empty(t, wrong)
		plans = append(plans, p)
	}
	require.Len(t, unreadBots(plans, map[string]string{}), 1)
	plans[1].Filters = []Condition{{"device", []any{"mobile"}}}
	require.Len(t, unreadBots(plans, map[string]string{}), 2)
	plans[1].Filters = []Condition{{"access_link_id", []any{zeroUUID}}}
	plans[2].IncludeBots = true
	require.Len(t, unreadBots(plans, map[string]string{}), 2)
}
