package scope

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

// Part is a part of the table of events: rows of one month that were written together, of any accounts. What is in
// it never changes: what changes events writes other parts and takes the old ones away.
type Part struct {
	Month   uint32 // that its events happened in, as 202611; 0: none of a month
	Name    string
	Written time.Time     // by the clock of ClickHouse, whole seconds
	Age     time.Duration // since then, by the same clock
}

// Identity is a text that no other part ever has: a name comes again after the server was started without any part of the
// table, but not at the same time.
func (p Part) Identity() string { return p.Name + " " + strconv.FormatInt(p.Written.Unix(), 10) }

// Opening returns where the months begin that are not over at a time: events are at most two days late, most of them. What
// happened before hardly changes, and so is worth remembering with its parts.
func Opening(now time.Time) time.Time {
	now = now.UTC().AddDate(0, 0, -3)
	return time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
}

// MonthOf returns the Part.Month of what happened at a time in UTC.
func MonthOf(t time.Time) uint32 { return uint32(t.Year()*100 + int(t.Month())) }

const partsOfEvents = `SELECT toUInt32OrZero(partition_id), name, modification_time, toInt64(now() - modification_time)
FROM system.parts
WHERE database = 'lodestone' AND table = 'events' AND active`

// Parts returns the parts that the table had at one moment during the call: whoever asked for events between two
// calls that both tell of the same parts of a month was answered from these. Which parts there are does not depend
// on an account. It is what one server has: where events lie on several, it tells of none.
func (c *ClickHouse) Parts(ctx context.Context) ([]Part, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	var parts []Part
	err := c.ask(c.unscoped(ctx, "parts"), partsOfEvents, func(row Row) error {
		var p Part
		var age int64
		if err := row.Scan(&p.Month, &p.Name, &p.Written, &age); err != nil {
			return err
		}
		p.Age = time.Duration(age) * time.Second
		parts = append(parts, p)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("query parts: %w", err)
	}
	return parts, nil
}
