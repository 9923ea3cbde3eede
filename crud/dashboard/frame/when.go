package frame

import (
	"strconv"
	"time"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/timezone"
)

// Instant is a point in time as "when" of web/form.html draws it. The zero value is none.
type Instant struct{ Text, Exact string }

// When writes a time in the zone of the visit; none for nil.
func (v *Visit) When(t *time.Time) Instant {
	if t == nil || t.IsZero() {
		return Instant{}
	}
	local := t.In(v.Period.Zone)
	day := v.Day(local)
	if local.Year() != time.Now().In(v.Period.Zone).Year() {
		day = v.Date(local)
	}
	return Instant{v.Say("frame.date.time", "day", day, "time", local.Format(clock)), local.Format(time.RFC3339)}
}

// WhenOf is When for a time as the API has it.
func (v *Visit) WhenOf(t *api.Time) Instant {
	if t == nil {
		return Instant{}
	}
	return v.When(&t.Time)
}

const clock = "15:04"

// EndOfDay returns the end of a day of the account, which a form has as 2027-01-31, as the API
// takes a time. ok is false for what is no day.
func (v *Visit) EndOfDay(text string) (at string, ok bool) {
	day, ok := parseDay(text, v.Period.Zone)
	if !ok {
		return "", false
	}
	return timezone.AddDays(day, 1).Format(time.RFC3339), true
}

// Day writes a day of this year, such as 2 Jan. The time is in the zone that counts.
func (v *Visit) Day(t time.Time) string { return day(v.texts, t) }

// Date writes a day in full, such as 2 January 2006.
func (v *Visit) Date(t time.Time) string { return date(v.texts, t) }

func day(texts *web.Texts, t time.Time) string {
	return texts.Say("frame.date.day", "day", strconv.Itoa(t.Day()), "month",
		texts.Say("frame.date.mon."+strconv.Itoa(int(t.Month()))))
}

func monthDay(texts *web.Texts, t time.Time) string {
	return texts.Say("frame.date.month_day", "day", strconv.Itoa(t.Day()), "month",
		texts.Say("frame.date.month."+strconv.Itoa(int(t.Month()))))
}

func date(texts *web.Texts, t time.Time) string {
	return texts.Say("frame.date.full", "day", monthDay(texts, t), "year", strconv.Itoa(t.Year()))
}
