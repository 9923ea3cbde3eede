package report

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// kind is the type of a dimension's values.
type kind int

const (
	textKind kind = iota
	uuidKind
	numberKind
	boolKind
)

// dimension is an attribute to group and filter metrics by.
type dimension struct {
	name string
	kind kind
	// of says how each source has it. A source that is not there cannot have it.
	of map[source]string
	// optional says that a row may have none, which its type's zero stands for: "", the zero UUID or
	// 0.
	optional bool
	// links says that of events, it is a property of the access link.
	links bool
	// only, if not empty, are the metrics that can be divided or filtered by it.
	only []string
}

// zero is the value that stands for none, in SQL.
func (d *dimension) zero() string {
	switch d.kind {
	case uuidKind:
		return noUUID
	case numberKind, boolKind:
		return "0"
	case textKind:
	}
	return "''"
}

// zeroText is the text of that value, as the server gives it.
func (d *dimension) zeroText() string {
	switch d.kind {
	case uuidKind:
		return zeroUUID
	case numberKind, boolKind:
		return "0"
	case textKind:
	}
	return ""
}

// value returns a value of an answer from the text that the server gives, nil for none.
func (d *dimension) value(text string) any {
	switch {
	case d.optional && text == d.zeroText():
		return nil
	case d.kind == numberKind:
		n, _ := strconv.ParseInt(text, 10, 64) // the server writes numbers
		return n
	case d.kind == boolKind:
		return text == "1"
	}
	return text
}

// texts returns the type and the text of a parameter of values. Null becomes the value that means
// none.
func (d *dimension) texts(values []any) (kind, text string) {
	switch d.kind {
	case uuidKind:
		ids := make([]uuid.UUID, len(values))
		for i, v := range values {
			if s, ok := v.(string); ok {
				ids[i], _ = uuid.Parse(s) // it was checked; what is no id is that of nothing
			}
		}
		return "Array(UUID)", clickhouse.UUIDs(ids)
	case numberKind, boolKind:
		numbers := make([]int64, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case int64:
				numbers[i] = v
			case bool:
				if v {
					numbers[i] = 1
				}
			}
		}
		return "Array(Int64)", clickhouse.Numbers(numbers)
	case textKind:
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i], _ = v.(string) // "" for null
	}
	return "Array(String)", clickhouse.Texts(texts)
}

const zeroUUID = "00000000-0000-0000-0000-000000000000"

// compare orders two values as the server gives them.
func (d *dimension) compare(a, b string) int {
	if d.kind != numberKind {
		return strings.Compare(a, b)
	}
	x, _ := strconv.ParseInt(a, 10, 64)
	y, _ := strconv.ParseInt(b, 10, 64)
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// everywhere are the sources of forms, views and events, each with its own column of the same name.
func everywhere(column string) map[source]string {
	return map[source]string{events: "r." + column, views: "r." + column, submissions: "r." + column,
		confirmations: "r." + column}
}

// sourceOf is a dimension that says where a reader or a visitor came from: of events, it is the
// access link's.
func sourceOf(name string) *dimension {
	of := everywhere(name)
	of[events] = "l." + name
	return &dimension{name: name, of: of, optional: true, links: true}
}

// visitorsOf is a dimension that says with what and from where a visitor came: of events and views,
// each has its own.
func visitorsOf(name string) *dimension {
	return &dimension{name: name, of: map[source]string{events: "r." + name, views: "r." + name}, optional: true}
}

// pageURL is the host and the path of the page that was viewed, "" where no host is known.
const pageURL = "if(domain(r.url) = '', '', concat(lower(domain(r.url)), path(r.url)))"

// dimensions are all there are, by name.
var dimensions = func() map[string]*dimension {
	pages := []string{"page_views", "reading_ms", "readers", "sessions", "median_page_ms", "p90_page_ms"}
	list := []*dimension{
		{name: "lead_magnet_id", kind: uuidKind, of: everywhere("lead_magnet_id")},
		{name: "generic_link_id", kind: uuidKind, of: everywhere("generic_link_id"), optional: true},
		{name: "access_link_id", kind: uuidKind, of: map[source]string{events: "r.access_link_id"}},
		{name: "email_domain", of: map[source]string{events: "l.email_domain", submissions: "r.email_domain",
			confirmations: "r.email_domain"}, optional: true, links: true},
		{name: "page", kind: numberKind, of: map[source]string{events: "r.page"}, optional: true, only: pages},
		{name: "magnet_version", kind: numberKind, of: map[source]string{events: "r.magnet_version"}},
		sourceOf("referrer_host"), sourceOf("utm_source"), sourceOf("utm_medium"), sourceOf("utm_campaign"),
		sourceOf("utm_content"), sourceOf("utm_term"),
		// The page with the tag or the form. Its address has no more of a query than the campaign.
		{name: "page_url", of: map[source]string{views: pageURL}, optional: true},
		{name: "device", of: map[source]string{events: "r.device", views: "r.device"}},
		visitorsOf("browser"), visitorsOf("os"), visitorsOf("country"), visitorsOf("language"),
		{name: "event_type", of: map[source]string{events: "toString(r.event_type)"}, only: []string{"events"}},
		{name: "bot", kind: boolKind, of: map[source]string{events: "(r.bot != '')"}, only: []string{"events"}},
		// Of the local time, in milliseconds since Thursday, 1 January 1970.
		{name: "weekday", kind: numberKind, of: local("toUInt8((intDiv(LOCAL, 86400000) + 3) % 7 + 1)")},
		{name: "hour_of_day", kind: numberKind, of: local("toUInt8(intDiv(LOCAL, 3600000) % 24)")},
	}
	byName := make(map[string]*dimension, len(list))
	for _, d := range list {
		byName[d.name] = d
	}
	return byName
}()

// local is a dimension that is read off the local time, which LOCAL stands for.
func local(sql string) map[source]string {
	return map[source]string{events: sql, views: sql, submissions: sql, confirmations: sql}
}

// Dimensions lists the names of all dimensions.
func Dimensions() []string { return slices.Sorted(maps.Keys(dimensions)) }

// Devices lists the values of the dimension device.
func Devices() []string { return []string{"desktop", "mobile", "tablet", "other", "unknown", "bot"} }
