package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
)

// Interval is a unit of the calendar that answers are divided by.
type Interval string

// The intervals. Whole does not divide.
const (
	Whole Interval = ""
	Hour  Interval = "hour"
	Day   Interval = "day"
	Week  Interval = "week" // from Monday
	Month Interval = "month"
)

// Bounds of a question.
const (
	MaxIntervals = 2000
	MaxRows      = 20_000
	MaxLimit     = 1000
	MaxQuestions = 20
	defaultLimit = 100
	defaultDays  = 30
)

// Condition names values of a dimension; nil stands for none. The values are of the dimension's
// type: string (also for UUIDs, in their canonical form), int64 or bool.
type Condition struct {
	Dimension string
	Values    []any
}

// Question asks for metrics.
type Question struct {
	Metrics     []string
	From, To    string // dates of the zone, or RFC 3339 times; "": the last 30 days
	Timezone    string // IANA; "": UTC
	Interval    Interval
	Dimensions  []string // at most two
	Filters     []Condition
	Exclude     []Condition
	Links       []uuid.UUID // only events of these access links; nil: of any
	IncludeBots bool
	Compare     bool   // with as many calendar units before
	OrderBy     string // a metric, descending after "-"; "": the first one, descending
	Limit       int    // of rows; 0: 100
}

// plan is a question that can be answered.
type plan struct {
	Question
	metrics    []metric
	dimensions []*dimension
	calendar   calendar
	now        time.Time
	asked      span
	before     span        // the one compared with; zero: none
	starts     []time.Time // of the intervals asked for
	earlier    []time.Time // of those compared with
	offsets    []offset    // of the zone, in both spans
	order      metric
	descending bool
	counted    []part // the parts of the metrics, from visits where these answer them
	unranked   bool   // asked without ranking, as if the limit had place for all values
}

// compile checks a question. The path, such as "queries[0].", comes before the names of the fields
// that are wrong.
func compile(q Question, path string, now time.Time) (plan, []problem.Field) {
	p := plan{Question: q, now: now}
	var wrong []problem.Field
	add := func(field, format string, values ...any) {
		wrong = append(wrong, problem.Field{Field: path + field, Message: fmt.Sprintf(format, values...)})
	}
	p.resolve(add)
	p.checkPairs(add)
	p.narrowLinks()
	p.setTime(add)
	p.setOrder(add)
	if p.Limit == 0 {
		p.Limit = defaultLimit
	}
	if len(wrong) == 0 {
		p.counted = p.fromVisits(p.needed())
		p.unranked = p.skipRanking()
	}
	return p, wrong
}

type adder func(field, format string, values ...any)

// resolve looks up what the question names.
func (p *plan) resolve(add adder) {
	if len(p.Metrics) == 0 {
		add("metrics", "is required: give at least one of %s", list(Metrics()))
	}
	for i, name := range p.Metrics {
		m, ok := metrics[name]
		switch {
		case !ok:
			add(index("metrics", i), "is not a metric: the metrics are %s", list(Metrics()))
		case slices.Contains(p.Metrics[:i], name):
			add(index("metrics", i), "is there twice")
		default:
			p.metrics = append(p.metrics, m)
		}
	}
	if len(p.Dimensions) > 2 {
		add("dimensions", "must have at most 2 elements, and has %d", len(p.Dimensions))
	}
	for i, name := range p.Dimensions {
		d, ok := dimensions[name]
		switch {
		case !ok:
			add(index("dimensions", i), "is not a dimension: the dimensions are %s", list(Dimensions()))
		case slices.Contains(p.Dimensions[:i], name):
			add(index("dimensions", i), "is there twice")
		default:
			p.dimensions = append(p.dimensions, d)
		}
	}
}

// checkPairs refuses metrics that cannot be divided or filtered by a dimension of the question.
func (p *plan) checkPairs(add adder) {
	check := func(field string, d *dimension) {
		if d == nil {
			return
		}
		for _, m := range p.metrics {
			if !m.can(d) {
				add(field, "%s cannot be combined with the metric %s: it has %s", d.name, m.name, list(m.dimensions()))
			}
		}
		if d.name == "bot" && !p.IncludeBots {
			add(field, "bot needs include_bots: true, since bots are left out otherwise")
		}
	}
	for i, name := range p.Dimensions {
		check(index("dimensions", i), dimensions[name])
	}
	for field, conditions := range map[string][]Condition{"filters": p.Filters, "exclude": p.Exclude} {
		for _, c := range conditions {
			check(field+"."+c.Dimension, dimensions[c.Dimension])
			if len(c.Values) == 0 {
				add(field+"."+c.Dimension, "must have at least 1 element: leave it out to allow everything")
			}
			if d := dimensions[c.Dimension]; d != nil && !d.optional && slices.Contains(c.Values, nil) {
				add(field+"."+c.Dimension, "must not have null: every row has a %s", d.name)
			}
		}
	}
}

// narrowLinks makes the links of the question a filter, which no link passes if there are none.
func (p *plan) narrowLinks() {
	if p.Links == nil {
		return
	}
	c := Condition{Dimension: "access_link_id", Values: []any{zeroUUID}}
	for _, link := range p.Links {
		c.Values = append(c.Values, link.String())
	}
	p.Filters = append(slices.Clone(p.Filters), c)
}

// Range returns the time that the question asks for, if it can be answered.
func (q Question) Range(now time.Time) (from, to time.Time, ok bool) {
	p, wrong := compile(q, "", now)
	return p.asked.from, p.asked.to, len(wrong) == 0
}

// dimensions returns the names of those that a metric can be combined with.
func (m metric) dimensions() []string {
	var names []string
	for _, name := range Dimensions() {
		if m.can(dimensions[name]) {
			names = append(names, name)
		}
	}
	return names
}

// setTime sets the time that is asked for, and its intervals.
func (p *plan) setTime(add adder) {
	var ok bool
	if p.calendar, ok = calendarOf(p.Timezone); !ok {
		add("timezone", wantedZone)
		return
	}
	to, okTo := p.parse("to", p.To, p.calendar.addDays(p.now, 1), add)
	from, okFrom := p.parse("from", p.From, p.calendar.addDays(to, -defaultDays), add)
	if !okFrom || !okTo {
		return
	}
	if !from.Before(to) {
		add("from", "must be before to: the range is from %s to %s", from.Format(time.RFC3339), to.Format(time.RFC3339))
		return
	}
	p.asked = span{from, to}
	p.starts = p.calendar.intervals(p.asked, p.Interval, MaxIntervals)
	if len(p.starts) > MaxIntervals {
		add("interval", "divides the range into more than %d intervals: ask for longer ones, or for less time", MaxIntervals)
		return
	}
	if p.Compare {
		p.before = p.calendar.previous(p.asked)
		if p.before.from.Before(earliest) {
			add("compare", "needs time before %s: ask for a later range", earliest.Format(time.DateOnly))
			return
		}
		p.earlier = p.calendar.intervals(p.before, p.Interval, MaxIntervals)
	}
	p.offsets = p.calendar.offsets(p.all())
}

// The times that can be asked for: ClickHouse's days begin and end there.
var (
	earliest = time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)
	last     = time.Date(2148, 1, 1, 0, 0, 0, 0, time.UTC)
)

// parse reads a bound of the time. Times are whole milliseconds in the table, so one between two of
// them moves to the later.
func (p *plan) parse(field, text string, otherwise time.Time, add adder) (t time.Time, ok bool) {
	if text == "" {
		return otherwise, true
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		t = p.calendar.midnight(day.Date())
	} else if t, err = time.Parse(time.RFC3339Nano, text); err != nil {
		add(field, "must be a date such as 2026-10-01, or a time such as 2026-10-01T08:00:00Z")
		return t, false
	}
	if t.Before(earliest) || t.After(last) {
		add(field, "must be from %s to %s", earliest.Format(time.DateOnly), last.Format(time.DateOnly))
		return t, false
	}
	if down := t.Truncate(time.Millisecond); !down.Equal(t) {
		t = down.Add(time.Millisecond)
	}
	return t.In(p.calendar.zone), true
}

// setOrder sets by which metric the rows are ordered.
func (p *plan) setOrder(add adder) {
	name, descending := strings.CutPrefix(p.OrderBy, "-")
	if p.OrderBy == "" && len(p.Metrics) > 0 {
		name, descending = p.Metrics[0], true
	}
	p.order, p.descending = metrics[name], descending
	if p.OrderBy != "" && !slices.Contains(p.Metrics, name) {
		add("order_by", "must be one of the metrics of the question, with - before it for the highest first: %s",
			list(p.Metrics))
	}
}

func index(name string, i int) string { return name + "[" + strconv.Itoa(i) + "]" }

func list(names []string) string { return strings.Join(names, ", ") }
