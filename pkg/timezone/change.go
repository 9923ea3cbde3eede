package timezone

import (
	"sort"
	"time"
)

// step is how far NextChange looks at once. No zone of the database has gone back to an offset
// within a day since 1970.
const step = 24 * time.Hour

// NextChange returns the first moment after one time, and not after another, at which a zone begins
// to add another offset to UTC.
//
// It compares offsets, and asks no time.ZoneBounds: these bounds are those of a year where the rule
// of a zone applies, and on the last day of a leap year they do not advance (golang/go#70633,
// golang/go#81583).
func NextChange(zone *time.Location, after, until time.Time) (change time.Time, ok bool) {
	for at := after; at.Before(until); at = at.Add(step) {
		end := at.Add(step)
		if end.After(until) {
			end = until
		}
		offset := offsetAt(zone, at)
		if offsetAt(zone, end) == offset {
			continue
		}
		first := at.Unix() + 1
		n := sort.Search(int(end.Unix()-first),
			func(i int) bool { return offsetAt(zone, time.Unix(first+int64(i), 0)) != offset })
		return time.Unix(first+int64(n), 0).In(zone), true
	}
	return time.Time{}, false
}

func offsetAt(zone *time.Location, at time.Time) int {
	_, seconds := at.In(zone).Zone()
	return seconds
}

// Midnight returns the first moment of a day in a zone. Where clocks are set forward at midnight,
// that is the moment of the change, and time.Date may return a moment of the day before. Days and
// months beyond their ends are normalised, as time.Date does.
func Midnight(zone *time.Location, year int, month time.Month, day int) time.Time {
	const near = 36 * time.Hour // more than the offset of any zone and a change of it
	wall := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	var first time.Time
	for _, by := range []time.Duration{-near, near} {
		at := wall.Add(-time.Duration(offsetAt(zone, wall.Add(by))) * time.Second).In(zone)
		if clock(at).Equal(wall) && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	if !first.IsZero() {
		return first
	}
	for at := wall.Add(-near); ; { // the clocks passed over it
		change, ok := NextChange(zone, at, wall.Add(near))
		if !ok {
			return time.Date(year, month, day, 0, 0, 0, 0, zone)
		}
		if !clock(change).Before(wall) {
			return change
		}
		at = change
	}
}

// AddDays returns the first moment of the day some days after the one of a time, in the zone of the
// time. Time.AddDate keeps the clock instead, and where that is passed over, it may return a moment
// of the day before.
func AddDays(t time.Time, days int) time.Time {
	year, month, day := t.Date()
	return Midnight(t.Location(), year, month, day+days)
}

// DaysBetween returns how many days of the calendar lie from one time to another, each in its own
// zone. Days have 23 to 25 hours.
func DaysBetween(from, to time.Time) int {
	return int(utcDate(to).Sub(utcDate(from)) / (24 * time.Hour))
}

func utcDate(t time.Time) time.Time {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// clock returns what calendar and clock show at a time, as a time of UTC.
func clock(t time.Time) time.Time {
	_, seconds := t.Zone()
	return t.UTC().Add(time.Duration(seconds) * time.Second)
}
