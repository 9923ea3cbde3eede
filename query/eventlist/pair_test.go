//go:build long

package eventlist

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// leftOver returns how many granules are read after every index, over all reads of a plan, and how
// many parts there were.
func leftOver(t *testing.T, plan string) (left, of int) {
	t.Helper()
	for i, section := range strings.Split(plan, "ReadFrom") {
		if i == 0 || !granules.MatchString(section) {
			continue // what is before the first one, and what is known without reading
		}
		l, o := chosen(t, section)
		left, of = left+l, of+o
	}
	return left, of
}

// Whatever filters a list has, one or two of them, its number and its page are read by a key or an
// index: a change that makes a scan of any of them is noticed here. The account has some 200
// granules, a day 84.
func TestNoPairOfFiltersScans(t *testing.T) {
	t.Parallel()
	conn, ch := querytest.Conn(t), querytest.Scoped(t)
	account := querytest.ID(t)
	filled := querytest.Fill(t, conn, account, 2000, 200_000)
	at := func(hour int) *time.Time {
		t := time.Unix(querytest.Begin+int64(hour)*3600, 0).UTC()
		return &t
	}
	yes, no := true, false
	type filter struct {
		name string
		set  func(f *Filter)
	}
	filters := []filter{
		{"link", func(f *Filter) { f.AccessLinkID = &filled.Links[7] }},
		{"magnet", func(f *Filter) { f.LeadMagnetID = &filled.Magnets[3] }},
		{"common type", func(f *Filter) { f.Type = event.PageViewed }},
		{"rare type", func(f *Filter) { f.Type = event.DownloadCompleted }},
		{"from", func(f *Filter) { f.From = at(22) }},
		{"to", func(f *Filter) { f.To = at(50) }},
		{"received", func(f *Filter) { f.ReceivedAfter = at(47) }},
		{"bots", func(f *Filter) { f.Bot = &yes }},
		{"people", func(f *Filter) { f.Bot = &no }},
	}
	for i, a := range filters {
		for _, b := range filters[i:] {
			name := a.name + " and " + b.name
			var f Filter
			a.set(&f)
			b.set(&f)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				plan := explain(t, ch, account, countStatement(f, time.Now()))
				left, of := leftOver(t, plan)
				require.LessOrEqual(t, left, 32+of, "what is left of two days, and the edges of what came late: %s", plan)

				plan = explain(t, ch, account, pageStatement(f, span{created: period{from: at(46)}}, 0, 21))
				left, of = leftOver(t, plan)
				require.Contains(t, plan, "InReverseOrder")
				require.LessOrEqual(t, left, 36+of, "ten hours: %s", plan)
			})
		}
	}
}

// A list of a link or a magnet reads the granules that may have its events, and few others. When
// the index errs for an id, it does so in many granules at once, since each has much the same ids:
// so several are asked for, and the one in their middle counts.
func TestGranulesWithoutWhatIsAskedForAreSkipped(t *testing.T) {
	t.Parallel()
	conn, ch := querytest.Conn(t), querytest.Scoped(t)
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
				plan := explain(t, ch, account, pageStatement(f(&id), span{}, 0, 21))
				require.Contains(t, plan, "Name: "+name)
				left, of := chosen(t, plan)
				excess = append(excess, left-of)
			}
			slices.Sort(excess)
			require.LessOrEqual(t, excess[len(excess)/2], 12, "granules left beyond one a part: %v", excess)
		})
	}
}
