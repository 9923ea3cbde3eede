package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/problem"
	"lodestone/query/scope"
)

// Answer is the answer to a question.
type Answer struct {
	Metrics      []string // what the numbers are, in their order
	Dimensions   []string // what the values are
	Compared     bool     // with the time before
	Rows         []Row
	Totals       Numbers
	ExcludedBots int64             // events and views of bots that were left out
	Labels       map[string]string // names of the ids in the rows
}

// Row is a row of an answer: one of the values that lead, or all others, by interval if the
// question has one.
type Row struct {
	Time    time.Time // start of the interval; zero: the question has none
	Partial bool      // the range cuts the interval, or it is not over
	Other   bool      // all values that have no row of their own
	Values  []any     // of the dimensions: string, int64, bool or nil
	Numbers Numbers
}

// Numbers are the numbers of the metrics, and of the time that is compared with, if the question
// has one and there was such an interval. A number is nil where nothing was counted that it could
// be of.
type Numbers struct{ Now, Previous []*float64 }

// TooLargeError says that an answer would be larger than allowed.
type TooLargeError struct {
	Field   string // that asks for too much
	Message string
}

// Error implements error.
func (e *TooLargeError) Error() string { return e.Field + " " + e.Message }

// compileAll checks questions. The path of a question comes before the names of its fields.
func compileAll(questions []Question, paths []string, now time.Time) (plans []plan, wrong []problem.Field) {
	for i, q := range questions {
		p, fields := compile(q, paths[i], now)
		plans, wrong = append(plans, p), append(wrong, fields...)
	}
	return plans, wrong
}

// Answer answers questions of an account from one state of the data. Paths, such as "queries[0].",
// come before the names of fields that are wrong, in a problem that is returned as the error. A
// TooLargeError says how to ask for less.
func (r *Reporter) Answer(ctx context.Context, account uuid.UUID, questions []Question,
	paths []string) ([]Answer, error) {
	plans, wrong := compileAll(questions, paths, time.Now())
	if len(wrong) > 0 {
		return nil, problem.Invalid(wrong...)
	}
	collected, err := r.collect(ctx, account, plans, paths)
	if err == nil || isTooLarge(err) {
		again := false
		for i := range collected {
			again = again || plans[i].unranked && (err != nil || collected[i].crowded())
			plans[i].unranked = plans[i].unranked && err == nil && !collected[i].crowded()
		}
		if again { // all of them, of one state
			collected, err = r.collect(ctx, account, plans, paths)
		}
	}
	if err != nil {
		return nil, err
	}
	answers := make([]Answer, len(plans))
	for i := range collected {
		answers[i] = collected[i].answer()
	}
	return answers, r.label(ctx, account, answers)
}

func isTooLarge(err error) bool {
	_, is := errors.AsType[*TooLargeError](err)
	return is
}

// collect runs the statement of the plans.
func (r *Reporter) collect(ctx context.Context, account uuid.UUID, plans []plan, paths []string) ([]collector, error) {
	collected := make([]collector, len(plans))
	for i, path := range paths[:len(plans)] {
		collected[i] = collector{plan: &plans[i], path: path, cells: map[cellKey]*cell{}}
	}
	return collected, r.ch.Query(ctx, account, statement(plans), func(row scope.Row) error {
		var question, set, period uint8
		var slot int64
		var led uint8
		var texts []string
		var numbers []float64
		var bots float64
		if err := row.Scan(&question, &set, &period, &slot, &led, &texts, &numbers, &bots); err != nil {
			return fmt.Errorf("read report: %w", err)
		}
		return collected[question].add(int(set), period == 1, slot, led == 1, texts, numbers, bots)
	})
}

// cellKey names a row of the server's answer.
type cellKey struct {
	set   int
	slot  int64
	led   bool
	texts string // of the values, joined
}

// cell holds the counts of a row, in the requested period and in the previous one.
type cell struct {
	texts    []string
	now      []float64 // of the parts; nil: nothing
	previous []float64
}

// collector puts the rows of the server together.
type collector struct {
	*plan
	path         string // comes before the names of the question's fields
	cells        map[cellKey]*cell
	filled, rows int // cells with numbers, and rows over all the time: the answer has at least so many
	bots         int64
	found        [2]int // rows of values, of the time before and of the time asked for
}

// crowded reports whether there may be more values than the question has place for.
func (c *collector) crowded() bool { return max(c.found[0], c.found[1]) > c.Limit }

// add adds a row, or refuses it as soon as the answer is too large. Nested parts come in rows of
// their own, whose other numbers are 0.
func (c *collector) add(set int, now bool, slot int64, led bool, texts []string,
	numbers []float64, bots float64) error {
	if set == setTotal && now && !c.IncludeBots {
		c.bots += int64(bots)
	}
	if set == setRow {
		at := 0
		if now {
			at = 1
		}
		c.found[at]++
	}
	if !slices.ContainsFunc(numbers, func(n float64) bool { return n != 0 }) {
		return nil
	}
	key := cellKey{set, slot, led, strings.Join(texts, "\x00")}
	found := c.cells[key]
	if found == nil {
		found = &cell{texts: texts}
		c.cells[key] = found
	}
	into := &found.previous
	if now {
		into = &found.now
	}
	wasEmpty := isEmpty(*into)
	if *into == nil {
		*into = make([]float64, len(numbers))
	}
	for i, n := range numbers {
		(*into)[i] += n
	}
	if now && wasEmpty && !isEmpty(*into) {
		return c.count(set)
	}
	return nil
}

// count counts a cell with numbers in the time that is asked for, and refuses one too many.
func (c *collector) count(set int) error {
	switch set {
	case setCell:
		c.filled++
	case setRow:
		c.rows++
	}
	if max(c.filled, c.rows*max(1, len(c.starts))) > MaxRows {
		return &TooLargeError{c.path + "limit", "leads to more than " + strconv.Itoa(MaxRows) +
			" rows: ask for fewer rows, longer intervals or less time"}
	}
	return nil
}

// lookup returns what was counted of a cell in one of the two times.
func (c *collector) lookup(set int, slot int64, led bool, texts []string, now bool) []float64 {
	found := c.cells[cellKey{set, slot, led, strings.Join(texts, "\x00")}]
	switch {
	case found == nil:
		return nil
	case now:
		return found.now
	}
	return found.previous
}

// values returns the numbers of the metrics, from those of the parts.
func (c *collector) values(parts []float64) []*float64 {
	all := c.counted
	number := func(name string) float64 {
		if parts == nil {
			return 0
		}
		return parts[slices.IndexFunc(all, func(p part) bool { return p.name == name })]
	}
	list := make([]*float64, len(c.metrics))
	for i, m := range c.metrics {
		value := number(m.parts[0])
		if m.isRate() {
			value /= number(m.parts[1]) // not finite, where it is a rate of nothing
		}
		if m.nullable && (parts == nil || math.IsNaN(value) || math.IsInf(value, 0)) {
			continue
		}
		list[i] = &value
	}
	return list
}

// numbers returns the numbers of a cell, with those of the one before if they were asked for.
func (c *collector) numbers(now, previous []float64) Numbers {
	n := Numbers{Now: c.values(now)}
	if c.Compare {
		n.Previous = c.values(previous)
	}
	return n
}

// isEmpty reports whether nothing was counted.
func isEmpty(parts []float64) bool {
	return !slices.ContainsFunc(parts, func(n float64) bool { return n != 0 && !math.IsNaN(n) })
}

// series is a row of the answer over all the time.
type series struct {
	led    bool
	texts  []string // none: of a question without dimensions
	values []any
}

// series returns the series of the answer, in their order.
func (c *collector) series() []series {
	if len(c.dimensions) == 0 {
		return []series{{led: false}}
	}
	var list []series
	var order []*float64
	other := false
	at := slices.IndexFunc(c.metrics, func(m metric) bool { return m.name == c.order.name })
	for key, found := range c.cells {
		if key.set != setRow || isEmpty(found.now) {
			continue
		}
		if !key.led {
			other = true
			continue
		}
		s := series{led: true, texts: found.texts}
		for i, text := range found.texts {
			s.values = append(s.values, c.dimensions[i].value(text))
		}
		list, order = append(list, s), append(order, c.values(found.now)[at])
	}
	c.sort(list, order)
	if other {
		list = append(list, series{texts: c.zeroTexts()})
	}
	return list
}

// sort orders series by their number, as the server does: none last, ties by value.
func (c *collector) sort(list []series, numbers []*float64) {
	byIndex := make([]int, len(list))
	for i := range byIndex {
		byIndex[i] = i
	}
	slices.SortFunc(byIndex, func(a, b int) int {
		x, y := numbers[a], numbers[b]
		switch {
		case x == nil && y != nil:
			return 1
		case x != nil && y == nil:
			return -1
		case x != nil && *x != *y:
			if c.descending {
				return cmp.Compare(*y, *x)
			}
			return cmp.Compare(*x, *y)
		}
		for i, d := range c.dimensions {
			if order := d.compare(list[a].texts[i], list[b].texts[i]); order != 0 {
				return order
			}
		}
		return 0
	})
	sorted := make([]series, len(list))
	for i, from := range byIndex {
		sorted[i] = list[from]
	}
	copy(list, sorted)
}

// answer makes the answer of what was collected.
func (c *collector) answer() Answer {
	a := Answer{Metrics: c.Metrics, Dimensions: c.Dimensions, Compared: c.Compare, ExcludedBots: c.bots}
	a.Totals = c.numbers(c.lookup(setTotal, 0, false, c.zeroTexts(), true),
		c.lookup(setTotal, 0, false, c.zeroTexts(), false))
	series := c.series()
	if c.Interval == Whole {
		for _, s := range series {
			now, previous := c.lookup(setRow, 0, s.led, s.texts, true), c.lookup(setRow, 0, s.led, s.texts, false)
			if len(c.dimensions) == 0 {
				now, previous = c.lookup(setTotal, 0, false, nil, true), c.lookup(setTotal, 0, false, nil, false)
			}
			a.Rows = append(a.Rows, Row{Other: len(c.dimensions) > 0 && !s.led, Values: s.values,
				Numbers: c.numbers(now, previous)})
		}
		return a
	}
	slots := c.slots()
	for i, start := range c.starts {
		for _, s := range series {
			row := Row{Time: start, Partial: c.isPartial(start), Other: len(c.dimensions) > 0 && !s.led, Values: s.values}
			row.Numbers.Now = c.values(c.lookup(setCell, slots[len(c.earlier)+i], s.led, s.texts, true))
			if i < len(c.earlier) { // the time before may have fewer intervals
				row.Numbers.Previous = c.values(c.lookup(setCell, slots[i], s.led, s.texts, false))
			}
			a.Rows = append(a.Rows, row)
		}
	}
	return a
}

// zeroTexts are the texts of a row that has no values.
func (c *collector) zeroTexts() []string {
	texts := make([]string, len(c.dimensions))
	for i, d := range c.dimensions {
		texts[i] = d.zeroText()
	}
	return texts
}

// isPartial reports whether the range has only part of an interval, or the interval is not over.
func (c *collector) isPartial(start time.Time) bool {
	end := c.calendar.next(start, c.Interval)
	return start.Before(c.asked.from) || end.After(c.asked.to) || end.After(c.now)
}
