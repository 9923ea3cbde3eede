package web

import (
	"strings"
	"time"
)

// Day writes a date, such as Monday, 2 November 2026.
func (t *Texts) Day(at time.Time) string { return t.date("date.day", at) }

// Weekday writes a date without its year, such as Monday, 2 November.
func (t *Texts) Weekday(at time.Time) string { return t.date("date.weekday", at) }

// Short writes a day and a month for the axis of a chart, such as 2 Nov.
func (t *Texts) Short(at time.Time) string {
	names := strings.Fields(t.Say("date.months.short"))
	return t.Say("date.short", "day", at.Format("2"), "month", names[at.Month()-1])
}

// Moment writes a time with its zone, such as 2 November 2026, 14:05 CET.
func (t *Texts) Moment(at time.Time) string { return t.date("date.moment", at) }

// Days writes the days from a time to a later one. Both are included, and may be of one day.
func (t *Texts) Days(first, last time.Time) string {
	switch {
	case first.Year() != last.Year():
		return t.Say("date.range", "first", t.Day(first), "last", t.Day(last))
	case first.YearDay() != last.YearDay():
		return t.Say("date.range", "first", t.Weekday(first), "last", t.Day(last))
	default:
		return t.Day(last)
	}
}

func (t *Texts) date(key string, at time.Time) string {
	name := func(key string, i int) string {
		if names := strings.Fields(t.Say(key)); i < len(names) {
			return names[i]
		}
		return ""
	}
	// Numbers of a year have no separators.
	return t.Say(key, "weekday", name("date.weekdays", int(at.Weekday())), "day", at.Format("2"), "month",
		name("date.months", int(at.Month())-1),
		"year", at.Format("2006"), "time", at.Format("15:04"), "zone", at.Format("MST"))
}
