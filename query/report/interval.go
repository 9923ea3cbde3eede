package report

import (
	"slices"
	"time"

	"lodestone/pkg/timezone"
)

// calendar divides time by the calendar of a time zone, whose changes of offset are those that Go
// knows.
type calendar struct{ zone *time.Location }

// wantedZone says what the name of a zone must be.
const wantedZone = "must be the name of a time zone of the IANA database, such as Europe/Berlin"

// calendarOf returns the calendar of a zone; "" is UTC.
func calendarOf(name string) (c calendar, ok bool) {
	if name == "" {
		name = "UTC"
	}
	zone, err := timezone.Load(name)
	return calendar{zone}, err == nil
}

// midnight returns the first moment of a day.
func (c calendar) midnight(year int, month time.Month, day int) time.Time {
	return timezone.Midnight(c.zone, year, month, day)
}

// dayOf returns the first moment of the day that a time lies in.
func (c calendar) dayOf(t time.Time) time.Time {
	return c.midnight(t.In(c.zone).Date())
}

// addDays returns the first moment of the day some days later.
func (c calendar) addDays(t time.Time, days int) time.Time {
	return timezone.AddDays(t.In(c.zone), days)
}

// start returns the beginning of the interval that a time lies in.
func (c calendar) start(t time.Time, unit Interval) time.Time {
	local := t.In(c.zone)
	year, month, day := local.Date()
	switch unit {
	case Hour:
		hour := t.Add(-time.Duration(local.Minute())*time.Minute - time.Duration(
			local.Second())*time.Second - time.Duration(local.Nanosecond()))
		if change, ok := timezone.NextChange(c.zone, hour, t); ok {
			return change
		}
		return hour.In(c.zone)
	case Week:
		return c.midnight(year, month, day-(int(local.Weekday())+6)%7)
	case Month:
		return c.midnight(year, month, 1)
	case Day, Whole:
	}
	return c.midnight(year, month, day)
}

// next returns the beginning of the interval after the one that begins at a time. A change of
// offset begins an hour.
func (c calendar) next(start time.Time, unit Interval) time.Time {
	local := start.In(c.zone)
	year, month, day := local.Date()
	switch unit {
	case Hour:
		next := start.Add(time.Hour - time.Duration(local.Minute())*time.Minute - time.Duration(local.Second())*time.Second)
		if change, ok := timezone.NextChange(c.zone, start, next); ok {
			return change
		}
		return next.In(c.zone)
	case Week:
		return c.midnight(year, month, day+7)
	case Month:
		return c.midnight(year, month+1, 1)
	case Day, Whole:
	}
	return c.midnight(year, month, day+1)
}

// span is a time from a moment on and before another one.
type span struct{ from, to time.Time }

// intervals returns the beginnings of the intervals that a span touches: the first may begin before
// it. It returns at most limit+1 of them.
func (c calendar) intervals(s span, unit Interval, limit int) (starts []time.Time) {
	if unit == Whole {
		return []time.Time{s.from}
	}
	at := c.start(s.from, unit)
	if next := c.next(at, unit); !next.After(s.from) {
		at = next // clocks were set back over midnight, so the first moment of the next day is past
	}
	for ; at.Before(s.to) && len(starts) <= limit; at = c.next(at, unit) {
		starts = append(starts, at)
	}
	return starts
}

// previous returns the span of as many calendar units before: months if the span is whole months,
// else days if it is whole days, else the same time.
func (c calendar) previous(s span) span {
	if s.from.Equal(c.start(s.from, Month)) && s.to.Equal(c.start(s.to, Month)) {
		from, to := s.from.In(c.zone), s.to.In(c.zone)
		months := (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
		return span{c.midnight(from.Year(), from.Month()-time.Month(months), 1), s.from}
	}
	if s.from.Equal(c.dayOf(s.from)) && s.to.Equal(c.dayOf(s.to)) {
		return span{c.addDays(s.from, -timezone.DaysBetween(s.from.In(c.zone), s.to.In(c.zone))), s.from}
	}
	return span{s.from.Add(-s.to.Sub(s.from)), s.from}
}

// offset is the UTC offset of a zone from a moment on.
type offset struct {
	since time.Time
	add   time.Duration
}

// offsets returns the zone's offsets in a span, the first one from its beginning on.
func (c calendar) offsets(s span) (list []offset) {
	for at := s.from; ; {
		_, seconds := at.In(c.zone).Zone()
		list = append(list, offset{at, time.Duration(seconds) * time.Second})
		change, ok := timezone.NextChange(c.zone, at, s.to)
		if !ok || !change.Before(s.to) {
			return slices.Clip(list)
		}
		at = change
	}
}
