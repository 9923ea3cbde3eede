package jsonschema

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"time"
)

// isoTime is a date, alone or with a time of day and its zone, as RFC 3339 has them; seconds and
// zone may be left out.
var isoTime = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(:\d\d(?:\.\d{1,18})?)?(Z|[ +-]\d\d:\d\d)?)?$`)

var (
	errNotISO = errors.New(
		"must be a date or a time with its zone (ISO 8601, as RFC 3339 has it), such as 2026-03-01 or 2026-03-01T09:30:00.250+01:00")
	errNoTime = errors.New("is a date or time that does not exist")
	errSpace  = errors.New("has a space before its zone: write the + of a zone as %2B in a URL")
)

// ParseTime reads a date or time of RFC 3339 strictly. A date alone is its midnight in UTC, and a
// time without a zone is in UTC. The error says what is allowed.
func ParseTime(text string) (t time.Time, err error) {
	p := isoTime.FindStringSubmatch(strings.ToUpper(text))
	switch {
	case p == nil:
		return t, errNotISO
	case strings.HasPrefix(p[4], " "):
		return t, errSpace
	}
	// UnmarshalText is strict about RFC 3339, which time.Parse is not.
	whole := p[1] + "T" + cmp.Or(p[2], "00:00") + cmp.Or(p[3], ":00") + cmp.Or(p[4], "Z")
	if t.UnmarshalText([]byte(whole)) != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
		return time.Time{}, errNoTime
	}
	return t.UTC(), nil
}
