package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Bots are counted of events and of views, whatever the metrics of a question are. Of what the
// metrics are counted from, the rows of the question tell; the other bots are counted by statements
// of their own.

// unreadBots returns the statements that count them, one for all questions that have the same range
// and the same conditions.
func unreadBots(plans []plan, params map[string]string) (statements []string) {
	var keys []string
	first, questions := map[string]string{}, map[string][]string{}
	for i, p := range plans {
		w := &writer{plan: p, params: params, prefix: "q" + strconv.Itoa(i) + "_"}
		for _, s := range w.unread() {
			key := fmt.Sprint(s, milli(p.asked.from), " ", milli(p.asked.to), p.Filters, p.Exclude, p.calendar.zone)
			if first[key] == "" {
				keys, first[key] = append(keys, key), w.bots(s)
			}
			questions[key] = append(questions[key], strconv.Itoa(i))
		}
	}
	for _, key := range keys {
		statements = append(statements,
			fmt.Sprintf("SELECT toUInt8(arrayJoin([%s])) AS question, toUInt8(%d) AS set, toUInt8(1) AS period, toInt64(0) AS slot, toUInt8(0) AS led, "+
				"CAST([], 'Array(String)') AS texts, CAST([], 'Array(Float64)') AS numbers, bots FROM (%s)",
				strings.Join(questions[key], ", "), setTotal, first[key]))
	}
	return statements
}

// unread returns the sources of bots that no metric is counted from. Where a source lacks a
// dimension of the conditions, none of its rows matches.
func (p *plan) unread() (list []source) {
	if p.IncludeBots {
		return nil
	}
	for _, s := range []source{events, views} {
		read := slices.ContainsFunc(p.counted, func(part part) bool {
			return part.source == s ||
				part.source == visits && s == events
		})
		lacks := slices.ContainsFunc(slices.Concat(p.Filters, p.Exclude),
			func(c Condition) bool { return dimensions[c.Dimension].of[s] == "" })
		if !read && !lacks {
			list = append(list, s)
		}
	}
	return list
}

// bots returns a statement that counts the bots of a source in the time that is asked for.
func (w *writer) bots(s source) string {
	undivided := *w
	undivided.overall, undivided.dimensions = true, nil
	of, count := part{source: s}, "count()"
	if s == events && w.canVisit() {
		of.source, of.columns, count = visits, []string{countColumn}, "sum("+countColumn+")"
	}
	return "SELECT toFloat64(" + count + ") AS bots FROM (" + undivided.rows([]part{of}) + ") WHERE bot_row"
}
