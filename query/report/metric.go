package report

import (
	"maps"
	"slices"
)

// source is a table, and the time of its rows, that metrics are counted from.
type source int

// The sources. A submission counts when it was sent, and once more, as a confirmation, when its
// address was verified.
const (
	events source = iota + 1
	views
	submissions
	confirmations
)

// from says where the rows of each source are, and what their time is.
var from = map[source]struct{ table, time string }{
	events:        {"lodestone.events AS r", "r.created_at"},
	views:         {"lodestone.link_views AS r", "r.created_at"},
	submissions:   {"lodestone.submissions AS r FINAL", "r.submitted_at"},
	confirmations: {"lodestone.submissions AS r FINAL", "r.confirmed_at"},
}

// column is something that metrics need of a row. Rows of another source have the zero of its type.
type column struct {
	name   string
	source source
	sql    string
	zero   string
	// links and versions say that it needs the access link, or the page count of the document's
	// version.
	links, versions bool
}

var columns = func() map[string]column {
	byName := map[string]column{}
	for _, c := range []column{
		{name: "c_viewed", source: events, sql: "r.event_type = 'page_viewed'", zero: "toUInt8(0)"},
		{name: "c_started", source: events, sql: "r.event_type = 'download_started'", zero: "toUInt8(0)"},
		{name: "c_completed", source: events, sql: "r.event_type = 'download_completed'", zero: "toUInt8(0)"},
		{name: "c_link", source: events, sql: "r.access_link_id", zero: noUUID},
		// An access link that was deleted has no person any more: it stands for one.
		{name: "c_person", source: events, sql: "if(l.person_id = " + noUUID + ", r.access_link_id, l.person_id)",
			zero: noUUID, links: true},
		// A session is one of its access link; an event without one is a session by itself.
		{name: "c_api", source: events, sql: "l.of_api", zero: "false", links: true},
		{name: "c_session", source: events, sql: "lodestoneSession(r.session_id, r.event_id)", zero: noUUID},
		{name: "c_ms", source: events, sql: "r.duration_ms", zero: "toUInt32(0)"},
		{name: "c_magnet", source: events, sql: "r.lead_magnet_id", zero: noUUID},
		{name: "c_version", source: events, sql: "r.magnet_version", zero: "toUInt32(0)"},
		{name: "c_page", source: events, sql: "r.page", zero: "toUInt32(0)"},
		{name: "c_pages", source: events, sql: "v.page_count", zero: "toUInt32(0)", versions: true},
		{name: "c_hash", source: views, sql: "r.ip_hash", zero: "toFixedString('', 16)"},
		{name: "c_opened", source: submissions, sql: opened, zero: "toUInt8(0)"},
		{name: "c_verified", source: confirmations, sql: "r.verified OR isNotNull(r.verified_at)", zero: "toUInt8(0)"},
		{name: countColumn, source: visits, zero: "toUInt64(1)"},
		{name: "c_visit", source: visits, zero: noUUID},
		{name: "c_finished", source: visits, zero: "toUInt8(0)"},
	} {
		byName[c.name] = c
	}
	return byName
}()

const noUUID = "toUUID('" + zeroUUID + "')"

// opened says that a person viewed a page by an access link of the submission, until now;
// openedByAnyone, that a bot or a person did.
const (
	opened         = openedBy + " AND bot = ''))"
	openedByAnyone = openedBy + "))"
	openedBy       = `r.id IN (
        SELECT assumeNotNull(submission_id) FROM lodestone.access_links FINAL
        WHERE account_id = {account:UUID} AND submission_id IS NOT NULL AND id IN (
            SELECT access_link_id FROM lodestone.events
            WHERE account_id = {account:UUID} AND event_type = 'page_viewed'`
)

// part is a number that is aggregated on the server. IF stands for the condition that the row
// counts.
type part struct {
	name    string
	source  source
	sql     string // over columns
	columns []string
	nested  bool // by SQL of its own (writer.attentive)
}

const (
	viewed   = "IF AND c_viewed"
	finished = "IF AND c_viewed AND lodestoneFinishes(c_version, c_page, c_pages)"
)

var parts = func() map[string]part {
	byName := map[string]part{}
	for _, p := range []part{
		{name: "link_views", source: views, sql: "countIf(IF)"},
		{name: "visitors", source: views, columns: []string{"c_hash"},
			sql: "uniqExactIf(c_hash, IF AND c_hash != toFixedString('', 16)) + countIf(IF AND c_hash = toFixedString('', 16))"},
		{name: "submissions", source: submissions, sql: "countIf(IF)"},
		{name: "opened", source: submissions, columns: []string{"c_opened"}, sql: "countIf(IF AND c_opened)"},
		{name: "verified", source: confirmations, sql: "countIf(IF)"},
		{name: "confirmations", source: confirmations, columns: []string{"c_verified"}, sql: "countIf(IF AND c_verified)"},
		{name: "events", source: events, sql: "countIf(IF)"},
		{name: "page_views", source: events, columns: []string{"c_viewed"}, sql: "countIf(" + viewed + ")"},
		{name: "reading_ms", source: events, columns: []string{"c_viewed", "c_ms"},
			sql: "sumIf(toUInt64(c_ms), " + viewed + ")"},
		{name: "readers", source: events, columns: []string{"c_viewed", "c_link"},
			sql: "uniqExactIf(c_link, " + viewed + ")"},
		{name: "people", source: events, columns: []string{"c_viewed", "c_person"},
			sql: "uniqExactIf(c_person, " + viewed + ")"},
		{name: "people_finished", source: events, columns: []string{"c_viewed", "c_person", "c_version", "c_page", "c_pages"},
			sql: "uniqExactIf(c_person, " + finished + ")"},
		{name: "people_downloaded", source: events, columns: []string{"c_viewed", "c_completed",
			"c_person"}, sql: bothOf("c_person")},
		// All people less those who have a link that the API did not make.
		{name: "people_without_form", source: events, columns: []string{"c_viewed", "c_api", "c_person"},
			sql: "uniqExactIf(c_person, " + viewed + ") - uniqExactIf(c_person, " + viewed + " AND NOT c_api)"},
		{name: "sessions", source: events, columns: []string{"c_viewed", "c_link", "c_session"},
			sql: "uniqExactIf((c_link, c_session), " + viewed + ")"},
		{name: "downloads_started", source: events, columns: []string{"c_started"}, sql: "countIf(IF AND c_started)"},
		{name: "downloads", source: events, columns: []string{"c_completed"}, sql: "countIf(IF AND c_completed)"},
		{name: "downloaders", source: events, columns: []string{"c_viewed", "c_completed", "c_link"}, sql: bothOf("c_link")},
		{name: "finished", source: events, columns: []string{"c_viewed", "c_link", "c_version", "c_page", "c_pages"},
			sql: "uniqExactIf(c_link, " + finished + ")"},
		{name: "attentive", source: events, columns: []string{"c_viewed", "c_link", "c_magnet", "c_version", "c_page",
			"c_pages", "c_ms"}, sql: "0", nested: true},
		{name: "median_page_ms", source: events, columns: []string{"c_viewed", "c_ms"}, sql: quantileOf("0.5")},
		{name: "p90_page_ms", source: events, columns: []string{"c_viewed", "c_ms"}, sql: quantileOf("0.9")},
	} {
		byName[p.name] = p
	}
	return byName
}()

// bothOf counts who both read and downloaded: those who did the one and those who did the other,
// less those who did either.
func bothOf(who string) string {
	return "uniqExactIf(" + who + ", " + viewed + ") + uniqExactIf(" + who + ", IF AND c_completed) - uniqExactIf(" + who +
		", IF AND (c_viewed OR c_completed))"
}

// quantileOf is of the visible times of page views that have one; to a thousandth of a millisecond,
// beyond which is the error of the interpolation.
func quantileOf(level string) string {
	return "round(quantileExactInclusiveIf(" + level + ")(lodestonePageTime(c_ms), " + viewed + " AND c_ms > 0), 3)"
}

// metric is a number of an answer: a part, or one part of another.
type metric struct {
	name     string
	parts    []string // one, or two of a rate: the share, and what it is a share of
	nullable bool     // where nothing was counted there is no number, rather than zero
}

func (m metric) isRate() bool { return len(m.parts) == 2 }

// metrics are all there are, by name.
var metrics = func() map[string]metric {
	byName := map[string]metric{}
	for _, name := range []string{
		"link_views", "visitors", "submissions", "verified", "confirmations", "readers", "people",
		"people_finished", "people_downloaded",
		"people_without_form", "sessions", "events", "page_views", "reading_ms", "downloads_started",
		"downloads", "finished", "attentive",
	} {
		byName[name] = metric{name, []string{name}, false}
	}
	for _, name := range []string{"median_page_ms", "p90_page_ms"} {
		byName[name] = metric{name, []string{name}, true}
	}
	for name, of := range map[string][]string{
		"submission_rate": {"submissions", "visitors"}, "open_rate": {"opened", "submissions"},
		"finish_rate": {"finished", "readers"}, "download_rate": {"downloaders", "readers"},
		"people_finish_rate": {"people_finished", "people"}, "people_download_rate": {"people_downloaded", "people"},
	} {
		byName[name] = metric{name, of, true}
	}
	return byName
}()

// Metrics lists the names of all metrics.
func Metrics() []string { return slices.Sorted(maps.Keys(metrics)) }

// can reports whether a metric can be divided and filtered by a dimension.
func (m metric) can(d *dimension) bool {
	if len(d.only) > 0 && !slices.Contains(d.only, m.name) {
		return false
	}
	for _, name := range m.parts {
		if _, ok := d.of[parts[name].source]; !ok {
			return false
		}
	}
	return true
}

// Combines reports whether metrics, which must exist, can be grouped and filtered by a dimension.
func Combines(names []string, dimension string) bool {
	d, ok := dimensions[dimension]
	return ok && !slices.ContainsFunc(names, func(name string) bool { return !metrics[name].can(d) })
}
