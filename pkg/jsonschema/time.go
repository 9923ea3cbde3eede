package jsonschema

import (
	"errors"
	"regexp"
	"strings"
	"time"
)

var (
	// A date: of the calendar, of the year's days, or of its weeks; each in the extended form and in the
	// basic one of ISO 8601. One that leaves the day open is none: 2026-03 could be meant as 2026-03-01
	// or as all of March.
	isoDate = regexp.MustCompile(`^(\d{4})(?:-(\d\d)-(\d\d)|-(\d{3})|-W(\d\d)-(\d)|(\d\d)(\d\d)|(\d{3})|W(\d\d)(\d))$`)
	// A time of day: hours, minutes and seconds, of which the last one given may have a fraction, and the
	// zone. Its form, extended or basic, is that of the date.
	isoTime      = regexp.MustCompile(`^(\d\d)(?::(\d\d)(?::(\d\d))?)?(?:[.,](\d{1,18}))?(Z|[+-]\d\d(?::?\d\d)?)?$`)
	isoTimeBasic = regexp.MustCompile(`^(\d\d)(?:(\d\d)(?:(\d\d))?)?(?:[.,](\d{1,18}))?(Z|[+-]\d\d(?:\d\d)?)?$`)
)

var (
	errNotISO = errors.New("must be an ISO 8601 date (2026-03-01, 2026-060 or 2026-W09-7), alone or with a time and its zone, such as 2026-03-01T09:30:00.250+01:00")
	errNoTime = errors.New("is a date or time that does not exist")
)

// ParseTime reads an ISO 8601 date or datetime strictly: a calendar, ordinal or week date, alone or with a
// time of day, in the extended or the basic form, and with a small t and z as RFC 3339 has them. A date alone
// is its midnight in UTC, and a datetime without a zone is in UTC; 24:00 is the end of the day, and a leap
// second is the beginning of the next one. The error says what is allowed.
func ParseTime(text string) (time.Time, error) {
	upper := strings.NewReplacer("t", "T", "z", "Z").Replace(text)
	datePart, timePart, timed := strings.Cut(upper, "T")
	d := isoDate.FindStringSubmatch(datePart)
	if d == nil {
		return time.Time{}, errNotISO
	}
	basic := !strings.Contains(datePart, "-")
	day, ok := isoDay(d)
	if !ok {
		return time.Time{}, errNoTime
	}
	t := day
	if timed {
		form := isoTime
		if basic {
			form = isoTimeBasic
		}
		c := form.FindStringSubmatch(timePart)
		if c == nil {
			if i := strings.LastIndexByte(timePart, ' '); i > 0 && form.MatchString(timePart[:i]+"+"+timePart[i+1:]) {
				return time.Time{}, errors.New("has a space before its zone: write the + of a zone as %2B in a URL")
			}
			return time.Time{}, errNotISO
		}
		since, ok := isoClock(c, day)
		if !ok {
			return time.Time{}, errNoTime
		}
		t = day.Add(since)
	}
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, errNoTime
	}
	return t, nil
}

// isoDay returns the midnight of a date in UTC.
func isoDay(d []string) (day time.Time, exists bool) {
	n := func(i ...int) int { // of the groups, all but one are empty
		for _, i := range i {
			if d[i] != "" {
				return digits(d[i])
			}
		}
		return 0
	}
	year := n(1)
	switch {
	case year == 0:
		return day, false
	case d[2] != "" || d[7] != "":
		month, dayOf := n(2, 7), n(3, 8)
		day = time.Date(year, time.Month(month), dayOf, 0, 0, 0, 0, time.UTC)
		return day, day.Year() == year && int(day.Month()) == month && day.Day() == dayOf
	case d[4] != "" || d[9] != "":
		ordinal := n(4, 9)
		day = time.Date(year, 1, ordinal, 0, 0, 0, 0, time.UTC)
		return day, ordinal > 0 && day.Year() == year
	default:
		week, weekday := n(5, 10), n(6, 11)
		// The fourth of January is in the first week, and weeks begin on Mondays.
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC)
		monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
		day = monday.AddDate(0, 0, 7*(week-1)+weekday-1)
		inYear, inWeek := day.ISOWeek()
		return day, weekday >= 1 && weekday <= 7 && inYear == year && inWeek == week
	}
}

// isoClock returns how long after the midnight of its day, in UTC, a time is.
func isoClock(c []string, day time.Time) (since time.Duration, exists bool) {
	hour, minute, second := digits(c[1]), digits(c[2]), digits(c[3])
	unit := time.Hour
	switch {
	case c[3] != "":
		unit = time.Second
	case c[2] != "":
		unit = time.Minute
	}
	since = time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	fraction := time.Duration(0)
	for scale, rest := unit/10, c[4]; rest != "" && scale > 0; scale, rest = scale/10, rest[1:] {
		fraction += scale * time.Duration(rest[0]-'0')
	}
	var zone time.Duration
	if z := c[5]; z != "" && z != "Z" {
		hm := strings.ReplaceAll(z[1:], ":", "")
		h, m := digits(hm[:2]), digits(hm[2:])
		if h > 23 || m > 59 {
			return 0, false
		}
		zone = time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
		if z[0] == '-' {
			zone = -zone
		}
	}
	switch end := hour == 24; {
	case end && (minute > 0 || second > 0 || fraction > 0), hour > 24, minute > 59, second > 60:
		return 0, false
	case second == 60:
		// A leap second is the last one of a day in UTC; its fraction is left out.
		at := day.Add(since - zone)
		return since - zone, at.Equal(at.Truncate(24 * time.Hour))
	}
	return since + fraction - zone, true
}

// digits returns the value of a text of at most four digits.
func digits(text string) int {
	n := 0
	for _, c := range []byte(text) {
		n = 10*n + int(c-'0')
	}
	return n
}
