package frame

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/view"
	"lodestone/crud/web"
	"lodestone/pkg/timezone"
)

// Period is the range of days that a screen is about. It is in the address, so that a link shows
// what its sender saw.
type Period struct {
	First, Last time.Time // days, at their start in Zone; both are included
	Days        int
	Preset      bool   // the range is of so many days up to today
	Name        string // of a range of the calendar, which goes on with it: month; "": it is none
	Compare     bool
	Refused     bool // the address asks for a range that cannot be shown
	Zone        *time.Location
	texts       *web.Texts
}

const (
	dateForm    = "2006-01-02"
	defaultDays = 30
	maxPeriod   = 3660
	// maxWeeks is how many days are divided into weeks: more are into months.
	maxWeeks = 731
	// allTime is the name of the range that begins with the account.
	allTime = "all"
)

// presets are the ranges to choose from by one press.
var presets = []int{7, 30, 90}

// ParsePeriod reads a period from an address: days=N, the name of a range of the calendar as
// period, or from and to as dates, and compare=no. All time begins with the account. In place of a
// range that cannot be shown comes the usual one, and Refused says so.
func ParsePeriod(q url.Values, now, began time.Time, zone *time.Location) Period {
	today := timezone.AddDays(now.In(zone), 0)
	p := Period{Last: today, Days: defaultDays, Preset: true, Compare: q.Get("compare") != "no", Zone: zone}
	if asked := q.Get("days"); asked != "" {
		n, err := strconv.Atoi(asked)
		if p.Refused = err != nil || n < 1 || n > maxPeriod; !p.Refused {
			p.Days = n
		}
	}
	p.First = timezone.AddDays(today, 1-p.Days)
	from, to := q.Get("from"), q.Get("to")
	if name := q.Get("period"); name != "" {
		for _, c := range calendar(today, began) {
			if c.name == name {
				p.First, p.Last, p.Days, p.Preset, p.Name = c.first, c.last, timezone.DaysBetween(c.first, c.last)+1, false, name
				return p
			}
		}
		p.Refused = true
	}
	if from == "" && to == "" {
		return p
	}
	first, firstIsDay := parseDay(from, zone)
	last, lastIsDay := parseDay(to, zone)
	if to == "" || last.After(today) {
		last, lastIsDay = today, true
	}
	days := timezone.DaysBetween(first, last) + 1
	if p.Refused = !firstIsDay || !lastIsDay || days < 1 || days > maxPeriod; !p.Refused {
		p.First, p.Last, p.Days, p.Preset = first, last, days, false
	}
	return p
}

// parseDay returns the start of a day in a zone.
func parseDay(text string, zone *time.Location) (day time.Time, ok bool) {
	t, err := time.Parse(dateForm, text)
	return timezone.Midnight(zone, t.Year(), t.Month(), t.Day()), err == nil
}

// From is the first day, and To the day after the last, as questions have them.
func (p Period) From() string { return p.First.Format(dateForm) }

// To is the day after the last.
func (p Period) To() string { return p.end().Format(dateForm) }

func (p Period) end() time.Time { return timezone.AddDays(p.Last, 1) }

// Until is the last day.
func (p Period) Until() string { return p.Last.Format(dateForm) }

// Times returns the range as reports have it, as parameters.
func (p Period) Times() url.Values {
	return url.Values{"from": {p.First.Format(time.RFC3339)}, "to": {p.end().Format(time.RFC3339)}}
}

// Interval is the calendar unit by which a chart divides the period.
func (p Period) Interval() string {
	switch {
	case p.Days <= 2:
		return "hour"
	case p.Days <= 92:
		return "day"
	case p.Days <= maxWeeks:
		return "week"
	default:
		return "month"
	}
}

// Label writes the start of an interval of the period.
func (p Period) Label(t time.Time) string {
	switch {
	case p.Interval() == "hour":
		return day(p.texts, t) + " " + t.Format(clock)
	case p.Days > 366:
		return day(p.texts, t) + " " + t.Format("2006")
	}
	return day(p.texts, t)
}

// By says what a chart of this period shows: readers by day.
func (p Period) By(what string) string {
	switch p.Interval() {
	case "hour":
		return p.texts.Say("frame.by.hour", "what", what)
	case "day":
		return p.texts.Say("frame.by.day", "what", what)
	case "month":
		return p.texts.Say("frame.by.month", "what", what)
	default:
		return p.texts.Say("frame.by.week", "what", what)
	}
}

// Words are how a sentence calls the period.
func (p Period) Words() string {
	switch {
	case p.Name != "":
		return p.texts.Say("frame.period.in." + p.Name)
	case p.Preset && p.Days == 1:
		return p.texts.Say("frame.period.today")
	case p.Preset:
		return p.texts.Say("frame.period.in", "n", p.Days)
	case p.Days == 1:
		return p.texts.Say("frame.period.on", "day", date(p.texts, p.First))
	default:
		return p.texts.Say("frame.period.range", "first", monthDay(p.texts, p.First), "last", date(p.texts, p.Last))
	}
}

// Query returns the period as parameters; the default has none.
func (p Period) Query() url.Values {
	q := url.Values{}
	switch {
	case p.Name != "":
		q.Set("period", p.Name)
	case !p.Preset:
		q.Set("from", p.From())
		q.Set("to", p.Until())
	case p.Days != defaultDays:
		q.Set("days", strconv.Itoa(p.Days))
	}
	if !p.Compare {
		q.Set("compare", "no")
	}
	return q
}

func (p Period) suffix() string {
	if q := p.Query().Encode(); q != "" {
		return "?" + q
	}
	return ""
}

// Choice is one of several states of an address.
type Choice struct {
	Words  string
	URL    string
	Chosen bool
}

// Choices returns the periods to choose from. The other parameters of the address stay.
func (v *Visit) Choices() (list []Choice) {
	offered := presets
	if v.Period.Preset && !slices.Contains(presets, v.Period.Days) {
		offered = slices.Sorted(slices.Values(append(slices.Clone(presets), v.Period.Days)))
	}
	for _, n := range offered {
		p := v.Period
		p.Preset, p.Name, p.Days = true, "", n
		list = append(list, Choice{v.Say("frame.period.days", "n", n), v.with(p), v.Period.Preset && v.Period.Days == n})
	}
	return list
}

// Calendar returns the days, months and years that people ask about.
func (v *Visit) Calendar() (list []Choice) {
	for _, c := range calendar(v.Period.Last, v.own.CreatedAt) { // of which only the names count
		p := v.Period
		p.Preset, p.Name = false, c.name
		list = append(list, Choice{v.Say("frame.period.of." + c.name), v.with(p), v.Period.Name == c.name})
	}
	return list
}

// Named is what people call the range; "" if it is not one of the calendar.
func (v *Visit) Named() string {
	if v.Period.Name == "" {
		return ""
	}
	return v.Say("frame.period.of." + v.Period.Name)
}

// namedRange is a range of days that has a name in addresses.
type namedRange struct {
	name        string
	first, last time.Time
}

func calendar(today, began time.Time) []namedRange {
	y, m, d := today.Date()
	on := func(month time.Month, day int) time.Time { return timezone.Midnight(today.Location(), y, month, day) }
	first := timezone.AddDays(began.In(today.Location()), 0)
	if oldest := timezone.AddDays(today, 1-maxPeriod); first.Before(oldest) || first.After(today) {
		first = oldest
	}
	return []namedRange{
		{"today", today, today},
		{"yesterday", on(m, d-1), on(m, d-1)},
		{"week", timezone.AddDays(today, -int(today.Weekday()+6)%7), today},
		{"month", on(m, 1), today},
		{"last_month", on(m-1, 1), on(m, 0)},
		{"quarter", on(m-(m-1)%3, 1), today},
		{"year", on(time.January, 1), today},
		{"last_year", timezone.Midnight(today.Location(), y-1, time.January, 1), on(time.January, 0)},
		{allTime, first, today},
	}
}

// MaxDays is how long a period can be.
func (Period) MaxDays() int { return maxPeriod }

// Comparison is the choice to compare with the time before, or not.
func (v *Visit) Comparison() Choice {
	p := v.Period
	p.Compare = !p.Compare
	return Choice{v.Say("frame.compare"), v.with(p), v.Period.Compare}
}

// with returns the address of this screen in another period.
func (v *Visit) with(p Period) string {
	q := v.Rest()
	maps.Copy(q, p.Query())
	path := v.Path(v.R.URL.EscapedPath())
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}

// Rest returns the parameters of the address that are not of the period, for the form of the
// picker.
func (v *Visit) Rest() url.Values {
	q := view.Beginning(v.R.URL.Query())
	for _, name := range []string{"days", "period", "from", "to", "compare"} {
		q.Del(name)
	}
	return q
}
