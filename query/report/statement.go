package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/pkg/clickhouse"
	"lodestone/query/scope"
)

// A batch is one statement, so that it is of one state of the data: a SELECT for each question, one
// more for its nested parts, and some for bots (bots.go). The rows of a question are read twice if
// it has dimensions: once to find the values that lead, and once to count.
//
// What is counted is a row of the answer for each set of
//
//	cells    an interval and values of the dimensions
//	rows     values of the dimensions, over all the time
//	totals   everything
//
// each for the time asked for and the one before.
const (
	setCell = iota
	setRow
	setTotal
)

// statement returns the statement that answers plans.
func statement(plans []plan) scope.Statement {
	params := map[string]string{}
	var selects []string
	for i, p := range plans {
		w := &writer{plan: p, params: params, prefix: "q" + strconv.Itoa(i) + "_"}
		selects = append(selects, w.selects(i)...)
	}
	selects = append(selects, unreadBots(plans, params)...)
	return scope.Statement{Name: "report", SQL: strings.Join(selects, "\nUNION ALL\n"), Params: params,
		Threads: 2, OneSnapshot: true}
}

// writer writes the SQL of a plan.
type writer struct {
	plan
	params map[string]string
	prefix string // of the names of the parameters
	// overall leaves out intervals, and the time before: values are ranked once for all of them.
	overall bool
}

// param sets a parameter and returns how SQL refers to it.
func (w *writer) param(name, kind, value string) string {
	w.params[w.prefix+name] = value
	return "{" + w.prefix + name + ":" + kind + "}"
}

// needed returns the parts of the metrics, each once.
func (p *plan) needed() []part {
	var list []part
	for _, m := range p.metrics {
		for _, name := range m.parts {
			if !slices.ContainsFunc(list, func(known part) bool { return known.name == name }) {
				list = append(list, parts[name])
			}
		}
	}
	return list
}

// parts returns the parts of the metrics, as they are counted.
func (p *plan) parts() []part { return slices.Clone(p.counted) }

// selects returns the statements that answer the plan, which are united. From the inside out: rows,
// the mark of those whose values lead, the counts by group, the columns of an answer.
func (w *writer) selects(number int) (list []string) {
	counted := w.groupingSets(w.markLeading(w.rows(w.parts())), w.groups(), w.expressions(w.parts()))
	list = append(list, w.answerRows(number, counted))
	nested := w.nested()
	if len(nested) == 0 {
		return list
	}
	for _, group := range w.groups() {
		selected := strconv.Itoa(group.set) + " AS answer_set, toFloat64(0) AS bots, " +
			strings.Join(w.withZeros(group.keys), ", ")
		list = append(list, w.answerRows(number, w.attentive(w.markLeading(w.rows(nested)), group.keys, selected)))
	}
	return list
}

// nested returns the parts that have SQL of their own.
func (p *plan) nested() []part {
	return slices.DeleteFunc(p.parts(), func(part part) bool { return !part.nested })
}

// group is a set of keys that rows are counted by.
type group struct {
	set  int
	keys []string
}

// groups returns the sets of the answer.
func (w *writer) groups() []group {
	var values []string
	for i := range w.dimensions {
		values = append(values, "e"+strconv.Itoa(i))
	}
	list := []group{{setTotal, []string{"period"}}}
	if len(values) > 0 {
		list = append(list, group{setRow, append([]string{"period", "led"}, values...)})
	}
	if w.Interval != Whole {
		keys := []string{"period", "slot"}
		if len(values) > 0 {
			keys = append(append(keys, "led"), values...)
		}
		list = append(list, group{setCell, keys})
	}
	return list
}

// keys are all that a group may have, with what stands for those it lacks.
func (w *writer) keys() (names []string, zeros map[string]string) {
	names, zeros = []string{"period", "slot", "led"}, map[string]string{"slot": "toInt64(0)", "led": "toUInt8(0)"}
	for i, d := range w.dimensions {
		name := "e" + strconv.Itoa(i)
		names, zeros[name] = append(names, name), d.zero()
	}
	return names, zeros
}

// expressions returns those of parts, 0 for those that are nested.
func (w *writer) expressions(list []part) (expressions []string) {
	for _, p := range list {
		expressions = append(expressions, "toFloat64("+strings.ReplaceAll(p.sql, "IF", w.counts(p.source))+")")
	}
	return expressions
}

// groupingSets counts rows by several groups in one pass.
func (w *writer) groupingSets(rows string, groups []group, expressions []string) string {
	sets := make([]string, len(groups))
	for i, g := range groups {
		sets[i] = "(" + strings.Join(g.keys, ", ") + ")"
	}
	names, _ := w.keys()
	present := []string{}
	for _, name := range names {
		if slices.ContainsFunc(groups, func(g group) bool { return slices.Contains(g.keys, name) }) {
			present = append(present, name)
		}
	}
	set := strconv.Itoa(setTotal)
	switch {
	case w.Interval != Whole && len(w.dimensions) > 0:
		set = fmt.Sprintf("multiIf(grouping(slot) = 0, %d, grouping(led) = 0, %d, %d)", setCell, setRow, setTotal)
	case w.Interval != Whole:
		set = fmt.Sprintf("if(grouping(slot) = 0, %d, %d)", setCell, setTotal)
	case len(w.dimensions) > 0:
		set = fmt.Sprintf("if(grouping(led) = 0, %d, %d)", setRow, setTotal)
	}
	bots := "countIf(bot_row)"
	if slices.ContainsFunc(w.parts(), func(p part) bool { return p.source == visits }) {
		bots = "sumIf(" + countColumn + ", bot_row)"
	}
	return fmt.Sprintf("SELECT %s AS answer_set, %s, [%s] AS numbers, toFloat64(%s) AS bots FROM (%s) GROUP BY GROUPING SETS (%s)",
		set, strings.Join(w.withZeros(present), ", "), strings.Join(expressions, ", "), bots, rows, strings.Join(sets, ", "))
}

// withZeros returns all keys, those that are not present as their zeros.
func (w *writer) withZeros(present []string) (list []string) {
	names, zeros := w.keys()
	for _, name := range names {
		if slices.Contains(present, name) {
			list = append(list, name)
		} else {
			list = append(list, zeros[name]+" AS "+name)
		}
	}
	return list
}

// attentive counts by some keys the finished readers who spent two seconds or more on at least
// three fifths of the pages of the version. Times are summed up by page before, which no single
// aggregate does. Other parts are 0.
func (w *writer) attentive(rows string, keys []string, selected string) string {
	var numbers []string
	for _, p := range w.parts() {
		if p.nested {
			numbers = append(numbers, "toFloat64(uniqExactIf(c_link, attentive))")
		} else {
			numbers = append(numbers, "toFloat64(0)")
		}
	}
	by := strings.Join(keys, ", ")
	return fmt.Sprintf(`SELECT %s, [%s] AS numbers FROM (
    SELECT %s, c_link, max(is_last) AND lodestoneAttentive(countIf(lodestoneAttends(ms)), any(pages)) AS attentive
    FROM (
        SELECT %s, c_link, c_magnet, c_version, c_page, any(c_pages) AS pages, sum(toUInt64(c_ms)) AS ms, c_page = any(c_pages) AS is_last
        FROM (%s)
        WHERE %s AND c_viewed AND c_version > 0 AND lodestoneHasPage(c_pages, c_page)
        GROUP BY %s, c_link, c_magnet, c_version, c_page)
    GROUP BY %s, c_link, c_magnet, c_version)
GROUP BY %s`, selected, strings.Join(numbers, ", "), by, by, rows, w.counts(events), by, by, by)
}

// counts is the condition that a row counts: it is of a source and, unless bots are asked for, of a
// person.
func (w *writer) counts(s source) string {
	if w.IncludeBots {
		return "source = " + strconv.Itoa(int(s))
	}
	return "source = " + strconv.Itoa(int(s)) + " AND NOT bot_row"
}

// answerRows gives the rows of every question the same columns, so that they can be united.
func (w *writer) answerRows(number int, sql string) string {
	values := "CAST([], 'Array(String)')"
	if len(w.dimensions) > 0 {
		texts := make([]string, len(w.dimensions))
		for i := range w.dimensions {
			texts[i] = "toString(e" + strconv.Itoa(i) + ")"
		}
		values = "[" + strings.Join(texts, ", ") + "]"
	}
	return fmt.Sprintf("SELECT toUInt8(%d) AS question, toUInt8(answer_set) AS set, period, slot, led, %s AS texts, numbers, bots FROM (%s)", number, values, sql) + w.limitClause()
}

// rows returns the rows of all sources of parts, each with its period (1: the one asked for), the
// interval's start (slot), the values of the dimensions, and what the metrics are counted from.
func (w *writer) rows(of []part) string {
	var sources []source
	var needed []string
	for _, p := range of {
		if !slices.Contains(sources, p.source) {
			sources = append(sources, p.source)
		}
		for _, name := range p.columns {
			if !slices.Contains(needed, name) {
				needed = append(needed, name)
			}
		}
	}
	slices.Sort(needed)
	selects := make([]string, len(sources))
	for i, s := range sources {
		if s == visits {
			selects[i] = w.visitRows(needed)
		} else {
			selects[i] = w.tableRows(s, needed, of)
		}
	}
	return strings.Join(selects, "\nUNION ALL\n")
}

// tableRows returns the rows of one source that is a table.
func (w *writer) tableRows(s source, needed []string, of []part) string {
	var fields strings.Builder
	links, versions := false, false
	ms := "toUnixTimestamp64Milli(" + from[s].time + ")"
	if s == confirmations { // it has one, by the condition
		ms = "toUnixTimestamp64Milli(assumeNotNull(" + from[s].time + "))"
	}
	for i, d := range w.dimensions {
		links = links || d.links
		fmt.Fprintf(&fields, ",\n    %s AS d%d", strings.ReplaceAll(d.of[s], "LOCAL", w.local(ms)), i)
	}
	for _, name := range needed {
		c := columns[name]
		if c.source != s {
			fmt.Fprintf(&fields, ",\n    %s AS %s", c.zero, name)
			continue
		}
		if c.name == "c_opened" && w.IncludeBots {
			c.sql = openedByAnyone
		}
		links, versions = links || c.links, versions || c.versions
		fmt.Fprintf(&fields, ",\n    %s AS %s", c.sql, name)
	}
	bots := "toUInt8(0)"
	if s == events || s == views {
		bots = "r.bot != ''"
	}
	where := []string{"r.account_id = {account:UUID}", w.within(from[s].time)}
	if s == events && anyFromVisits(of) && !w.IncludeBots {
		where = append(where, "r.bot = ''") // the rows of visits, beside these, have the bots
	}
	for _, filter := range w.conditions(s, ms) {
		where = append(where, filter.sql)
		links = links || filter.links
	}
	joins := ""
	if links && s == events {
		joins += linksJoin
	}
	if versions {
		joins += versionsJoin
	}
	return fmt.Sprintf("SELECT toUInt8(%d) AS source, %s AS bot_row, %s AS slot, %s AS period%s\nFROM %s%s\nWHERE %s",
		s, bots, w.slot(ms), w.period(ms), fields.String(), from[s].table, joins, strings.Join(where, "\n    AND "))
}

// The access link of an event, and the version of the document that was read. What was deleted
// gives empty columns.
const (
	linksJoin = `
LEFT ANY JOIN (
    SELECT id, person_id, source = 'api' AS of_api, email_domain, utm_source, utm_medium, utm_campaign, utm_content, utm_term, referrer_host
    FROM lodestone.access_links FINAL WHERE account_id = {account:UUID}) AS l ON l.id = r.access_link_id`
	versionsJoin = `
LEFT ANY JOIN (
    SELECT lead_magnet_id, magnet_version, page_count
    FROM lodestone.magnet_versions FINAL WHERE account_id = {account:UUID}) AS v ON v.lead_magnet_id = r.lead_magnet_id AND v.magnet_version = r.magnet_version`
)

// all is the time asked for, with the one that it is compared with.
func (p *plan) all() span {
	if p.Compare {
		return span{p.before.from, p.asked.to}
	}
	return p.asked
}

func milli(t time.Time) string { return strconv.FormatInt(t.UnixMilli(), 10) }

// within is the condition that a time is asked for.
func (w *writer) within(column string) string {
	from := w.param("from", "Int64", milli(w.all().from))
	if w.overall {
		from = w.param("asked", "Int64", milli(w.asked.from))
	}
	return fmt.Sprintf("%s >= fromUnixTimestamp64Milli(%s, 'UTC') AND %s < fromUnixTimestamp64Milli(%s, 'UTC')", column,
		from, column, w.param("to", "Int64", milli(w.asked.to)))
}

// period is 1 for the time asked for, and 0 for the one before.
func (w *writer) period(ms string) string {
	if w.overall || !w.Compare {
		return "toUInt8(1)"
	}
	return "toUInt8(" + ms + " >= " + w.param("asked", "Int64", milli(w.asked.from)) + ")"
}

// slot is the start of the interval, or for the first one of a period, its part that is asked for.
func (w *writer) slot(ms string) string {
	if w.Interval == Whole || w.overall {
		return "toInt64(0)"
	}
	return "toInt64(roundDown(" + ms + ", " + w.param("slots", "Array(Int64)", clickhouse.Numbers(w.slots())) + "))"
}

// slots returns the moments from which rows are of the next interval: those of the time before, and
// of the time asked for.
func (p *plan) slots() (list []int64) {
	add := func(starts []time.Time, from time.Time) {
		for i, at := range starts {
			if i == 0 {
				at = from
			}
			list = append(list, at.UnixMilli())
		}
	}
	add(p.earlier, p.before.from)
	add(p.starts, p.asked.from)
	return list
}

// local is a time in milliseconds, with the offset of the zone added.
func (w *writer) local(ms string) string {
	var since, add []int64
	for _, o := range w.offsets {
		since, add = append(since, o.since.UnixMilli()), append(add, o.add.Milliseconds())
	}
	if len(since) == 1 {
		return "(" + ms + " + " + w.param("offset", "Int64", strconv.FormatInt(add[0], 10)) + ")"
	}
	from, offsets := w.param("changes", "Array(Int64)", clickhouse.Numbers(since)),
		w.param("offsets", "Array(Int64)", clickhouse.Numbers(add))
	return "(" + ms + " + transform(toInt64(roundDown(" + ms + ", " + from + ")), " + from +
		", " + offsets + ", toInt64(0)))"
}

// filter is a condition on the rows of a source.
type filter struct {
	sql   string
	links bool // it needs the access link
}

// conditions returns the filters of the question. Every dimension in them is one that the source
// has.
func (w *writer) conditions(s source, ms string) (list []filter) {
	for i, c := range w.Filters {
		list = append(list, w.filter(s, ms, c, "filter"+strconv.Itoa(i), ""))
	}
	for i, c := range w.Exclude {
		list = append(list, w.filter(s, ms, c, "exclude"+strconv.Itoa(i), "NOT "))
	}
	return list
}

func (w *writer) filter(s source, ms string, c Condition, name, not string) filter {
	d := dimensions[c.Dimension]
	kind, value := d.texts(c.Values)
	column := strings.ReplaceAll(d.of[s], "LOCAL", w.local(ms))
	return filter{fmt.Sprintf("%s(%s IN %s)", not, column, w.param(name, kind, value)), d.links}
}
