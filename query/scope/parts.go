package scope

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// Part is a part of the table of events: rows of one month that were written together, of any accounts. What is in
// it never changes: what changes events writes other parts and takes the old ones away. Two that are equal are the same.
type Part struct {
	Month     uint32 // that its events happened in, as 202611; 0: none of a month
	Name      string
	Low, High int64  // the first and the last of the inserts that its rows came with: those of other parts lie beside it
	Mutated   bool   // rows of it, or of one that it was merged from, were changed or taken away after they were inserted
	Rows      uint64 // with those that are marked as deleted
	Written   int64  // by the clock of ClickHouse, in Unix seconds
}

// A name comes again after the server was started without any part of the table: the time tells those apart.
const partsOfEvents = `SELECT name, rows, toInt64(modification_time)
FROM system.parts
WHERE database = 'lodestone' AND table = 'events' AND active`

// Parts returns the parts that the table had at one moment during the call: whoever asked for events between two
// calls that both tell of a part was answered from it, too. Which parts there are does not depend
// on an account. It is what one server has: where events lie on several, it tells of none.
func (c *ClickHouse) Parts(ctx context.Context) ([]Part, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	var parts []Part
	err := c.ask(c.unscoped(ctx, "parts"), partsOfEvents, func(row Row) error {
		var name string
		var rows uint64
		var written int64
		if err := row.Scan(&name, &rows, &written); err != nil {
			return err
		}
		part := partOf(name)
		part.Rows, part.Written = rows, written
		parts = append(parts, part)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("query parts: %w", err)
	}
	return parts, nil
}

// partOf reads a name, "month_low_high_level" or "month_low_high_level_mutation". A part with another name is none of a month.
func partOf(name string) Part {
	fields := strings.Split(name, "_")
	if len(fields) != 4 && len(fields) != 5 {
		return Part{Name: name}
	}
	numbers := make([]int64, len(fields))
	for i := range fields {
		var err error
		if numbers[i], err = strconv.ParseInt(fields[i], 10, 64); err != nil {
			return Part{Name: name}
		}
	}
	return Part{Month: uint32(numbers[0]), Name: name, Low: numbers[1], High: numbers[2], Mutated: len(fields) == 5}
}

// PartNames returns the text of an Array(String) parameter.
func PartNames(parts []Part) string {
	names := make([]string, len(parts))
	for i := range parts {
		names[i] = "'" + parts[i].Name + "'" // of digits and underscores
	}
	return "[" + strings.Join(names, ",") + "]"
}
