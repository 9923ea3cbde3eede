package frame

import "time"

// When is a point in time as "when" of web/form.html draws it. The zero value is none.
type When struct{ Text, Exact string }

// When writes a time in the zone of the visit; none for nil.
func (v *Visit) When(t *time.Time) When {
	if t == nil || t.IsZero() {
		return When{}
	}
	local := t.In(v.Period.Zone)
	form := "2 Jan, 15:04"
	if local.Year() != time.Now().In(v.Period.Zone).Year() {
		form = "2 Jan 2006, 15:04"
	}
	return When{local.Format(form), local.Format(time.RFC3339)}
}
