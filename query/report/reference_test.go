package report_test

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/report"
)

// The reference answers questions in the slowest and most obvious way: it makes a record of
// everything that happened, with everything that it can be divided by, and counts records in loops.

// record is something that happened.
type record struct {
	source string // event, view, submission or confirmation
	at     time.Time
	dims   map[string]any
	bot    bool

	kind          string // of an event
	link, session uuid.UUID
	person        uuid.UUID
	api           bool // the API made the access link
	magnet        uuid.UUID
	version, page int
	pages         int // of the version
	ms            int
	hash          string // of a view
	opened        bool   // of a submission: a person viewed a page
	verified      bool   // of a confirmation: the person confirmed the address
	visited       bool   // of a submission: a person or a bot viewed a page
}

// numbers are the values of the metrics of a set of records.
func (m *model) numbers(metrics []string, records []record) []*float64 {
	var list []*float64
	for _, name := range metrics {
		list = append(list, metricOf(name, records))
	}
	return list
}

func metricOf(name string, records []record) *float64 {
	count := func(keep func(record) bool) float64 {
		n := 0.0
		for _, r := range records {
			if keep(r) {
				n++
			}
		}
		return n
	}
	distinct := func(key func(record) (string, bool)) float64 {
		seen := map[string]bool{}
		for _, r := range records {
			if k, ok := key(r); ok {
				seen[k] = true
			}
		}
		return float64(len(seen))
	}
	rate := func(of, among string) *float64 {
		whole := *metricOf(among, records)
		if whole == 0 {
			return nil
		}
		return new(*metricOf(of, records) / whole)
	}
	viewed := func(r record) bool { return r.source == "event" && r.kind == "page_viewed" }
	switch name {
	case "link_views":
		return new(count(func(r record) bool { return r.source == "view" }))
	case "visitors":
		return new(distinct(func(r record) (string, bool) { return r.hash, r.source == "view" && r.hash != "" }) +
			count(func(r record) bool { return r.source == "view" && r.hash == "" }))
	case "submissions":
		return new(count(func(r record) bool { return r.source == "submission" }))
	case "verified":
		return new(count(func(r record) bool { return r.source == "confirmation" }))
	case "confirmations":
		return new(count(func(r record) bool { return r.source == "confirmation" && r.verified }))
	case "opened":
		return new(count(func(r record) bool { return r.source == "submission" && r.opened }))
	case "events":
		return new(count(func(r record) bool { return r.source == "event" }))
	case "page_views":
		return new(count(viewed))
	case "reading_ms":
		sum := 0.0
		for _, r := range records {
			if viewed(r) {
				sum += float64(r.ms)
			}
		}
		return &sum
	case "readers":
		return new(distinct(func(r record) (string, bool) { return r.link.String(), viewed(r) }))
	case "people":
		return new(distinct(func(r record) (string, bool) { return r.person.String(), viewed(r) }))
	case "people_finished":
		return new(distinct(func(r record) (string, bool) { return r.person.String(), viewed(r) && finishes(r) }))
	case "people_downloaded":
		reads := personsOf(records, viewed)
		return new(distinct(func(r record) (string, bool) {
			return r.person.String(), r.source == "event" && r.kind == "download_completed" && reads[r.person]
		}))
	case "people_without_form":
		formed := personsOf(records, func(r record) bool { return viewed(r) && !r.api })
		return new(distinct(func(r record) (string, bool) { return r.person.String(), viewed(r) && !formed[r.person] }))
	case "sessions":
		return new(distinct(func(r record) (string, bool) { return r.link.String() + r.session.String(), viewed(r) }))
	case "downloads_started":
		return new(count(func(r record) bool { return r.source == "event" && r.kind == "download_started" }))
	case "downloads":
		return new(count(func(r record) bool { return r.source == "event" && r.kind == "download_completed" }))
	case "downloaders":
		readers := map[uuid.UUID]bool{}
		for _, r := range records {
			if viewed(r) {
				readers[r.link] = true
			}
		}
		return new(distinct(func(r record) (string, bool) {
			return r.link.String(), r.source == "event" && r.kind == "download_completed" && readers[r.link]
		}))
	case "finished":
		return new(distinct(func(r record) (string, bool) { return r.link.String(), viewed(r) && finishes(r) }))
	case "attentive":
		return new(float64(len(attentive(records))))
	case "median_page_ms", "p90_page_ms":
		var times []float64
		for _, r := range records {
			if viewed(r) && r.ms > 0 {
				times = append(times, math.Min(float64(r.ms), 600000))
			}
		}
		return quantile(times, map[string]float64{"median_page_ms": 0.5, "p90_page_ms": 0.9}[name])
	case "submission_rate":
		return rate("submissions", "visitors")
	case "open_rate":
		return rate("opened", "submissions")
	case "finish_rate":
		return rate("finished", "readers")
	case "download_rate":
		return rate("downloaders", "readers")
	case "people_finish_rate":
		return rate("people_finished", "people")
	case "people_download_rate":
		return rate("people_downloaded", "people")
	}
	panic(name)
}

// finishes reports whether a page view is of the last page of its version.
func finishes(r record) bool { return r.version > 0 && r.page > 0 && r.page == r.pages }

// personsOf returns the persons with such a record.
func personsOf(records []record, has func(record) bool) map[uuid.UUID]bool {
	found := map[uuid.UUID]bool{}
	for _, r := range records {
		if has(r) {
			found[r.person] = true
		}
	}
	return found
}

// attentive returns the readers who finished a version and spent two seconds on three fifths of its
// pages.
func attentive(records []record) map[uuid.UUID]bool {
	type document struct {
		link, magnet   uuid.UUID
		version, pages int
	}
	times := map[document]map[int]int{}
	for _, r := range records {
		if r.source != "event" || r.kind != "page_viewed" || r.version == 0 || r.page == 0 || r.page > r.pages {
			continue
		}
		d := document{r.link, r.magnet, r.version, r.pages}
		if times[d] == nil {
			times[d] = map[int]int{}
		}
		times[d][r.page] += r.ms
	}
	readers := map[uuid.UUID]bool{}
	for d, byPage := range times {
		long := 0
		for _, ms := range byPage {
			if ms >= 2000 {
				long++
			}
		}
		if _, finished := byPage[d.pages]; finished && float64(long) >= 0.6*float64(d.pages)-1e-9 {
			readers[d.link] = true
		}
	}
	return readers
}

// matches reports whether a record passes the filters of a question.
func matches(q report.Question, r record) bool {
	has := func(c report.Condition) bool { return slices.Contains(c.Values, r.dims[c.Dimension]) }
	for _, c := range q.Filters {
		if !has(c) {
			return false
		}
	}
	return !slices.ContainsFunc(q.Exclude, has)
}

// hasAll reports whether a record has the dimensions of all conditions.
func hasAll(q report.Question, r record) bool {
	return !slices.ContainsFunc(slices.Concat(q.Filters, q.Exclude), func(c report.Condition) bool {
		_, ok := r.dims[c.Dimension]
		return !ok
	})
}

// sourcesOf are the sources that the metrics of a question are counted from.
func sourcesOf(q report.Question) map[string]bool {
	of := map[string]bool{}
	for _, m := range q.Metrics {
		switch m {
		case "link_views", "visitors":
			of["view"] = true
		case "submissions", "open_rate":
			of["submission"] = true
		case "submission_rate":
			of["submission"], of["view"] = true, true
		case "verified", "confirmations":
			of["confirmation"] = true
		default:
			of["event"] = true
		}
	}
	return of
}

// row is a row of the reference's answer, as text.
type reference struct {
	rows   []string
	totals string
	bots   int64
}

func show(list []*float64) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = "null"
		if n != nil {
			texts[i] = fmt.Sprint(*n)
		}
	}
	return strings.Join(texts, " ")
}

// answer answers a question about a range, given the intervals (pairs of bounds) of it and of the
// range before.
func (m *model) answer(q report.Question, now, before []window) reference {
	sources := sourcesOf(q)
	var current, previous []record
	within := func(r record, windows []window) bool {
		return len(windows) > 0 && !r.at.Before(windows[0].from) && r.at.Before(windows[len(windows)-1].to)
	}
	ref := reference{}
	for _, r := range m.records {
		// Of bots, everything counts that has what the filters are about, whatever the metrics are.
		if r.bot && !q.IncludeBots {
			if within(r, now) && matches(q, r) && hasAll(q, r) {
				ref.bots++
			}
			continue
		}
		if !sources[r.source] || !matches(q, r) {
			continue
		}
		if q.IncludeBots {
			r.opened = r.visited
		}
		if within(r, now) {
			current = append(current, r)
		}
		if within(r, before) {
			previous = append(previous, r)
		}
	}
	ref.totals = show(m.numbers(q.Metrics, current))
	if q.Compare {
		ref.totals += " was " + show(m.numbers(q.Metrics, previous))
	}

	value := func(r record) string {
		var texts []string
		for _, d := range q.Dimensions {
			texts = append(texts, fmt.Sprint(r.dims[d]))
		}
		return strings.Join(texts, "/")
	}
	groups, firsts := map[string][]record{}, map[string]record{}
	for _, r := range current {
		groups[value(r)] = append(groups[value(r)], r)
		firsts[value(r)] = r
	}
	isEmpty := func(list []record) bool {
		for _, name := range q.Metrics {
			parts := []string{name}
			switch name {
			case "submission_rate":
				parts = []string{"submissions", "visitors"}
			case "open_rate":
				parts = []string{"opened", "submissions"}
			case "finish_rate":
				parts = []string{"finished", "readers"}
			case "download_rate":
				parts = []string{"downloaders", "readers"}
			case "people_finish_rate":
				parts = []string{"people_finished", "people"}
			case "people_download_rate":
				parts = []string{"people_downloaded", "people"}
			}
			for _, p := range parts {
				if n := metricOf(p, list); n != nil && *n != 0 {
					return false
				}
			}
		}
		return true
	}
	order, descending := strings.CutPrefix(q.OrderBy, "-")
	if q.OrderBy == "" {
		order, descending = q.Metrics[0], true
	}
	names := slices.Collect(maps.Keys(groups))
	names = slices.DeleteFunc(names, func(name string) bool { return isEmpty(groups[name]) })
	slices.SortFunc(names, func(a, b string) int {
		x, y := metricOf(order, groups[a]), metricOf(order, groups[b])
		switch {
		case x == nil && y != nil:
			return 1
		case x != nil && y == nil:
			return -1
		case x != nil && *x != *y && descending:
			return cmp.Compare(*y, *x)
		case x != nil && *x != *y:
			return cmp.Compare(*x, *y)
		}
		for _, d := range q.Dimensions {
			if c := compareValues(firsts[a].dims[d], firsts[b].dims[d]); c != 0 {
				return c
			}
		}
		return 0
	})
	limit := q.Limit
	if limit == 0 {
		limit = 100
	}
	if len(q.Dimensions) == 0 {
		names = []string{""}
	}
	top := names[:min(limit, len(names))]
	type line struct {
		name string
		has  func(record) bool
	}
	var lines []line
	for _, name := range top {
		lines = append(lines, line{name, func(r record) bool { return value(r) == name }})
	}
	rest := func(r record) bool { return !slices.Contains(top, value(r)) }
	if len(q.Dimensions) > 0 && !isEmpty(filterRecords(current, rest)) {
		lines = append(lines, line{"other", rest})
	}
	for i, w := range now {
		for _, l := range lines {
			inside := func(list []record, w window) []record {
				return filterRecords(list, func(r record) bool { return l.has(r) && !r.at.Before(w.from) && r.at.Before(w.to) })
			}
			text := fmt.Sprintf("%s %q: %s", w.label, l.name, show(m.numbers(q.Metrics, inside(current, w))))
			if q.Compare {
				was := "none"
				if i < len(before) {
					was = show(m.numbers(q.Metrics, inside(previous, before[i])))
				}
				text += " was " + was
			}
			ref.rows = append(ref.rows, text)
		}
	}
	return ref
}

func filterRecords(list []record, keep func(record) bool) []record {
	var kept []record
	for _, r := range list {
		if keep(r) {
			kept = append(kept, r)
		}
	}
	return kept
}

// compareValues orders values of a dimension: null first.
func compareValues(a, b any) int {
	switch x := a.(type) {
	case nil:
		if b == nil {
			return 0
		}
		return -1
	case int64:
		if b == nil {
			return 1
		}
		return cmp.Compare(x, b.(int64))
	case string:
		if b == nil {
			return 1
		}
		return strings.Compare(x, b.(string))
	case bool:
		return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b))
	}
	panic(a)
}

// window is an interval, or what is asked for of it.
type window struct {
	from, to time.Time
	label    string
}
