package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// markLeading adds to rows the column led, 1 if the values of the dimensions (d0, d1) have a row
// of their own in the answer, and the columns e0 and e1: these values, or zeros if they do not
// lead. So all that do not lead are one group, the row "other".
func (w *writer) markLeading(rows string) string {
	if len(w.dimensions) == 0 {
		return rows
	}
	var values []string
	var shown strings.Builder
	for i, d := range w.dimensions {
		name := "d" + strconv.Itoa(i)
		values = append(values, name)
		fmt.Fprintf(&shown, ", if(led, %s, %s) AS e%d", name, d.zero(), i)
	}
	leads := "1"
	if !w.unranked && !w.allLead() {
		overall := *w
		overall.overall = true
		leads = "(" + strings.Join(values, ", ") + ") IN (" + overall.ranking(values) + ")"
	}
	return fmt.Sprintf("SELECT *, toUInt8(%s) AS led%s FROM (%s)", leads, shown.String(), rows)
}

// ranking selects the values that lead: the first ones by the metric of the order, among those with
// a count in the requested period.
func (w *writer) ranking(values []string) string {
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

// deciding returns the parts that ranking needs. Those that do not decide the order only have to
// tell values without any count, for which all parts are 0, and cheaper ones do so as well.
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

// limitClause caps the rows of a statement without ranking at one more than the limit. From the one
// too many, the collector sees that values are missing (crowded), and Answer asks with ranking.
func (w *writer) limitClause() string {
	if !w.unranked {
		return ""
	}
	return fmt.Sprintf(" LIMIT %d BY set, period, slot", w.Limit+1)
}
