package report

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// visits are the events of the projection quarters: one row for each session, type of event and
// quarter of an hour, with how many events there are, the sum of their visible times and their
// pages. They are a sixth of the rows, in the order of access links, and in the same part as the
// events. They answer what does not need single page views, if every interval begins with a quarter
// of an hour.
const visits source = 100

// quarter is the grain of visits in time.
const quarter = 15 * time.Minute

// botName is all that the projection has of a bot's name.
const botName = "if(bot = '', '', 'bot')"

const quarterOf = "toStartOfFifteenMinutes(created_at)"

// visitMS is the time of a visit in milliseconds.
const visitMS = "(toInt64(toUnixTimestamp(" + quarterOf + ")) * 1000)"

// visitKeys says how expressions over events have their columns from the projection, which is
// grouped by them.
var visitKeys = map[string]string{
	"access_link_id": "access_link_id", "lead_magnet_id": "lead_magnet_id", "generic_link_id": "generic_link_id",
	"magnet_version": "magnet_version", "event_type": "event_type", "user_agent": "user_agent",
	"bot":     botName,
	"browser": "substringIndex(agent_names, '/', 1)", "os": "substringIndex(agent_names, '/', -1)",
	"country": "substringIndex(origin, '/', 1)", "language": "substringIndex(origin, '/', -1)",
	// As the column, whose two columns keep the server from looking at each user agent once.
	"device": "if(" + botName + " = '', multiIf(user_agent = '', 'unknown', " +
		"match(user_agent, '(?i)hbbtv|smart[-_ ]?tv|google ?tv|android ?tv|apple ?tv|[^a-z]tv[^a-z]|bravia|[^a-z]aft[a-z0-9]+[^a-z0-9]|netcast|web0s|vidaa|[^a-z]viera|roku|crkey|large screen|nettv'), 'other', " +
		"match(user_agent, '(?i)ipad|tablet($|[^ ]| ($|[^p]))|kindle|silk/') OR (position(user_agent, 'Android') > 0 AND position(user_agent, 'Mobile') = 0), 'tablet', " +
		"match(user_agent, '(?i)mobi|iphone|ipod'), 'mobile', match(user_agent, '(?i)windows|macintosh|x11|cros'), 'desktop', 'other'), 'bot')",
}

// visitColumns are the columns of visits, beside those that are as of events.
var visitColumns = map[string]string{
	"c_viewed": "event_type = 'page_viewed'", "c_started": "event_type = 'download_started'",
	"c_completed": "event_type = 'download_completed'",
}

// visitSession is the session as the projection has it.
const visitSession = "if(session_id = " + noUUID + ", event_id, session_id)"

// countColumn is how many events or other rows a row stands for.
const countColumn = "c_rows"

// visitFinishes says that a page of the visit r is the last one of its version v.
const visitFinishes = "arrayExists(page -> lodestoneFinishes(r.magnet_version, page, v.page_count), r.pages)"

// visitParts are the parts that visits answer.
var visitParts = map[string]string{
	"events":              "sumIf(c_rows, IF)",
	"page_views":          "sumIf(c_rows, " + viewed + ")",
	"reading_ms":          "sumIf(c_ms, " + viewed + ")",
	"readers":             parts["readers"].sql,
	"people":              parts["people"].sql,
	"people_finished":     "uniqExactIf(c_person, " + viewed + " AND c_finished)",
	"people_downloaded":   parts["people_downloaded"].sql,
	"people_without_form": parts["people_without_form"].sql,
	"sessions":            "uniqExactIf(c_visit, " + viewed + ")",
	"downloads_started":   "sumIf(c_rows, IF AND c_started)",
	"downloads":           "sumIf(c_rows, IF AND c_completed)",
	"downloaders":         parts["downloaders"].sql,
	"finished":            "uniqExactIf(c_link, " + viewed + " AND c_finished)",
}

// visitNeeds are the columns of such a part, if they are not those of the same part of events.
var visitNeeds = map[string][]string{
	"sessions": {"c_viewed", "c_visit"}, "finished": {"c_viewed", "c_link", "c_finished"},
	"people_finished": {"c_viewed", "c_person", "c_finished"},
}

var eventColumn = regexp.MustCompile(`\br\.(\w+)`)

// ofVisits returns an expression over events as one over visits, if it can be.
func ofVisits(sql string) (string, bool) {
	ok := true
	return eventColumn.ReplaceAllStringFunc(sql, func(name string) string {
		key, found := visitKeys[strings.TrimPrefix(name, "r.")]
		ok = ok && found
		return key
	}), ok
}

// canVisit reports whether visits can answer parts of the plan: every moment at which something
// changes begins a quarter of an hour, and visits have what the question is divided and filtered
// by.
func (p *plan) canVisit() bool {
	moments := append(p.slots(), p.asked.from.UnixMilli(), p.asked.to.UnixMilli(), p.all().from.UnixMilli())
	for _, o := range p.offsets {
		moments = append(moments, o.since.UnixMilli(), o.add.Milliseconds())
	}
	if slices.ContainsFunc(moments, func(ms int64) bool { return ms%quarter.Milliseconds() != 0 }) {
		return false
	}
	can := func(d *dimension) bool {
		sql, of := d.of[events]
		if !of {
			return true // no metric of events, then
		}
		_, ok := ofVisits(sql)
		return ok
	}
	for _, c := range append(slices.Clone(p.Filters), p.Exclude...) {
		if !can(dimensions[c.Dimension]) {
			return false
		}
	}
	return !slices.ContainsFunc(p.dimensions, func(d *dimension) bool { return !can(d) })
}

// fromVisits changes the parts of the list that visits answer to be counted from them.
func (p *plan) fromVisits(list []part) []part {
	if !p.canVisit() {
		return list
	}
	for i, part := range list {
		if sql, ok := visitParts[part.name]; ok {
			needs, own := visitNeeds[part.name]
			if !own {
				needs = part.columns
			}
			list[i].source, list[i].sql, list[i].columns = visits, sql, append(slices.Clone(needs), countColumn)
		}
	}
	return list
}

// visitRows returns the rows of visits: grouped by what is needed of the projection, and joined
// with access links when there are few rows left.
func (w *writer) visitRows(needed []string) string {
	q := &visitQuery{}
	q.add("(r.bot != '')", "bot_row", false)
	q.add(w.slot(visitMS), "slot", false)
	q.add(w.period(visitMS), "period", false)
	aggregates, join := []string{"count() AS " + countColumn}, ""
	for i, d := range w.dimensions {
		q.add(strings.ReplaceAll(d.of[events], "LOCAL", w.local(visitMS)), "d"+strconv.Itoa(i), d.links)
	}
	for _, name := range needed {
		c := columns[name]
		switch sql, own := visitColumns[name]; {
		case name == countColumn || name == "c_ms":
			q.outer = append(q.outer, "r."+name+" AS "+name)
			if name == "c_ms" {
				aggregates = append(aggregates, "sum(duration_ms) AS c_ms")
			}
		case name == "c_link":
			q.key("access_link_id", "access_link_id")
			q.outer = append(q.outer, "r.access_link_id AS c_link")
		case name == "c_visit":
			q.key("access_link_id", "access_link_id")
			q.key(visitSession, "session")
			q.outer = append(q.outer, "reinterpret(sipHash128(r.access_link_id, r.session), 'UUID') AS c_visit")
		case name == "c_finished":
			aggregates, join = append(aggregates, "groupUniqArray(page) AS pages"), versionsJoin
			q.key("lead_magnet_id", "lead_magnet_id")
			q.key("magnet_version", "magnet_version")
			q.outer = append(q.outer, visitFinishes+" AS c_finished")
		case own:
			q.add(sql, name, false)
		case c.links && c.source == events:
			q.add(c.sql, name, true)
		default:
			q.outer = append(q.outer, c.zero+" AS "+name)
		}
	}
	var joined []string
	for _, filter := range w.conditions(events, visitMS) {
		if filter.links {
			joined = append(joined, q.joined(filter.sql))
		}
	}
	if len(joined) > 0 {
		joined[0] = "\nWHERE " + joined[0]
	}
	if q.links {
		join += linksJoin
	}
	rows := fmt.Sprintf("SELECT toUInt8(%d) AS source, %s\nFROM (\n    %s) AS r%s%s", visits, strings.Join(q.outer, ", "),
		w.grouped(append(q.inner, aggregates...), q.keys), join, strings.Join(joined, " AND "))
	if slices.Contains(needed, "c_link") || slices.Contains(needed, "c_visit") || slices.Contains(needed, "c_person") {
		return rows
	}
	return w.summed(rows, needed)
}

// summed adds up the numbers of rows that are the same otherwise. Nothing distinct is counted of
// them.
func (w *writer) summed(rows string, needed []string) string {
	by := []string{"source", "bot_row", "slot", "period"}
	for i := range w.dimensions {
		by = append(by, "d"+strconv.Itoa(i))
	}
	selected := slices.Clone(by)
	for _, name := range needed {
		if name == countColumn || name == "c_ms" {
			selected = append(selected, "sum(t."+name+") AS "+name)
		} else {
			by, selected = append(by, name), append(selected, name)
		}
	}
	return fmt.Sprintf("SELECT %s FROM (%s) AS t GROUP BY %s", strings.Join(selected, ", "), rows, strings.Join(by, ", "))
}

// grouped returns the visits that no filter leaves out, grouped by keys. A group that lies in two
// pieces is two rows.
func (w *writer) grouped(fields, keys []string) string {
	conditions := []string{"account_id = {account:UUID}"}
	for _, filter := range w.conditions(events, visitMS) {
		if !filter.links {
			sql, _ := ofVisits(filter.sql)
			conditions = append(conditions, sql)
		}
	}
	where := strings.Join(conditions, " AND ")
	var pieces []string
	for _, within := range w.pieces() {
		pieces = append(pieces, fmt.Sprintf("SELECT %s\n    FROM lodestone.events\n    WHERE %s AND %s\n    GROUP BY %s",
			strings.Join(fields, ", "), where, within, strings.Join(keys, ", ")))
	}
	return strings.Join(pieces, "\n    UNION ALL ")
}

// pieces returns the conditions of the time that is asked for, in pieces of about three months that
// begin with one. The server groups each by a thread of its own.
func (w *writer) pieces() (conditions []string) {
	all := w.all()
	if w.overall {
		all = w.asked
	}
	from, to := all.from.UTC(), all.to.UTC()
	cuts := []time.Time{from}
	for at := time.Date(from.Year(), from.Month()+3, 1, 0, 0, 0, 0, time.UTC); at.AddDate(0, 1, 0).Before(to) &&
		len(cuts) < maxPieces; at = at.AddDate(0, 3, 0) {
		cuts = append(cuts, at)
	}
	for i, at := range append(cuts, to)[1:] {
		conditions = append(conditions,
			fmt.Sprintf("%s >= fromUnixTimestamp64Milli(%s, 'UTC') AND %s < fromUnixTimestamp64Milli(%s, 'UTC')",
				quarterOf, w.moment(cuts[i]), quarterOf, w.moment(at)))
	}
	return conditions
}

const maxPieces = 5

// moment is a time as a parameter, which is named after it.
func (w *writer) moment(at time.Time) string { return w.param("at"+milli(at), "Int64", milli(at)) }

// visitQuery collects the parts of a query in two levels: the inner one groups the projection, the
// outer one joins the groups with access links and computes the columns.
type visitQuery struct {
	keys  []string // names that the inner query groups by
	inner []string // fields of the inner query, one for each key
	outer []string // fields of the outer query
	links bool     // the outer query joins access links
}

// add adds a field of the outer query. One that is joined needs the access link, and is computed
// beside the join; another one is a constant, or a key of the groups.
func (q *visitQuery) add(sql, name string, joined bool) {
	if joined {
		q.outer = append(q.outer, q.joined(sql)+" AS "+name)
		return
	}
	if constant := !strings.Contains(sql, "created_at") && !eventColumn.MatchString(sql) &&
		!strings.Contains(sql, "event_type"); constant {
		q.outer = append(q.outer, sql+" AS "+name)
		return
	}
	sql, _ = ofVisits(sql)
	q.key(sql, name)
	q.outer = append(q.outer, "r."+name+" AS "+name)
}

// joined makes the columns of events in an expression beside the join keys of the groups, and
// returns the expression.
func (q *visitQuery) joined(sql string) string {
	q.links = true
	for _, column := range append(eventColumn.FindAllStringSubmatch(sql, -1), []string{"", "access_link_id"}) {
		q.key(visitKeys[column[1]], column[1])
	}
	return sql
}

func (q *visitQuery) key(sql, name string) {
	if !slices.Contains(q.keys, name) {
		q.keys, q.inner = append(q.keys, name), append(q.inner, sql+" AS "+name)
	}
}

// anyFromVisits reports whether visits answer some of the parts. Then they alone count the bots.
func anyFromVisits(of []part) bool {
	return slices.ContainsFunc(of, func(p part) bool { return p.source == visits })
}
