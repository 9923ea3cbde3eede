package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// led marks the rows whose values lead, and takes the values from the others.
func (w *writer) led(rows string) string {
	if len(w.dimensions) == 0 {
		return rows
	}
	var values []string
	var taken strings.Builder
	for i, d := range w.dimensions {
		name := "d" + strconv.Itoa(i)
		values = append(values, name)
		fmt.Fprintf(&taken, ", if(led, %s, %s) AS e%d", name, d.zero(), i)
	}
	is := "1"
	if !w.hopeful && !w.allLead() {
		overall := *w
		overall.overall = true
		is = "(" + strings.Join(values, ", ") + ") IN (" + overall.leading(values) + ")"
	}
	return fmt.Sprintf("SELECT *, toUInt8(%s) AS led%s FROM (%s)", is, taken.String(), rows)
}

// leading finds the top values by the metric of the order, among those with a count in the
// requested period.
func (w *writer) leading(values []string) string {
	all := w.parts()
	number := func(name string) string {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == name })
		return "numbers[" + strconv.Itoa(i+1) + "]"
	}
	value := number(w.order.parts[0])
	if w.order.isRate() {
		value += " / " + number(w.order.parts[1])
	}
	direction := "ASC"
	if w.descending {
		direction = "DESC"
	}
	keys := strings.Join(values, ", ")
	cheap := w.deciding()
	sums := fmt.Sprintf("SELECT %s, [%s] AS parts FROM (%s) GROUP BY %s", keys,
		strings.Join(w.expressions(cheap), ", "), w.rows(cheap), keys)
	if nested := w.nested(); len(nested) > 0 {
		sums += " UNION ALL " + w.attentive(w.rows(nested), values, keys)
	}
	ties := make([]string, len(values))
	for i, d := range w.dimensions {
		if ties[i] = values[i]; d.kind != numberKind {
			ties[i] = "toString(" + values[i] + ")"
		}
	}
	// A rate of nothing comes last in either direction.
	return fmt.Sprintf(`SELECT %s FROM (
    SELECT %s, sumForEach(parts) AS numbers, %s AS value FROM (%s) GROUP BY %s
    HAVING arrayExists(n -> isFinite(n) AND n != 0, numbers)
    ORDER BY isFinite(value) DESC, value %s, %s LIMIT %s)`,
		keys, keys, value, sums, keys, direction, strings.Join(ties, ", "), w.param("limit", "UInt32", strconv.Itoa(w.Limit)))
}

// deciding returns the parts, those that do not decide the order as cheaper ones that are 0 as well
// if nothing was counted.
func (w *writer) deciding() []part {
	list := w.parts()
	for i, p := range list {
		with := slices.IndexFunc(list, func(other part) bool { return other.name == impliedBy[p.name] })
		switch {
		case slices.Contains(w.order.parts, p.name):
		case with >= 0:
			list[i].sql, list[i].columns, list[i].source = "0", nil, list[with].source
		case p.name == "readers" || p.name == "people" || p.name == "sessions":
			list[i].sql, list[i].columns = "countIf("+viewed+")", []string{"c_viewed"}
		case p.name == "people_downloaded" || p.name == "people_without_form": // a difference has to be exact
		default:
			list[i].sql = existenceOf.Replace(p.sql)
		}
	}
	return list
}

// impliedBy maps a part to another one that is non-zero wherever the part is.
var impliedBy = map[string]string{
	"finished": "readers", "downloaders": "readers", "opened": "submissions",
	"people_finished": "people", "people_downloaded": "people", "people_without_form": "people",
	"confirmations": "verified",
}

// existenceOf replaces aggregates where only zero or non-zero matters.
var existenceOf = strings.NewReplacer("uniqExactIf(", "uniqUpToIf(1)(", "quantileExactInclusiveIf(0.5)(", "maxIf(",
	"quantileExactInclusiveIf(0.9)(", "maxIf(")

// bounded is how many values some dimensions have at most.
var bounded = map[string]int{"device": len(Devices()), "bot": 2, "weekday": 7, "hour_of_day": 24}

// allLead reports whether the limit has place for all values that there can be.
func (p *plan) allLead() bool {
	most := 1
	for _, d := range p.dimensions {
		n, ok := bounded[d.name]
		if !ok {
			return false
		}
		most *= n
	}
	return most <= p.Limit
}

// few are dimensions that hardly ever have more values than a question has place for.
var few = map[string]bool{
	"lead_magnet_id": true, "generic_link_id": true, "magnet_version": true, "utm_source": true, "utm_medium": true,
	"browser": true, "os": true, "country": true,
	"language": true, "event_type": true,
}

// skipRanking reports whether the first query may omit the subquery that ranks the values: ranking
// reads everything a second time, and takes as long as the answer itself.
func (p *plan) skipRanking() bool {
	return len(p.dimensions) == 1 && few[p.dimensions[0].name] && len(p.nested()) == 0
}

// limitClause caps the rows of a statement without ranking at one more than the limit, so that the
// collector detects an overflow.
func (w *writer) limitClause() string {
	if !w.hopeful {
		return ""
	}
	return fmt.Sprintf(" LIMIT %d BY set, period, slot", w.Limit+1)
}
