package api

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as the API writes it: RFC 3339 in UTC with milliseconds.
type Time struct{ time.Time }

// TimeOf returns t for a field that is never null.
func TimeOf(t time.Time) Time { return Time{t} }

// OptionalTime returns t for a field that is null when there is no time.
func OptionalTime(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	return &Time{*t}
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.UTC().Format(timeLayout)), nil }

// TransformSchema describes the type in OpenAPI.
func (Time) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	s.Format = "date-time"
	return s
}

// isoForm is a calendar date, alone or with a time, in the extended or the basic form of ISO 8601.
var isoForm = regexp.MustCompile(`^(?:(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?::?\d\d)?)?)?` +
	`|(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d(?:\d\d)?)?)?)$`)

var errNotISO = errors.New("must be an ISO 8601 date or datetime, such as 2026-03-01 or 2026-03-01T09:30:00Z")

// ParseTime reads an ISO 8601 date or datetime strictly. A date alone is its midnight in UTC, and
// a datetime without a zone is in UTC. The error says what is allowed.
func ParseTime(text string) (time.Time, error) {
	m := isoForm.FindStringSubmatch(text)
	if m == nil {
		if i := strings.LastIndexByte(text, ' '); i > len("2026-03-01T") && isoForm.MatchString(text[:i]+"+"+text[i+1:]) {
			return time.Time{}, errors.New("has a space before its zone: write the + of a zone as %2B in a URL")
		}
		return time.Time{}, errNotISO
	}
	part := m[1:9]
	if m[1] == "" {
		part = m[9:17]
	}
	or := func(s, otherwise string) string {
		if s == "" {
			return otherwise
		}
		return s
	}
	zone := or(part[7], "Z")
	if zone != "Z" {
		digits := strings.ReplaceAll(zone[1:], ":", "")
		if len(digits) == 2 {
			digits += "00"
		}
		zone = zone[:1] + digits[:2] + ":" + digits[2:]
	}
	canonical := fmt.Sprintf("%s-%s-%sT%s:%s:%s.%s%s", part[0], part[1], part[2],
		or(part[3], "00"), or(part[4], "00"), or(part[5], "00"), or(part[6], "0"), zone)
	t, err := time.Parse(time.RFC3339Nano, canonical)
	if err != nil {
		return time.Time{}, errors.New("is a date or time that does not exist")
	}
	if t = t.UTC(); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, errors.New("is a date or time that does not exist")
	}
	return t, nil
}
